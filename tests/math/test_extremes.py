"""Safe functions at every size that a number can have: derivatives finite in both modes, and the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math import quaternion, safe, vector
from mjx_like.math.quotient import steepest


def rescaled(x, length):
    """Return what is at most `length` brought to what is at most 2; not by the same length, or the derivative is 0."""
    most = jax.lax.stop_gradient(length)
    return safe.rescale((jnp.clip(x, -most, most),), length, 2.0)[0]


LEAST, MOST = {np.float32: -45, np.float64: -324}, {np.float32: 18, np.float64: 150}
FUNCTIONS = {
    "divide": safe.divide,
    "divide where": lambda a, b: safe.divide(a, b, 2.0, where=a > 0),
    "ratio by itself": lambda a, b: safe.divide(a * a, a),
    "sqrt": lambda a, b: safe.sqrt(a),
    "sqrt of squares": lambda a, b: safe.sqrt(a * a + b * b),
    "power 1": lambda a, b: safe.power(jnp.abs(a), jnp.ones_like(a)),
    "power": lambda a, b: safe.power(jnp.minimum(jnp.abs(a), 1), 1 + jnp.minimum(jnp.abs(b), 10)),
    "arctan2": safe.arctan2,
    "clip": lambda a, b: safe.clip(a, -jnp.abs(b), jnp.abs(b)),
    "norm": lambda a, b: safe.norm(jnp.stack([a, b, 0.5 * a])),
    "norm of five": lambda a, b: safe.norm(jnp.stack([a, b, a, b, a])),
    "normalize": lambda a, b: safe.normalize(jnp.stack([a, b, 0.5 * a]))[0],
    "rescale": lambda a, b: rescaled(b, jnp.maximum(jnp.abs(a), 1e-15)),
    "ratio": lambda a, b: safe.ratio(jnp.clip(a, -1e4, 1e4), jnp.maximum(jnp.abs(b), 1e-15)),
    "normalize components": lambda a, b: jnp.stack(vector.normalize((a, b, 0.5 * a))[0]),
    "norm of components": lambda a, b: vector.norm((a, b, a)),
    "quaternion": lambda a, b: quaternion.normalize(jnp.stack([a, b, a, b])),
    "from rotation vector": lambda a, b: quaternion.from_rotation_vector(jnp.stack([a, b, a])),
    "to rotation vector": lambda a, b: quaternion.to_rotation_vector(quaternion.normalize(jnp.stack([a, b, b, a]))),
    "from z axis": lambda a, b: quaternion.from_z_axis(jnp.stack([a, b, a])),
}


def sizes(dtype):
    """Return all pairs of numbers of both signs from zero and the smallest subnormal to large ones."""
    powers = np.arange(LEAST[dtype], MOST[dtype] + 1, 1 if dtype == np.float32 else 6, dtype=float)
    tiny = np.finfo(dtype).tiny
    with np.errstate(under="ignore"):
        sides = np.concatenate([[0, tiny, 0.99 * tiny, 1.01 * tiny, 1, 3.3e-8, 8.5e-9], 10.0**powers]).astype(dtype)
    both = np.concatenate([sides, -sides])
    return (jnp.asarray(x.ravel()) for x in np.meshgrid(both, both))


@pytest.mark.parametrize(
    "transform", (jax.jit, pytest.param(lambda f: f, marks=pytest.mark.slow)), ids=["jit", "eager"]
)
@pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_finite(name, dtype, transform):
    def function(a, b):
        return jax.vmap(FUNCTIONS[name])(a, b)

    def slopes(a, b, scale):
        value, pull = jax.vjp(function, a, b)
        return pull(scale * jnp.ones_like(value))

    a, b = sizes(dtype)
    for scale in (0, 1, -1e3):
        for slope in transform(slopes)(a, b, jnp.asarray(scale, dtype)):
            assert np.isfinite(slope).all(), (scale, a[~np.isfinite(slope)][:4], b[~np.isfinite(slope)][:4])
            assert scale or not np.any(slope)
    forward, backward = (
        np.stack(transform(jax.vmap(mode(FUNCTIONS[name], (0, 1))))(a, b), axis=-1).reshape(len(a), -1)
        for mode in (jax.jacfwd, jax.jacrev)
    )
    off = np.abs(forward - backward) > 1e-3 * np.maximum(np.abs(backward).max(axis=1, keepdims=True), 1e-6)
    off = off.any(axis=1)
    assert not off.any(), (a[off][:4], b[off][:4], forward[off][:4], backward[off][:4])


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_steep_slopes_are_cut_where_it_says(dtype):
    bound = steepest(dtype)
    b = jnp.asarray(1 / bound / 100, dtype)
    assert jax.grad(safe.divide)(jnp.ones((), dtype), b) == dtype(bound)
    assert jax.grad(safe.divide, 1)(jnp.ones((), dtype), b) == -dtype(bound)
    assert jax.grad(safe.sqrt)(b) == pytest.approx(0.5 / np.sqrt(float(b)), rel=1e-6)


def test_values_are_those_of_the_plain_operations():
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(x) for x in rng.normal(size=(2, 1000)))
    assert (safe.divide(a, b) == a / b).all() and (safe.ratio(a, b) == a / b).all()
    assert (safe.rescale((a,), jnp.abs(b), 3.0)[0] == a * (3.0 / jnp.abs(b))).all()
    assert (safe.sqrt(b * b) == jnp.sqrt(b * b)).all() and (safe.arctan2(a, b) == jnp.arctan2(a, b)).all()


def test_quotients_map_over_any_axis_and_transpose():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(4, 3)), rng.normal(size=(3, 4)), rng.normal(size=4)
    assert (jax.vmap(safe.ratio, (0, 1))(a, b) == a / b.T).all()
    assert (jax.vmap(safe.ratio, (1, None), 1)(a, c) == a / c[:, None]).all()
    assert (jax.vmap(lambda x, y: safe.ratio(x, y), (0, 0), 0)(c, c + 9.0) == c / (c + 9.0)).all()
    (back,) = jax.linear_transpose(lambda x: safe.ratio(x, jnp.asarray(c)), c)(jnp.ones(4))
    assert np.allclose(back, 1 / c, rtol=1e-15)
