"""Transmissions, activations, gains, biases and limits against MuJoCo; hooks; refusals."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx
from mjx_like.actuator.stage import next_activation
from mjx_like.interop.convert import put_model
from mjx_like.types.enums import WarningType
from mjx_like.types.hooks import Hooks
from tests.support.oracle import TIGHT, error, load, reference, states
from tests.support.stages import data, errors, run, smooth, smooth_force
from tests.support.zoo_smooth import ACTUATORS

FIELDS = (
    "actuator_length", "actuator_moment", "actuator_velocity", "actuator_force", "act_dot", "qfrc_actuator", "ten_J",
)  # fmt: skip


def after(m, d):
    d = smooth(m, d)
    return d, smooth_force(m, d), next_activation(m, d, d.act_dot)


def check(source):
    mj, m = load(source)
    sample = states(mj, 4, steps=0)
    rng = np.random.default_rng(1)
    for state in sample:
        state["act"], state["ctrl"] = rng.uniform(-8, 8, mj.na), rng.uniform(-2, 9, mj.nu)
    out, force, activation = run(m, sample, after)
    worst = errors(mj, out, sample, FIELDS)
    assert max(worst.values()) < TIGHT, worst
    for i, state in enumerate(sample):
        ref = reference(mj, state)
        assert error(force[i], ref.qfrc_smooth) < TIGHT
        mujoco.mj_Euler(mj, ref)
        assert error(activation[i], ref.act) < TIGHT
    return out


def test_actuators_equal_mujoco():
    out = check(ACTUATORS)
    assert np.abs(out.actuator_force).min(axis=0).max() > 0


def test_groups_and_clamping_can_be_disabled():
    source = ACTUATORS.replace('timestep="0.01"', 'timestep="0.01" actuatorgroupdisable="4 5"')
    out = check(source.replace('contact="disable"', 'contact="disable" clampctrl="disable"'))
    assert not np.asarray(out.actuator_force)[:, 18:20].any()


def test_bad_control_zeroes_all_and_counts():
    mj, m = load(SMALL)
    d = data(m)
    bad = jax.jit(smooth)(m, d.replace(ctrl=jnp.array([jnp.nan, 1.0])))
    assert not np.asarray(bad.qfrc_actuator).any() and int(bad.warning[WarningType.BADCTRL]) == 1
    good = jax.jit(smooth)(m, d.replace(ctrl=jnp.array([1.0, 1.0])))
    assert float(good.qfrc_actuator[0]) == 1.5 and not np.asarray(good.warning).any()


def test_gradient_of_force_equals_differences():
    mj, m = load(SMALL)
    d = data(m).replace(qpos=jnp.array([0.2]), qvel=jnp.array([-0.3]))

    def force(x):
        return smooth(m, d.replace(ctrl=x[:2], qpos=x[2:3], qvel=x[3:])).qfrc_actuator[0]

    x, step = jnp.array([0.3, -0.2, 0.2, -0.3]), 1e-6
    value = jax.jit(jax.vmap(force))(jnp.concatenate([x + step * jnp.eye(4), x - step * jnp.eye(4)]))
    assert error(jax.jit(jax.grad(force))(x), (value[:4] - value[4:]) / (2 * step)) < 1e-8


def test_hooks_stand_in_for_callbacks():
    mj = mujoco.MjModel.from_xml_string(USER)
    hooks = Hooks(
        control=lambda m, d: 2 * d.qpos[:1],
        act_dyn=lambda m, d, i: d.ctrl[0] - d.act[0],
        act_gain=lambda m, d, i: 3.0,
        act_bias=lambda m, d, i: d.qvel[0],
    )
    m = put_model(mj, hooks=hooks)
    d = data(m).replace(qpos=jnp.array([0.5]), qvel=jnp.array([0.1]), act=jnp.array([0.25]))
    out = jax.jit(smooth)(m, d)
    assert error(out.act_dot, [0.75]) < 1e-15
    assert error(out.actuator_force, [3 * 0.25 + 0.1]) < 1e-15
    assert error(out.ctrl, [1.0]) < 1e-15


SMALL = """<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/>
<geom size=".1" pos="0 0 .2"/></body></worldbody>
<actuator><motor name="a" joint="j"/><general joint="j" gear=".5" gaintype="affine" gainprm="1 2 3"
biastype="affine" biasprm="0 -1 -.5"/></actuator></mujoco>"""

USER = """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
<actuator><general joint="j" dyntype="user" actdim="1" gaintype="user" biastype="user"/></actuator></mujoco>"""


MUSCLES = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/>
  <body pos=".3 0 0"><joint name="b"/><geom size=".1"/></body></body></worldbody><actuator>
  <muscle joint="a" lengthrange="-1 1" fvmax="1"/><muscle joint="b" lengthrange="-1 1"/>
  <motor joint="a"/><intvelocity joint="b" kp="5" actrange="-1 1"/><general joint="a" dyntype="filterexact"/>
</actuator></mujoco>"""


def test_gradients_in_32_bit_beside_a_muscle():
    """The law of a muscle is not evaluated with the parameters of others, nor divided by a range that is empty."""
    m = mjx.Model.from_xml_string(MUSCLES, dtype=np.float32)
    d = mjx.make_data(m)
    d = d.replace(
        qvel=jnp.array([0.7, -0.4], jnp.float32),
        act=jnp.full(m.na, 0.5, jnp.float32),
        ctrl=jnp.full(m.nu, 0.4, jnp.float32),
    )
    names = ("actuator_gainprm", "actuator_biasprm", "actuator_dynprm", "actuator_lengthrange", "actuator_acc0")

    def loss(leaves, qpos, qvel):
        end = mjx.step(m.replace(**dict(zip(names, leaves, strict=True))), d.replace(qpos=qpos, qvel=qvel))
        return jnp.sum(end.qvel**2) + jnp.sum(end.act**2)

    slope = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))
    for qpos in ((0.1, -0.2), (0.9, 0.5), (-0.8, 0.3)):
        found = slope([getattr(m, name) for name in names], jnp.array(qpos, jnp.float32), d.qvel)
        assert all(np.isfinite(x).all() for x in jax.tree.leaves(found))
    assert np.abs(found[0][0]).max() > 0
