"""Linear functions with a transpose of their own, and the gathers that use them on accelerators."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math import select

RNG = np.random.default_rng(0)
INDEX = jnp.asarray(RNG.integers(0, 5, (3, 7)))  # of three worlds
X = jnp.asarray(RNG.normal(size=(3, 5, 2)))
WEIGHTS = jnp.asarray(RNG.normal(size=(7, 2)))


@pytest.fixture
def on_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


def cost(x, index):
    return jnp.sum(WEIGHTS * select.rows(x, index) ** 3)


def plain(x, index):
    return jnp.sum(WEIGHTS * x[index] ** 3)


TRANSFORMED = {
    "value": lambda f: f,
    "gradient": jax.grad,
    "forward": jax.jacfwd,
    "hessian": jax.hessian,
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(f)),
    "scan": lambda f: jax.grad(lambda x, i: jax.lax.scan(lambda c, _: (c * 0.9, f(c, i)), x, length=3)[1].sum()),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
}


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_gathers_have_the_derivatives_of_indexing(name, axes, on_gpu):
    args = [x if axis == 0 else x[0] for x, axis in zip((X, INDEX), axes, strict=True)]
    found, expected = (jax.vmap(TRANSFORMED[name](f), axes)(*args) for f in (cost, plain))
    assert np.abs(found - expected).max() < 1e-12
    assert np.abs(TRANSFORMED[name](cost)(X[0], INDEX[0]) - TRANSFORMED[name](plain)(X[0], INDEX[0])).max() < 1e-12


def test_rows_out_of_bounds_are_zero(on_gpu):
    index = jnp.array([0, 5, 2, 9])
    rows, rate = jax.vjp(lambda x: select.rows_or_zero(x, index), X[0])
    assert np.array_equal(rows, np.where(np.array(index)[:, None] < 5, X[0][jnp.minimum(index, 4)], 0))
    assert np.array_equal(rate(jnp.ones((4, 2)))[0][:, 0], [1, 0, 1, 0, 0])


def scatters(jaxpr):
    """The sums at indices that may repeat, in a program and all that it calls."""
    found = [e for e in jaxpr.eqns if e.primitive.name.startswith("scatter") and not e.params["unique_indices"]]
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for inner in value if isinstance(value, list | tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                found += scatters(inner) if hasattr(inner, "eqns") else []
    return found


def test_static_and_traced_indices_scatter_nothing(on_gpu):
    def of_all(x):
        own = select.take(x, np.array([1, 1, 3])), select.take_last(x, np.array([0, 1, 1]))
        return sum(jnp.sum(y**2) for y in (*own, select.rows(x, INDEX[0]), select.rows_or_zero(x, INDEX[0])))

    assert not scatters(jax.make_jaxpr(jax.vmap(jax.grad(of_all)))(X).jaxpr)
    assert scatters(jax.make_jaxpr(jax.grad(lambda x: jnp.sum(x[INDEX[0]] ** 2)))(X[0]).jaxpr)
