"""Forward kinematics, inertia, velocities, bias and energy against MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.position import integrate_pos
from mjx_like.interop.convert import put_model
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.crb import full_m, mul_m, solve_m
from mjx_like.smooth.kinematics import kinematics
from mjx_like.smooth.rne import rne
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.tree.jacobian import jac, jac_dot
from tests.support.oracle import GYM, TIGHT, error, load, reference, states
from tests.support.stages import batch, data, errors, run, smooth
from tests.support.zoo_smooth import KINEMATICS

POSITION = (
    "xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat",
    "cam_xpos", "cam_xmat", "light_xpos", "light_xdir", "subtree_com", "cdof", "cinert", "crb", "M",
)  # fmt: skip
VELOCITY = ("cvel", "cdof_dot", "qfrc_bias", "subtree_linvel", "subtree_angmom", "energy")


@pytest.mark.parametrize("name", ["ant", "humanoid", "zoo"])
def test_smooth_stages_equal_mujoco(name):
    mj, m = load(KINEMATICS if name == "zoo" else str(GYM / f"{name}.xml"))
    sample = states(mj, 4)
    mj.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    worst = errors(mj, run(m, sample), sample, POSITION + VELOCITY)
    assert max(worst.values()) < TIGHT, {k: v for k, v in worst.items() if v >= TIGHT}


NEARLY = """
<mujoco>
  <worldbody>
    <body name="a" pos="0 0 1" quat="1 2 3 4">
      <inertial pos="3e-7 0 0" quat="1 4e-7 0 0" mass="1" diaginertia="1 2 2.5"/>
      <joint axis="1 2 3"/>
      <geom name="of_body" size=".1" pos="0 4e-7 0" quat="-1 0 3e-7 0"/>
      <site name="turned_like_body" pos=".1 0 0" quat="1 0 0 -8e-7"/>
      <body name="b" pos=".3 0 0">
        <inertial pos=".1 .2 .3" quat="1 1 0 .5" mass="1" diaginertia="1 2 2.5"/>
        <joint axis="1 0 3"/>
        <geom name="of_inertia" type="box" size=".1 .2 .3" pos=".1 .2000004 .3" quat="-1 -1 2e-7 -.5"/>
        <geom name="turned_like_inertia" type="box" size=".1 .2 .3" quat="1.0000003 1 0 .5"/>
        <site name="near_no_frame" pos=".1 .2 .3" quat="1 1 2e-5 .5"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def test_frames_that_nearly_coincide_are_one_as_in_mujoco():
    """Its compiler merges frames within 1e-6 of each other; ours move with their own pose all the same."""
    mj, m = load(NEARLY)
    assert 1e-7 < np.abs(m.frame_nudge).max() < 1e-6
    sample = states(mj, 3)
    out = run(m, sample, lambda m, d: smooth(m, d, (kinematics, com_pos)))
    worst = errors(mj, out, sample, POSITION[:11] + ("subtree_com", "cdof", "cinert"))
    assert max(worst.values()) < TIGHT, {k: v for k, v in worst.items() if v >= TIGHT}
    far = NEARLY.replace("e-7", "e-4").replace(".2000004", ".21").replace("1.0000003", "1.1")
    assert np.abs(put_model(mujoco.MjModel.from_xml_string(far)).frame_nudge).max(initial=0) < TIGHT
    turned = jax.jit(jax.jacfwd(lambda p: kinematics(m.replace(geom_pos=p), data(m)).geom_xpos[1]))(m.geom_pos)[:, 1]
    np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-12)


FINGERS = """
<mujoco>
  <worldbody>
    <body quat="1 2 3 4">
      <freejoint/>
      <geom size=".1"/>
      <body pos=".1 0 0" quat="1 0 0 1">
        <joint axis="1 2 3"/>
        <geom size=".1"/>
        <body name="palm">
          <joint axis="3 2 1"/>
          <geom size=".1"/>
          <body name="left" pos="0 .1 0"><joint type="slide" axis="0 1 0"/><geom type="box" size=".1 .1 .1"/></body>
          <body pos="0 -.1 0">
            <joint type="slide" axis="0 1 0"/>
            <geom size=".1"/>
            <body name="right"><joint type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1"/></body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def test_fingers_on_slide_joints_are_exactly_parallel():
    """As in MuJoCo, which copies their rotation: boxes in line then touch by their faces, not by rounding."""
    mj, m = load(FINGERS)
    xmat = run(m, states(mj, 5), kinematics).xmat
    palm, left, right = (np.asarray(xmat[:, mj.body(name).id]) for name in ("palm", "left", "right"))
    np.testing.assert_array_equal(left, palm)
    np.testing.assert_array_equal(right, palm)


RIGHT_ANGLES = """
<mujoco>
  <worldbody>
    <body quat="1 0 0 1">
      <geom type="box" size=".1 .2 .3" quat="1 1 0 0"/>
      <body quat="1 0 -1 0">
        <geom type="box" size=".1 .2 .3" euler="90 90 0"/>
        <body quat="1 0 0 -1"><joint/><geom type="box" size=".1 .2 .3"/><geom size=".1" quat="0 1 0 0"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def test_turns_by_right_angles_are_those_of_mujoco_to_the_last_bit():
    """What stands upright and square there does so here: ties between faces and corners are broken alike."""
    mj, m = load(RIGHT_ANGLES)
    theirs = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, theirs)
    out = jax.jit(lambda: kinematics(m, data(m)))()
    for name in ("xquat", "xmat", "geom_xmat"):
        mine = np.asarray(getattr(out, name))
        assert np.sum(mine == 0) > mine.size / 3
        bound = 1e-31 if name == "geom_xmat" else 0  # ours is a product of matrices, theirs of quaternions
        np.testing.assert_allclose(mine, getattr(theirs, name).reshape(mine.shape), rtol=0, atol=bound)


def test_products_solves_and_jacobians_equal_mujoco():
    mj, m = load(KINEMATICS)
    sample = states(mj, 3)
    for state in sample:
        state["qacc"] = np.linspace(-1, 1, mj.nv)
    body = np.array([2, 4, 6, 8])

    def after(m, d):
        d = smooth(m, d)
        point = d.xpos[body] + 0.1
        chain = jnp.asarray(body)
        return dict(
            product=mul_m(m, d, d.qvel), solved=solve_m(m, d, d.qvel), full=full_m(m, d),
            inverse=rne(m, d, flg_acc=True).qfrc_bias, applied=xfrc_accumulate(m, d), point=point,
            jac=jac(m, d, point, body), traced=jac(m, d, point, chain), rate=jac_dot(m, d, point, body),
        )  # fmt: skip

    out = run(m, sample, after)
    for i, state in enumerate(sample):
        qacc = state.pop("qacc")
        ref = reference(mj, state)
        vector, solved, applied = np.zeros(mj.nv), np.zeros((1, mj.nv)), np.zeros(mj.nv)
        mujoco.mj_mulM(mj, ref, vector, ref.qvel)
        mujoco.mj_solveM(mj, ref, solved, ref.qvel[None])
        for b in range(1, mj.nbody):
            wrench = ref.xfrc_applied[b]
            mujoco.mj_applyFT(mj, ref, wrench[:3], wrench[3:], ref.xipos[b], b, applied)
        assert error(out["product"][i], vector) < TIGHT
        assert error(out["solved"][i], solved) < TIGHT
        assert error(out["applied"][i], applied) < TIGHT
        for k, b in enumerate(body):
            for mine, theirs in (("jac", mujoco.mj_jac), ("traced", mujoco.mj_jac), ("rate", mujoco.mj_jacDot)):
                p, r = np.zeros((3, mj.nv)), np.zeros((3, mj.nv))
                theirs(mj, ref, p, r, np.array(out["point"][i][k]), b)
                assert error(out[mine][0][i][k].T, p) < TIGHT
                assert error(out[mine][1][i][k].T, r) < TIGHT
        ref.qacc[:] = qacc
        force = np.zeros(mj.nv)
        mujoco.mj_rne(mj, ref, 1, force)
        assert error(out["inverse"][i], force) < TIGHT


def test_gradient_at_identity_and_rest():
    """Reverse mode at qpos0, at rest, equals central differences in the tangent space."""
    mj, m = load(KINEMATICS)
    d0 = data(m)
    weights = {}

    def scalar(x):
        d = d0.replace(qpos=integrate_pos(m, m.qpos0, x[0], 1.0), qvel=x[1])
        d = smooth(m, d)
        total = 0.0
        for name in (*POSITION, *VELOCITY, "actuator_length", "qfrc_passive"):
            value = getattr(d, name)
            weight = weights.setdefault(name, np.random.default_rng(len(weights)).normal(size=value.shape))
            total += jnp.sum(weight * value)
        return total

    x, step = jnp.zeros((2, m.nv)), 1e-5
    value, gradient = jax.jit(jax.value_and_grad(scalar))(x)
    shifts = step * np.eye(2 * m.nv).reshape(-1, 2, m.nv)
    both = jax.jit(jax.vmap(scalar))(np.concatenate([x + shifts, x - shifts]))
    differences = (both[: 2 * m.nv] - both[2 * m.nv :]) / (2 * step)
    assert np.isfinite(value) and np.isfinite(gradient).all()
    assert error(gradient, differences) < 1e-6


def test_normalises_quaternions_and_has_the_projected_gradient():
    """A scaled quaternion gives the same poses; the derivative along the quaternion itself is zero."""
    mj, m = load(KINEMATICS)
    d = data(m)
    adr = int(mj.jnt_qposadr[mj.joint("ball").id])
    quat = jnp.array([0.9, 0.1, -0.3, 0.2])

    def pose(scale):
        qpos = d.qpos.at[adr : adr + 4].set(scale * quat)
        return kinematics(m, d.replace(qpos=qpos)).geom_xpos

    value, rate = jax.jit(jax.vmap(lambda s: jax.jvp(pose, (s,), (1.0,))))(jnp.array([1.0, 3.0]))
    assert error(value[1], value[0]) < 1e-14
    assert np.abs(rate).max() < 1e-14
    rest = mujoco.MjData(mj)
    mujoco.mj_forward(mj, rest)
    assert np.abs(value[0] - rest.geom_xpos).max() > 1e-2


def test_model_leaves_may_carry_a_batch():
    mj, m = load(KINEMATICS)
    masses = jnp.stack([m.body_mass, 2 * m.body_mass])
    d = data(m)

    def centre(mass):
        model = m.replace(body_mass=mass)
        return com_pos(model, kinematics(model, d)).cinert[:, 9]

    assert error(jax.jit(jax.vmap(centre))(masses), masses.at[:, 0].set(0)) < 1e-15


def test_float32_stays_float32():
    mj, m = load(KINEMATICS)
    single = jax.tree.map(lambda x: x.astype(np.float32) if x.dtype == np.float64 else x, m)
    sample = states(mj, 2)
    d = jax.tree.map(lambda x: x.astype(np.float32) if x.dtype == np.float64 else x, batch(m, sample))
    out = jax.jit(jax.vmap(smooth, (None, 0)))(single, d)
    assert {str(x.dtype) for x in jax.tree.leaves(out)} <= {"float32", "int32", "bool"}
    assert max(errors(mj, out, sample, ("xpos", "M", "qfrc_bias")).values()) < 2e-5
