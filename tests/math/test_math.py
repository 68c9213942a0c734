"""Safe functions, quaternions, spatial algebra and small linear algebra: values, derivatives, singular points."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.math import component_first, frame, linalg, quaternion, safe, select, spatial
from tests.support.oracle import error

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(20, 4))
QUATS /= np.linalg.norm(QUATS, axis=1, keepdims=True)
VECTORS = RNG.normal(size=(20, 3))


def c(function, *args, size):
    """Return the rows that a C function of MuJoCo writes, one call a row."""
    out = np.zeros((len(args[0]), size))
    for row, *values in zip(out, *args, strict=True):
        function(row, *values)
    return out


def test_quaternion_functions_equal_mujoco():
    other = QUATS[::-1].copy()
    assert error(quaternion.multiply(QUATS, other), c(mujoco.mju_mulQuat, QUATS, other, size=4)) < 1e-15
    assert error(quaternion.rotate(QUATS, VECTORS), c(mujoco.mju_rotVecQuat, VECTORS, QUATS, size=3)) < 1e-15
    assert error(quaternion.matrix(QUATS), c(mujoco.mju_quat2Mat, QUATS, size=9)) < 1e-15
    assert error(quaternion.subtract(QUATS, other), c(mujoco.mju_subQuat, QUATS, other, size=3)) < 1e-14
    assert error(quaternion.from_z_axis(VECTORS), c(mujoco.mju_quatZ2Vec, VECTORS, size=4)) < 1e-15
    moved = QUATS.copy()
    for q, v in zip(moved, VECTORS, strict=True):
        mujoco.mju_quatIntegrate(q, v, 0.3)
    assert error(quaternion.integrate(jnp.array(QUATS), jnp.array(VECTORS), 0.3), moved) < 1e-15


def test_components_first_equal_components_last():
    other = QUATS[::-1].copy()
    assert error(component_first.multiply(QUATS.T, other.T).T, quaternion.multiply(QUATS, other)) < 1e-15
    rotation = component_first.matrix(jnp.array(QUATS.T))
    assert error(jnp.moveaxis(rotation, -1, 0), quaternion.matrix(QUATS)) < 1e-15
    first = component_first.pose(rotation, jnp.array(VECTORS.T))
    second = component_first.pose(component_first.matrix(jnp.array(other.T)), jnp.array(VECTORS[::-1].T))
    both = component_first.compose(first, second)
    assert error(both[:, 3].T, VECTORS + quaternion.rotate(QUATS, VECTORS[::-1])) < 1e-14
    assert error(component_first.rotate(rotation, VECTORS.T).T, quaternion.rotate(QUATS, VECTORS)) < 1e-14


def test_rotation_vectors_go_there_and_back_with_right_derivatives():
    v = jnp.array([0.0, 1e-12, 1e-4, 1.0])[:, None] * jnp.array([0.3, -0.5, 0.4])

    def back_and_forth(x):
        return quaternion.to_rotation_vector(quaternion.from_rotation_vector(x))

    every = jax.jit(jax.vmap(lambda x: (back_and_forth(x), jax.jacrev(back_and_forth)(x))))
    value, slope = every(v)
    assert error(value, v) < 1e-15
    assert error(slope, np.broadcast_to(np.eye(3), slope.shape)) < 1e-12
    assert np.abs(jax.jit(jax.vmap(jax.jacfwd(jax.jacfwd(back_and_forth))))(v)).max() < 1e-6


def test_safe_functions_have_no_nan_and_right_slopes():
    x = jnp.array([0.0, 1e-12, 1e-4, 0.7])

    def all_of(t):
        zero = jnp.zeros_like(t)
        return jnp.stack([
            safe.norm(jnp.stack([t, zero, zero])), safe.sqrt(t), safe.divide(t, t), safe.power(t, 2.5),
            safe.normalize(jnp.stack([t, t, zero]))[0][1], safe.clip(t, 0.0, 0.5),
        ])  # fmt: skip

    slope = jax.jacrev(all_of)
    for derivative in (all_of, slope, jax.jacfwd(all_of), jax.jacfwd(slope)):
        assert np.isfinite(jax.jit(jax.vmap(derivative))(x)).all()
    slopes = jax.vmap(slope)(x)
    assert error(slopes[:, 0], [0, 1, 1, 1]) < 1e-15
    assert error(slopes[:, 5], [1, 1, 1, 0]) < 1e-15


def test_rounded_products_are_not_fused_with_sums():
    a, b, c = np.random.default_rng(0).normal(size=(3, 1000))
    fast = {"xla_backend_optimization_level": 3}
    out = jax.jit(lambda a, b, c: safe.rounded(a * b) + c, compiler_options=fast)(a, b, c)
    np.testing.assert_array_equal(out, a * b + c)
    assert np.isnan(safe.rounded(jnp.nan)) and np.isinf(safe.rounded(jnp.inf))
    assert jax.grad(lambda x: safe.rounded(x * x))(3.0) == 6


@pytest.mark.parametrize("n", [1, 6, 9])
def test_cholesky_solves_and_differentiates(n):
    root = RNG.normal(size=(n, n))
    a, b = jnp.array(root @ root.T + n * np.eye(n)), jnp.array(RNG.normal(size=n))

    def solve(a):
        return linalg.cho_solve(linalg.cholesky(a), b)

    assert error(linalg.cholesky(a), np.linalg.cholesky(a)) < 1e-14
    assert error(solve(a), np.linalg.solve(a, b)) < 1e-14
    tangent = jnp.array(root + root.T)
    _, rate = jax.jvp(solve, (a,), (tangent,))
    assert error(rate, -np.linalg.solve(a, tangent @ np.linalg.solve(a, b))) < 1e-13


@pytest.mark.parametrize("n", (1, 5, 6, 9, 20))
def test_definite_systems_have_derivatives_of_any_order(n):
    rng = np.random.default_rng(n)
    root, way, b = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=n)
    a, way = root @ root.T + np.eye(n), way + way.T

    def solve(t):
        return linalg.solve_definite(jnp.asarray(a) + t * way, jnp.asarray(b))

    x, inverse = np.linalg.solve(a, b), np.linalg.inv(a)
    first = -inverse @ way @ x
    assert error(solve(0.0), x) < 1e-14
    assert error(jax.jit(jax.jacfwd(solve))(0.0), first) < 1e-13
    assert error(jax.jit(jax.jacrev(solve))(0.0), first) < 1e-13
    assert error(jax.jit(jax.jacfwd(jax.jacrev(solve)))(0.0), -2 * inverse @ way @ first) < 1e-12


def test_small_systems_without_a_pivot_stay_finite():
    slope = jax.grad(lambda a: jnp.sum(linalg.solve_definite(a, jnp.ones(3))))(jnp.diag(jnp.array([1.0, 0.0, 2.0])))
    assert np.isfinite(slope).all()


def test_spatial_algebra_equals_mujoco():
    vel, other = RNG.normal(size=(20, 6)), RNG.normal(size=(20, 6))
    assert error(spatial.motion_cross(vel, other), c(mujoco_cross_motion, vel, other, size=6)) < 1e-14
    diagonal, offset, mass = RNG.uniform(1, 2, (20, 3)), VECTORS, RNG.uniform(1, 2, 20)
    rotation = np.array(quaternion.matrix(QUATS))
    packed = spatial.pack_inertia(jnp.array(diagonal), jnp.array(rotation), jnp.array(offset), jnp.array(mass))
    momentum = spatial.inertia_times(packed, vel)
    for k in range(20):
        central = rotation[k] @ np.diag(diagonal[k]) @ rotation[k].T
        linear = mass[k] * (vel[k, 3:] + np.cross(vel[k, :3], offset[k]))
        expected = np.concatenate([central @ vel[k, :3] + np.cross(offset[k], linear), linear])
        assert error(momentum[k], expected) < 1e-14
    power = np.sum(np.array(spatial.motion_cross(vel, other)) * momentum, axis=1)
    dual = np.sum(other * np.array(spatial.force_cross(vel, momentum)), axis=1)
    assert error(power, -dual) < 1e-14


def mujoco_cross_motion(row, vel, motion):
    row[:3] = np.cross(vel[:3], motion[:3])
    row[3:] = np.cross(vel[:3], motion[3:]) + np.cross(vel[3:], motion[:3])


def test_frames_equal_mujoco():
    normals = np.concatenate([VECTORS, np.eye(3), -np.eye(3)])
    for normal in normals:
        own = np.array(frame.from_normal(jnp.array(normal)))
        assert error(own @ own.T, np.eye(3)) < 1e-14
        assert error(own[0], normal / np.linalg.norm(normal)) < 1e-15
        assert np.linalg.det(own) > 0


def test_static_selection():
    x = jnp.arange(12.0).reshape(6, 2)
    index = np.array([4, 1, 1])
    assert np.array_equal(select.take(x, index), x[index])
    assert np.array_equal(select.take(x, np.array([1, 2, 3])), x[1:4])
    assert select.take(x, np.zeros(0, int)).shape == (0, 2)
    assert np.array_equal(select.take_last(x.T, index), x.T[:, index])
    assert np.array_equal(select.scatter(x[:2], np.array([3, 0]), 4), jnp.stack([x[1], 0 * x[0], 0 * x[0], x[0]]))
    assert np.array_equal(select.segment_sum(x, np.array([0, 0, 2, 2, 2, 0]), 3)[1], np.zeros(2))
    assert np.array_equal(select.combine(np.ones((1, 6)), x), x.sum(axis=0)[None])
