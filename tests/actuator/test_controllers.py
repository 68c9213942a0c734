"""PID controllers, DC motors and orientation servos: rollouts against MuJoCo, gradients of their forces."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.actuator.stage import fwd_actuation, next_activation
from mjx_like.errors import ModelError
from mjx_like.interop.convert import put_data, put_model
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.hooks import Hooks
from tests.support.oracle import TIGHT, error

MODELS = pathlib.Path(__file__).parents[1] / "models/features"
KINDS = ("pid", "dcmotor", "orientation")
FIELDS = ("actuator_length", "actuator_velocity", "act_dot", "actuator_force", "act", "qvel", "sensordata")
STEPS, STARTS = 8, 4


def _load(kind: str, integrator: str = "implicitfast"):
    xml = (MODELS / f"actuator_{kind}.xml").read_text().replace("implicitfast", integrator)
    xml = xml.replace('forcerange="0 5"', 'forcerange="0 0.5"')
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj)


def _start(mj: mujoco.MjModel, seed: int) -> mujoco.MjData:
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj)
    mujoco.mj_integratePos(mj, data.qpos, rng.normal(size=mj.nv), 1.0)
    data.qvel[:] = rng.normal(size=mj.nv) * (seed > 0)
    data.act[:] = rng.normal(size=mj.na)
    data.ctrl[:] = 3 * rng.normal(size=mj.nu)
    return data


# A torque at its limit counts as limited here; in MuJoCo rounding decides, so that its derivative is not compared.
@pytest.mark.parametrize(
    "kind, integrator",
    [
        ("pid", "implicitfast"),
        pytest.param("dcmotor", "implicit", marks=pytest.mark.slow),
        pytest.param("orientation", "Euler", marks=pytest.mark.slow),
    ],
)
def test_rollout_equals_oracle(kind, integrator):
    mj, m = _load(kind, integrator)
    theirs = [_start(mj, seed) for seed in range(STARTS)]
    ours = jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t) for t in theirs))

    def move(d, _):
        d = step(m, d)
        return d, {name: getattr(d, name) for name in FIELDS}

    _, trace = jax.jit(jax.vmap(lambda d: jax.lax.scan(move, d, None, STEPS)))(ours)
    for k in range(STEPS):
        for t in theirs:
            mujoco.mj_step(mj, t)
        for name in FIELDS:
            expected = np.stack([getattr(t, name) for t in theirs])
            assert error(trace[name][:, k], expected) < TIGHT, (k, name)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_of_forces_and_activations(kind):
    mj, m = _load(kind)
    data = _start(mj, 1)
    mujoco.mj_forward(mj, data)
    d, rng = put_data(mj, data), np.random.default_rng(0)
    direction = {name: rng.normal(size=getattr(d, name).shape) for name in ("actuator_length", "actuator_velocity")}
    direction |= {name: rng.normal(size=getattr(d, name).shape) for name in ("act", "ctrl")}

    def made(x):
        scaled = m.replace(actuator_gainprm=m.actuator_gainprm * (1 + x), actuator_dynprm=m.actuator_dynprm * (1 + x))
        out = fwd_actuation(scaled, d.replace(**{n: getattr(d, n) + x * u for n, u in direction.items()}))
        after = next_activation(scaled, out, out.act_dot)
        return jnp.sum(jnp.sin(out.actuator_force)) + jnp.sum(jnp.sin(after))

    slope, made = jax.jit(jax.grad(made))(0.0), jax.jit(made)
    assert error(slope, (made(1e-6) - made(-1e-6)) / 2e-6) < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_at_rest_is_finite(kind):
    mj, m = _load(kind)
    d = make_data(m)
    gradient = jax.jit(jax.grad(lambda d: jnp.sum(fwd_actuation(m, d).actuator_force), allow_int=True))(d)
    for name in ("act", "ctrl", "actuator_length", "actuator_velocity"):
        assert np.isfinite(getattr(gradient, name)).all(), name


def test_disabled_group_keeps_its_activations():
    xml = (MODELS / "actuator_dcmotor.xml").read_text().replace('timestep="0.005"', 'actuatorgroupdisable="0"')
    mj = mujoco.MjModel.from_xml_string(xml)
    m, d = put_model(mj), put_data(mj, _start(mj, 2))
    out = fwd_actuation(m, d)
    assert error(next_activation(m, out, out.act_dot), d.act) == 0 and not np.any(out.actuator_force)


def test_activation_cannot_appear():
    _, m = _load("dcmotor")
    with pytest.raises(ModelError, match='active=."actuator_dynprm"'):
        m.replace(actuator_dynprm=m.actuator_dynprm.at[0, 0].set(0.1))


def test_user_dynamics_with_several_activations():
    xml = """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
      <actuator><general joint="j" dyntype="user" actdim="3" actlimited="true" actrange="-1 1"/>
      <general joint="j" dyntype="user" actdim="1"/><general joint="j" dyntype="filter" dynprm=".1"/></actuator>
      </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    hooks = Hooks(act_dyn=lambda m, d, i: jnp.array([1.0, 2.0, 400.0]) * d.ctrl[0] if i == 0 else -d.act[3])
    m = put_model(mj, hooks=hooks)
    d = make_data(m).replace(act=jnp.array([0.1, 0.2, 0.3, 0.4, 0.5]), ctrl=jnp.array([1.0, 0.0, 0.0]))
    out = fwd_actuation(m, d)
    assert error(out.act_dot, [1, 2, 400, -0.4, -5]) < 1e-15
    assert error(out.actuator_force, [0.3, 0.4, 0.5]) < 1e-15
    after = next_activation(m, out, out.act_dot)
    assert error(after, [0.102, 0.204, 1.0, 0.4 - 0.0008, 0.5 - 0.01]) < 1e-15
