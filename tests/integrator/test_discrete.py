"""The integrator `discrete`: steps, inverse dynamics and gradients; what it refuses."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import UnsupportedError
from mjx_like.forward import fwd_acceleration, fwd_constraint
from mjx_like.integrator.discrete import discrete_force
from mjx_like.interop import put_data, put_model
from mjx_like.state import make_data
from mjx_like.step import step
from tests.oracle import TIGHT, error, load

MODEL = pathlib.Path(__file__).parents[2] / "models/features/integrator_discrete.xml"
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


@pytest.mark.parametrize(
    "joint, option, message",
    [
        ('<joint limited="true" range="-1 1"/>', "", "is not built yet for models with constraints or contacts"),
        ("<joint/>", 'density="1"', "discrete is not built yet for models in a fluid"),
    ],
)
def test_what_is_not_built_is_named(joint, option, message):
    body = f'<body>{joint}<geom size="1"/></body>'
    _, m = load(f'<mujoco><option integrator="discrete" {option}/><worldbody>{body}</worldbody></mujoco>')
    with pytest.raises(UnsupportedError, match=message):
        make_data(m)
