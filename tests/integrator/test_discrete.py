"""The integrator `discrete`: steps, inverse dynamics and gradients."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import fwd_acceleration, fwd_constraint
from mjx_like.integrator.discrete import constraint_inertia, discrete_constraint, discrete_force
from mjx_like.interop.convert import put_data, put_model
from mjx_like.inverse import inverse_skip
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.enums import Stage
from tests.models import HERE
from tests.support.oracle import ACCELERATION, ROW, TIGHT, error, load, reference, states

MODEL, CONSTRAINED = (
    HERE / "features" / "integrator_discrete.xml",
    HERE / "features" / "integrator_discrete_constraint.xml",
)
STEPS, STARTS = 5, 3


def _load(solver: str = "Newton"):
    xml = MODEL.read_text().replace("<option ", f'<option tolerance="0" solver="{solver}" ')
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj)


def _start(mj: mujoco.MjModel, seed: int) -> mujoco.MjData:
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj)
    mujoco.mj_integratePos(mj, data.qpos, 0.5 * rng.normal(size=mj.nv), 1.0)
    data.qvel[:], data.ctrl[:] = rng.normal(size=mj.nv), rng.normal(size=mj.nu)
    data.act[:] = 0.5 * rng.normal(size=mj.na)
    return data


def test_steps_equal_oracle():
    mj, m = _load()
    theirs = [_start(mj, seed) for seed in range(STARTS)]
    ours = jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t) for t in theirs))

    def move(d, _):
        d = step(m, d)
        return d, {name: getattr(d, name) for name in ("qacc", "qvel", "qpos", "act", "actuator_force")}

    _, trace = jax.jit(jax.vmap(lambda d: jax.lax.scan(move, d, None, STEPS)))(ours)
    for k in range(STEPS):
        for t in theirs:
            mujoco.mj_step(mj, t)
        for name, values in trace.items():
            assert error(values[:, k], np.stack([getattr(t, name) for t in theirs])) < TIGHT, (k, name)


def test_servos_and_springs_without_floating_bodies():
    mj, m = load("""
    <mujoco><option integrator="discrete" timestep=".05"/><worldbody><body><joint name="j" axis="0 1 0" stiffness="1"/>
    <geom size=".1" pos=".3 0 0"/></body></worldbody><tendon><fixed stiffness="20"><joint joint="j" coef="1"/>
    </fixed></tendon><actuator><position joint="j" kp="30" kv="2"/></actuator></mujoco>""")
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = 0.3, -0.5, 0.2
    end = jax.jit(step)(m, put_data(mj, data))
    mujoco.mj_step(mj, data)
    assert error(end.qpos, data.qpos) < TIGHT and error(end.qvel, data.qvel) < TIGHT


@pytest.mark.parametrize("solver", ["Newton", "PGS"])
def test_acceleration_and_its_inverse(solver):
    """With PGS tendons and actuators stay out of the metric."""
    mj, m = _load(solver)
    data = _start(mj, 1)
    mujoco.mj_forward(mj, data)
    d = jax.jit(lambda d: fwd_constraint(m, fwd_acceleration(m, d)))(put_data(mj, data))
    assert error(d.qacc_smooth, data.qacc_smooth) < TIGHT and error(d.qacc, data.qacc) < TIGHT
    force = jax.jit(discrete_force)(m, d)
    assert error(force, d.qfrc_smooth) < TIGHT


@pytest.mark.slow
def test_gradient_equals_differences():
    mj, m = _load()
    data = _start(mj, 2)
    mujoco.mj_forward(mj, data)
    d, rng = put_data(mj, data), np.random.default_rng(0)
    direction = {n: rng.normal(size=getattr(d, n).shape) for n in ("qvel", "ten_length", "actuator_length", "ctrl")}

    def moved(x):
        stiffer = m.replace(jnt_stiffness=m.jnt_stiffness * (1 + x), actuator_gainprm=m.actuator_gainprm * (1 + x))
        state = d.replace(**{n: getattr(d, n) + x * u for n, u in direction.items()})
        return jnp.sum(jnp.sin(fwd_constraint(stiffer, fwd_acceleration(stiffer, state)).qacc))

    slope, moved = jax.jit(jax.grad(moved))(0.0), jax.jit(moved)
    assert error(slope, (moved(2e-7) - moved(-2e-7)) / 4e-7) < 1e-6


def _constrained(option: str = "", flag: str = "") -> str:
    return CONSTRAINED.read_text().replace('impratio="2"/>', f'impratio="2" {option}>{flag}</option>')


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_constraints_equal_oracle(cone):
    """Rows of every kind act at the end of the step, in the metric with springs, dampers and servos."""
    mj, m = load(_constrained(f'cone="{cone}"'))
    start, empty = states(mj, steps=10), make_data(m)
    theirs = [reference(mj, state) for state in start]

    def move(state, given):
        after = step(m, empty.replace(**state))
        before = after.replace(**state, time=empty.time, qacc=given)
        return after, inverse_skip(m, before, Stage.VEL, skip_sensor=True).qfrc_inverse

    stacked = jax.tree.map(lambda *x: jnp.stack(x), *start)
    ours, force = jax.jit(jax.vmap(move))(stacked, np.stack([t.qacc for t in theirs]))
    for i, t in enumerate(theirs):
        for name in ("efc_aref", "efc_D", "efc_KBIP"):
            assert error(getattr(ours, name)[i, : t.nefc], getattr(t, name)) < ROW, (i, name)
        for name in ("qacc_smooth", "qfrc_constraint", "qacc"):
            assert error(getattr(ours, name)[i], getattr(t, name)) < ACCELERATION, (i, name)
        moved = mujoco.MjData(mj)
        for name, value in start[i].items():
            getattr(moved, name)[...] = value
        mujoco.mj_step(mj, moved)
        assert error(ours.qvel[i], moved.qvel) < ACCELERATION and error(ours.qpos[i], moved.qpos) < ACCELERATION
        mujoco.mj_inverse(mj, t)
        assert error(force[i], t.qfrc_inverse) < ACCELERATION


def test_exact_diagonal_is_that_of_the_factored_metric():
    mj, m = load(_constrained(flag='<flag diagexact="enable"/>'))
    t = reference(mj, states(mj, steps=10)[2])
    d = jax.jit(lambda d: constraint_inertia(m, d))(put_data(mj, t).replace(efc_R=jnp.zeros(m.njmax)))
    assert error(d.efc_R[: t.nefc], t.efc_R) < ROW and error(d.efc_aref[: t.nefc], t.efc_aref) < ROW


@pytest.mark.slow
def test_noslip_takes_the_factored_metric():
    """Friction that holds, of a ball and of a joint, with a damped tendon between them."""
    xml = """<mujoco><option integrator="discrete" timestep="0.02" gravity="1 .5 -9" noslip_iterations="30"/><worldbody>
      <geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .0995"><freejoint/><geom size=".1" mass="1"/><site name="a" pos=".05 .02 .05"/></body>
      <body pos="0 1 1"><joint axis="0 1 0" frictionloss="6" damping="1"/><geom size=".1" pos=".3 0 0" mass="1"/>
        <site name="b" pos=".3 0 0"/></body><site name="w" pos=".3 .4 .3"/></worldbody>
      <tendon><spatial stiffness="200" damping="20"><site site="w"/><site site="a"/><site site="b"/></spatial></tendon>
      </mujoco>"""
    mj, m = load(xml)
    t = reference(mj, states(mj, 1)[0] | {"qvel": np.zeros(mj.nv)})
    assert 0.1 < abs(t.efc_force[0]) < 6
    d = jax.jit(lambda d: discrete_constraint(m, d))(put_data(mj, t))
    assert error(d.efc_force[: t.nefc], t.efc_force) < ACCELERATION and error(d.qacc, t.qacc) < ACCELERATION


@pytest.mark.slow
def test_limit_and_its_gradient():
    """A stiff limit, friction loss, spring and damper at a long time step."""
    xml = """<mujoco><option integrator="discrete" timestep="0.01"/><worldbody><body>
      <joint type="slide" stiffness="20" damping="3" range="-.1 .1" solreflimit="0.01 0.4" frictionloss="0.3"/>
      <geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    mj, m = load(xml)
    empty, data = make_data(m), mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = 0.1004, 0.4
    start = {"qpos": jnp.asarray(data.qpos), "qvel": jnp.asarray(data.qvel)}

    def speed(x):
        changed = m.replace(jnt_stiffness=m.jnt_stiffness + x, dof_damping=m.dof_damping + x)
        return step(changed, empty.replace(qpos=start["qpos"] + x, qvel=start["qvel"] + x)).qvel[0]

    value, slope = jax.jit(jax.vmap(jax.value_and_grad(speed)))(jnp.array([0, 1e-6, -1e-6]))
    mujoco.mj_step(mj, data)
    assert data.nefc == 2 and abs(value[0] - data.qvel[0]) < TIGHT
    assert error(slope[0], (value[1] - value[2]) / 2e-6) < 1e-7
