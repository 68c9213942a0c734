"""Linear functions at capacity: equal to the full ones in every order of `vmap` and `grad`, and cheaper."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.batching import capacities
from mjx_like.math.linear import floats, linear_at_capacity
from tests.support.oracle import error

LIMIT = 400
SIZES = []


def product(size: int, matrix, x):
    """Return matrix @ x, of whose LIMIT rows the first `size` may differ from 0."""
    SIZES.append(size)
    return {"y": jnp.pad(matrix["m"][:size] @ x["x"], (0, LIMIT - size))}


def at_capacity(need, matrix, x):
    return linear_at_capacity(product, LIMIT, need, {"m": matrix}, {"x": x})["y"]


def loss(need, scale, matrix, x):
    return jnp.sum(jnp.sin(at_capacity(need, scale * matrix, jnp.cos(x))))


def plain(need, scale, matrix, x):
    return jnp.sum(jnp.sin(scale * matrix @ jnp.cos(x)))


@pytest.fixture(scope="module")
def worlds():
    rng = np.random.default_rng(0)
    need = np.array([10, 60, 40, 3], np.int32)
    matrix = rng.normal(size=(4, LIMIT, 3)) * (np.arange(LIMIT)[:, None] < need[:, None, None])
    return jnp.asarray(need), jnp.asarray(rng.normal(size=4)), jnp.asarray(matrix), jnp.asarray(rng.normal(size=(4, 3)))


def test_gradients_in_every_order(worlds):
    for function in (
        lambda f: jax.vmap(jax.grad(f, argnums=3)),
        lambda f: jax.grad(lambda *a: jnp.sum(jax.vmap(f)(*a)), argnums=3),
        lambda f: jax.vmap(jax.jacfwd(f, argnums=3)),
    ):
        assert error(jax.jit(function(loss))(*worlds), jax.jit(function(plain))(*worlds)) < 1e-12


def test_args_are_differentiated_too(worlds):
    """By the arguments, and twice: through the function at its limit."""
    for function in (
        lambda f: jax.vmap(jax.grad(f, argnums=1)),
        lambda f: jax.vmap(lambda n, s, m, x: jax.grad(lambda s: jnp.sum(jax.grad(f, 3)(n, s, m, x) ** 2))(s)),
    ):
        assert error(jax.jit(function(loss))(*worlds), jax.jit(function(plain))(*worlds)) < 1e-12


@pytest.mark.parametrize(("most", "expected"), [(60, (64, LIMIT)), (300, (64, LIMIT))])
def test_rows_beyond_need_are_not_computed(worlds, most, expected):
    """The program holds the capacities, of which it takes the least that no world exceeds: others do not count."""
    need, _, matrix, x = worlds
    need = need.at[0].set(most)
    beyond = matrix.at[:, most:].set(jnp.nan)
    SIZES.clear()
    y = jax.jit(jax.vmap(at_capacity))(need, beyond, x)
    assert set(expected) <= set(SIZES)
    seen = next(size for size in capacities(LIMIT, 64, 4) if size >= most)
    assert np.isfinite(y[:, :most]).all()
    assert np.isnan(y[:, most:seen]).all() and not np.asarray(y[:, seen:]).any()


def test_what_tangents_share_is_not_repeated(worlds):
    """A Jacobian of four worlds by three tangents has four matrices in its program, not twelve."""
    need, _, matrix, x = worlds
    jacobian = jax.jit(jax.vmap(jax.jacfwd(at_capacity, argnums=2)))
    assert f"12x{LIMIT}x3x" not in jacobian.lower(need, matrix, x).as_text()
    np.testing.assert_allclose(jacobian(need, matrix, x), matrix, atol=1e-12)


def test_floats_are_put_back():
    tree = {"a": jnp.arange(3), "b": jnp.ones(2), "c": jnp.zeros((), bool)}
    values, with_others = floats(tree)
    assert [v.shape for v in values] == [(2,)]
    again = with_others([jnp.zeros(2)])
    assert again["a"] is tree["a"] and again["c"] is tree["c"] and not again["b"].any()
