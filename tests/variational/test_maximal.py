"""Maximal coordinates: round trips on many models, Jacobians against differences, transforms, references."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.math import quaternion
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.types.enums import JointType
from mjx_like.variational.displacement import displacement, pose
from mjx_like.variational.maximal import (
    maximal_from_minimal,
    maximal_jacobian,
    maximal_velocity,
    minimal_from_maximal,
    minimal_jacobian,
    minimal_velocity,
)
from mjx_like.variational.step import displaced
from tests.support.tolerances import EXACT, TIGHT
from tests.variational.scene import MIXED, SEVERAL, model, state

MODELS = ("ant", "humanoid", "half_cheetah", "quadruped", "arm", "cube")


def loaded(name: str) -> mjx.Model:
    return (
        model({"mixed": MIXED, "several": SEVERAL}[name])
        if name in ("mixed", "several")
        else (mjx.Model.from_xml_path(f"models/{name}.xml"))
    )


@pytest.fixture(scope="module", params=[*MODELS, "mixed", "several"])
def m(request):
    return loaded(request.param)


def test_round_trip(m):
    """From qpos0 as the reference, with angles up to a radian from it."""

    @jax.jit
    @jax.vmap
    def there_and_back(qpos, qvel):
        d = mjx.make_data(m).replace(qpos=qpos, qvel=qvel)
        return minimal_from_maximal(m, *maximal_from_minimal(m, d)), minimal_velocity(m, d, *maximal_velocity(m, d))

    states = [state(m, seed) for seed in range(20)]
    qpos, qvel = (jnp.stack([getattr(d, name) for d in states]) for name in ("qpos", "qvel"))
    back, velocity = there_and_back(qpos, qvel)
    np.testing.assert_allclose(back, qpos, atol=EXACT)
    np.testing.assert_allclose(velocity, qvel, atol=EXACT)


def moved(position, quat, change):
    """Return poses changed in their tangent space, shape (nbody, 6)."""
    return position + change[:, :3], quaternion.integrate(quat, change[:, 3:], 1.0)


def between(before, after):
    """Return the change from some poses to others in the tangent space, shape (6 nbody,)."""
    return jnp.concatenate([after[0] - before[0], quaternion.subtract(after[1], before[1])], axis=1).ravel()


@pytest.mark.parametrize("name", ["humanoid", "mixed", "several"])
def test_jacobians_equal_differences(name):
    m = loaded(name)
    d, eps = state(m, 3), 1e-6
    slope, back = jax.jit(maximal_jacobian)(m, d), jax.jit(minimal_jacobian)(m, d)
    poses = jax.jit(lambda qpos: maximal_from_minimal(m, d.replace(qpos=qpos)))
    here = poses(d.qpos)
    change = jax.jit(lambda v: between(here, poses(displaced(m, d.qpos, v))))
    joints = jax.jit(
        lambda x: mjx.differentiate_pos(m, d.qpos, minimal_from_maximal(m, *moved(*here, x.reshape(-1, 6)), d.qpos))
    )
    forth = np.stack([(change(e) - change(-e)) / (2 * eps) for e in eps * jnp.eye(m.nv)], axis=1)
    np.testing.assert_allclose(slope, forth, atol=1e-8)
    np.testing.assert_allclose(back @ slope, np.eye(m.nv), atol=TIGHT)
    allowed = slope @ np.random.default_rng(0).normal(size=(m.nv, 3))
    returned = np.stack([(joints(eps * x) - joints(-eps * x)) / (2 * eps) for x in allowed.T], axis=1)
    np.testing.assert_allclose(back @ allowed, returned, atol=1e-7)
    derivative = jax.jit(lambda x: jax.jvp(joints, (jnp.zeros_like(x),), (x,))[1])
    np.testing.assert_allclose(derivative(allowed[:, 0]), back @ allowed[:, 0], atol=1e-8)


@pytest.mark.parametrize("name", ["ant", "mixed", "several"])
def test_displacement_is_the_difference_of_poses(name):
    """Also that `displaced` is what moves the state of other integrators, and velocities are those of the pipeline."""
    m = loaded(name)
    d = state(m, 2)
    change = jnp.asarray(np.random.default_rng(1).uniform(-0.5, 0.5, m.nv))
    after_qpos = displaced(m, d.qpos, change)
    np.testing.assert_allclose(after_qpos, mjx.integrate_pos(m, d.qpos, change, 1.0), atol=EXACT)
    d = jax.jit(lambda d: com_vel(m, com_pos(m, kinematics(m, d))))(d)
    poses = jax.jit(lambda qpos: maximal_from_minimal(m, d.replace(qpos=qpos)))
    before, after = poses(d.qpos), poses(after_qpos)
    moved = jax.jit(lambda d: displacement(m.topology, pose(m, d), change))(d)
    np.testing.assert_allclose(moved.shift, after[0] - before[0], atol=EXACT)
    turn = quaternion.multiply(quaternion.conjugate(before[1]), after[1])
    turn = turn * jnp.sign(turn[:, :1] * moved.cosine[:, None])
    np.testing.assert_allclose(jnp.concatenate([moved.cosine[:, None], moved.sine], axis=1), turn, atol=EXACT)
    np.testing.assert_allclose(quaternion.matrix(before[1]), d.ximat, atol=EXACT)
    linear, angular = maximal_velocity(m, d)
    np.testing.assert_allclose(jnp.einsum("bij,bj->bi", d.ximat, angular), d.cvel[:, :3], atol=EXACT)
    offset = d.xipos - d.subtree_com[m.body_rootid]
    np.testing.assert_allclose(linear, d.cvel[:, 3:] + jnp.cross(d.cvel[:, :3], offset), atol=EXACT)


def test_reference_decides_turns_signs_and_branches():
    m = loaded("several")
    d = state(m, 5)
    turns = np.where((m.jnt_type == JointType.HINGE)[m.dof_jntid], 4 * np.pi, 0)
    far = displaced(m, d.qpos, jnp.asarray(turns))
    ball = m.jnt_qposadr[m.jnt_type == JointType.BALL][0]
    far = far.at[ball : ball + 4].multiply(-1)
    back = jax.jit(lambda qpos, near: minimal_from_maximal(m, *maximal_from_minimal(m, d.replace(qpos=qpos)), near))
    np.testing.assert_allclose(back(far, far), far, atol=10 * EXACT)
    near = back(far, d.qpos)
    np.testing.assert_allclose(near, d.qpos, atol=10 * EXACT)


def test_a_pose_that_joints_cannot_have_is_projected():
    m = model(
        """<mujoco><worldbody><body><joint axis="0 0 1"/><geom size=".1"/></body>
        <body pos="0 1 0"><joint type="slide" axis="1 0 0"/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    d = mjx.make_data(m).replace(qpos=jnp.array([0.4, 0.7]))
    position, quat = maximal_from_minimal(m, d)
    off = jnp.zeros((3, 6)).at[1, :3].set(0.1).at[1, 3].set(0.2).at[2, 1:].set(0.3)
    np.testing.assert_allclose(minimal_from_maximal(m, *moved(position, quat, off)), d.qpos, atol=EXACT)


THREE = """<mujoco><worldbody><body pos="0 0 1"><joint axis="1 0 0"/><joint axis="0 1 0" pos=".1 0 0"/>
  <joint axis="0 0 1"/><geom size=".1"/></body></worldbody></mujoco>"""


def test_singular_poses_stay_finite_and_reverse_equals_forward():
    """At rest, and where the axes of three hinges fall in one plane."""
    m = model(THREE)
    d = mjx.make_data(m)
    poses = jax.jit(lambda qpos: maximal_from_minimal(m, d.replace(qpos=qpos)))

    def joints(x, here, qpos):
        return minimal_from_maximal(m, *moved(*here, x.reshape(-1, 6)), qpos)

    both = jax.jit(lambda *x: (joints(*x), jax.jacfwd(joints)(*x), jax.jacrev(joints)(*x)))
    for angle in (0.0, np.pi / 2):
        qpos = d.qpos.at[1].add(angle)
        back, forward, reverse = both(jnp.zeros(6 * m.nbody), poses(qpos), qpos)
        np.testing.assert_allclose(between(poses(qpos), poses(back)), 0, atol=1e-9)
        assert np.isfinite(forward).all() and np.isfinite(reverse).all()
        if angle == 0:
            np.testing.assert_allclose(reverse, forward, atol=1e-9)


pytestmark = pytest.mark.slow
