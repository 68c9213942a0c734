"""What a loop starts from: the body is differentiated once, with the same derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.moving import moving_with
from mjx_like.math.rule import custom_jvp

X = {"speed": jnp.array([0.3, -0.2]), "place": jnp.array([1.0, 2.0])}
SEEN = []


@custom_jvp
def force(place):
    return -jnp.sin(place)


@force.defjvp
def _force_jvp(primals, tangents):
    SEEN.append(None)
    return force(*primals), -jnp.cos(primals[0]) * tangents[0]


def end(x, push, start):
    def step(x, push):
        speed = x["speed"] + 0.1 * (force(x["place"] + push))
        return {"speed": speed, "place": x["place"] + 0.1 * speed}, None

    return jnp.sum(jax.lax.scan(step, start(x, push), push)[0]["place"] ** 2)


def loose(x, push):
    return x


@pytest.mark.parametrize("derivative", [jax.grad, jax.jacfwd])
@pytest.mark.parametrize("by", [0, 1])
def test_derivatives_are_the_same_by_fewer_passes(derivative, by):
    push, passes = jnp.array([0.1, 0.2, 0.3]), {}
    found = {}
    for start in (loose, moving_with):
        SEEN.clear()
        found[start] = jax.jit(lambda x, p, start=start: derivative(lambda *a: end(*a, start), by)(x, p))(X, push)
        passes[start] = len(SEEN)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-15), found[loose], found[moving_with])
    assert passes[moving_with] < passes[loose] or by == 0  # by all of the start, nothing is left to find out


def test_worlds_have_their_own_derivatives():
    many = jax.tree.map(lambda x: jnp.stack([x, 2 * x]), X)
    push = jnp.array([[0.1, 0.2], [0.3, 0.4]])
    for axes in ((0, 0), (None, 0), (0, None)):
        args = [many if axes[0] == 0 else X, push if axes[1] == 0 else push[0]]
        got, want = (jax.vmap(jax.grad(lambda *a, s=s: end(*a, s), 1), axes)(*args) for s in (moving_with, loose))
        np.testing.assert_allclose(got, want, rtol=1e-15)


def test_what_has_no_tangent_is_left_alone():
    """Neither without a derivative nor by what is not named does anything move."""
    assert all(a is b for a, b in zip(*map(jax.tree.leaves, (X, moving_with(X, None))), strict=True))
    text = str(jax.make_jaxpr(lambda t: jax.jvp(lambda y: (moving_with(X, 1.0), y), (1.0,), (t,)))(2.0))
    assert "pad" not in text
