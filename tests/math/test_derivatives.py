"""Safe functions and quaternions: values, first derivatives in both modes, second ones, at 0, near it and far from it.

References are power series and closed forms, not differences: near zero these would compare rounding errors.
"""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.math import quaternion, safe
from tests.support.oracle import error

SIZES = np.array([0.0, 1e-12, 1e-4, 0.7])
WAY = np.array([0.36, -0.48, 0.8])
VECTORS = SIZES[:, None] * WAY
EYE = np.eye(3)


def orders(function, x):
    """Return value, Jacobian by forward and by reverse mode, and Hessian by three combinations of both."""
    fwd, rev = jax.jacfwd(function), jax.jacrev(function)
    every = (function, fwd, rev, jax.jacfwd(rev), jax.jacrev(fwd), jax.jacfwd(fwd))
    return jax.jit(jax.vmap(lambda x: tuple(f(x) for f in every)))(jnp.asarray(x))


def check(function, x, value, first, second, limit=1e-12):
    """Hold a function of each x to its value and derivatives, relative to their size."""
    got = orders(function, x)
    for ours, theirs in zip(got, (value, first, first, second, second, second), strict=True):
        assert np.isfinite(ours).all()
        for own, right in zip(np.asarray(ours), np.asarray(theirs, float), strict=True):
            assert np.abs(own - right).max() <= limit * max(np.abs(right).max(), 1e-3), (x, own, right)


def off_zero(values):
    """Return the values at sizes above 0 behind zeros at 0."""
    return np.concatenate([np.zeros_like(values[:1]), values])


T = SIZES[1:]
SCALARS = {
    "sqrt": (safe.sqrt, np.sqrt(SIZES), off_zero(0.5 * T**-0.5), off_zero(-0.25 * T**-1.5)),
    "divide": (lambda t: safe.divide(2.0, t), off_zero(2 / T), off_zero(-2 / T**2), off_zero(4 / T**3)),
    "ratio": (lambda t: safe.divide(t, t, 1.0), np.ones(4), np.zeros(4), np.zeros(4)),
    "power": (lambda t: safe.power(t, 2.5), SIZES**2.5, 2.5 * SIZES**1.5, 3.75 * SIZES**0.5),
    "power_1": (lambda t: safe.power(t, 1.0), SIZES, np.ones(4), np.zeros(4)),
    "power_1.5": (lambda t: safe.power(t, 1.5), SIZES**1.5, 1.5 * SIZES**0.5, off_zero(0.75 * T**-0.5)),
    "clip": (lambda t: safe.clip(t, 0.0, 0.5), np.minimum(SIZES, 0.5), [1, 1, 1, 0], np.zeros(4)),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_functions(name):
    function, *expected = SCALARS[name]
    # a quotient of equal numbers loses the digits that its derivatives cancel
    x = SIZES[[0, 2, 3]] if name == "ratio" else SIZES
    expected = [np.asarray(e)[[0, 2, 3]] if name == "ratio" else e for e in expected]
    check(function, x, *expected, limit=1e-8 if name == "ratio" else 1e-12)


def test_norm_and_direction():
    size, unit = SIZES[1:], WAY[:, None] * WAY
    across = EYE - unit
    check(safe.norm, VECTORS, SIZES, off_zero(np.tile(WAY, (3, 1))), off_zero(across / size[:, None, None]))
    value, first, *_ = orders(lambda x: safe.normalize(x)[0], VECTORS[[0, 2, 3]])
    assert error(value, [[1, 0, 0], WAY, WAY]) < 1e-15
    assert error(first, off_zero(across / SIZES[2:, None, None])) < 1e-12
    second = orders(lambda x: safe.normalize(x)[0], VECTORS[[0, 3]])[3:]
    n, P = WAY, across
    exact = (
        -(np.einsum("ij,k->ijk", P, n) + np.einsum("ik,j->ijk", P, n) + np.einsum("jk,i->ijk", P, n)) / 0.49
    )  # of x/|x| at 0.7 n
    for ours in second:
        assert error(ours, np.stack([np.zeros((3, 3, 3)), exact])) < 1e-12


def test_rotation_vector_to_quaternion():
    """exp(v/2) = (c(s), k(s) v) with s = v.v, both power series that converge everywhere."""
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, 42.0)]))
    n = np.arange(20)
    c, k = (-1.0) ** n / (4.0**n * factorial[2 * n]), (-1.0) ** n / (2.0 ** (2 * n + 1) * factorial[2 * n + 1])

    def at(coefficients, s, order):
        powers = [np.prod(m - np.arange(order)) * s ** max(m - order, 0) for m in n]
        return sum(a * p for a, p in zip(coefficients, powers, strict=True))

    value, first, second = [], [], []
    for v in VECTORS:
        s = v @ v
        c0, c1, c2, k0, k1, k2 = (at(x, s, order) for x in (c, k) for order in range(3))
        value.append(np.concatenate([[c0], k0 * v]))
        first.append(np.vstack([2 * c1 * v, k0 * EYE + 2 * k1 * np.outer(v, v)]))
        swaps = np.einsum("ij,k->ijk", EYE, v) + np.einsum("ik,j->ijk", EYE, v) + np.einsum("jk,i->ijk", EYE, v)
        cubic = 2 * k1 * swaps + 4 * k2 * np.einsum("i,j,k->ijk", v, v, v)
        second.append(np.concatenate([(2 * c1 * EYE + 4 * c2 * np.outer(v, v))[None], cubic]))
    check(quaternion.from_rotation_vector, VECTORS, value, first, second, limit=1e-11)


def test_quaternion_to_rotation_vector():
    """Near the identity 2 v/w (1 - s/3 + s^2/5 ...) with s = v.v/w^2; the derivatives by v at w held."""
    w, n = 0.9, np.arange(60)
    coefficients = (-1.0) ** n / (2 * n + 1)

    def at(s, order):
        return sum(
            a * np.prod(m - np.arange(order)) * s ** max(m - order, 0) for a, m in zip(coefficients, n, strict=True)
        )

    value, first, second = [], [], []
    vectors = VECTORS * np.array([1, 1, 1, 0.6])[:, None]
    for v in vectors:
        u = v / w
        s = u @ u
        g0, g1, g2 = (at(s, order) for order in range(3))
        value.append(2 * g0 * u)
        first.append(2 / w * (g0 * EYE + 2 * g1 * np.outer(u, u)))
        swaps = np.einsum("ij,k->ijk", EYE, u) + np.einsum("ik,j->ijk", EYE, u) + np.einsum("jk,i->ijk", EYE, u)
        second.append(2 / w**2 * (2 * g1 * swaps + 4 * g2 * np.einsum("i,j,k->ijk", u, u, u)))

    def function(v):
        return quaternion.to_rotation_vector(jnp.concatenate([jnp.full(1, w), v]))

    check(function, vectors, value, first, second, limit=1e-9)


def test_integration_and_difference_equal_mujoco():
    """The Jacobians of mjd_quatIntegrate and mjd_subQuat, at rest, near it and far from it."""
    rng, dt = np.random.default_rng(0), 0.3
    quats = rng.normal(size=(24, 4))
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    sizes = np.repeat([0.0, 1e-12, 1e-6, 1e-4, 0.1, 2.0], 4)
    omega = sizes[:, None] * rng.normal(size=(24, 3))

    def integrated(q, v, x):
        """Small motions of quaternion, velocity and time make small motions of the result, in its own frame."""
        moved = quaternion.integrate(q, x[:3], 1.0)
        end = quaternion.integrate(moved, v + x[3:6], dt + x[6])
        return quaternion.subtract(end, jax.lax.stop_gradient(quaternion.integrate(q, v, dt)))

    def different(a, b, x):
        return quaternion.subtract(quaternion.integrate(a, x[:3], 1.0), quaternion.integrate(b, x[3:], 1.0))

    other = np.asarray(jax.vmap(quaternion.integrate, (0, 0, None))(jnp.array(quats), jnp.array(omega), 1.0))
    for jacobian in (jax.jacfwd, jax.jacrev):
        ours = jax.jit(jax.vmap(jacobian(integrated, 2), (0, 0, None)))(quats, omega, np.zeros(7))
        both = jax.jit(jax.vmap(jacobian(different, 2), (0, 0, None)))(other, quats, np.zeros(6))
        for k in range(24):
            by_quat, by_velocity, by_time = np.zeros(9), np.zeros(9), np.zeros(3)
            mujoco.mjd_quatIntegrate(omega[k], dt, by_quat, by_velocity, by_time)
            # by_velocity is by the product of velocity and time
            theirs = np.column_stack([by_quat.reshape(3, 3), dt * by_velocity.reshape(3, 3), by_time])
            assert error(ours[k], theirs) < 1e-12, (k, ours[k], theirs)
            by_first, by_second = np.zeros(9), np.zeros(9)
            mujoco.mjd_subQuat(other[k], quats[k], by_first, by_second)
            theirs = np.column_stack([by_first.reshape(3, 3), by_second.reshape(3, 3)])
            assert error(both[k], theirs) < 1e-12, (k, both[k], theirs)
