"""History buffers: delays of controls and sensors over a rollout, reading and filling them, against MuJoCo."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from mjx_like.state.history import init_ctrl_history, init_sensor_history, read_ctrl, read_sensor
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.models import HERE
from tests.support.oracle import TIGHT, error

MODEL = HERE / "features" / "delay.xml"
FIELDS = ("history", "sensordata", "actuator_force", "act", "qpos")
STEPS = 12


def _model(integrator: str = "Euler"):
    mj = mujoco.MjModel.from_xml_string(MODEL.read_text().replace("<option ", f'<option integrator="{integrator}" '))
    return mj, put_model(mj)


@functools.cache
def _rollout(integrator: str = "Euler"):
    """Return the oracle, its Data after STEPS random controls, ours, and both traces of FIELDS."""
    mj, m = _model(integrator)
    theirs, ctrl = mujoco.MjData(mj), np.random.default_rng(0).normal(size=(STEPS, mj.nu))
    expected = []
    for u in ctrl:
        theirs.ctrl[:] = u
        mujoco.mj_step(mj, theirs)
        expected.append({name: getattr(theirs, name).copy() for name in FIELDS})

    def advance(d, u):
        d = step(m, d.replace(ctrl=u))
        return d, {name: getattr(d, name) for name in FIELDS}

    ours, trace = jax.jit(lambda d, u: jax.lax.scan(advance, d, u))(make_data(m), ctrl)
    return mj, m, theirs, ours, expected, trace


def test_buffers_at_rest():
    mj, m = _model()
    assert error(make_data(m).history, mujoco.MjData(mj).history) < 1e-15


@pytest.mark.parametrize("name", FIELDS)
def test_rollout_equals_oracle(name):
    *_, expected, trace = _rollout()
    assert error(trace[name], np.stack([e[name] for e in expected])) < TIGHT


@pytest.mark.parametrize("interp", [-1, 0, 1, 2])
def test_reading_at_any_time(interp):
    mj, m, theirs, ours, *_ = _rollout()
    times = np.concatenate([np.linspace(-0.02, 0.2, 23), [0.05, 0.05 + 1e-16, 0.11]])
    for i in range(mj.nactuator):
        buffer = np.zeros(1)
        expected = [np.copy(_read(mujoco.mj_readCtrl, mj, theirs, i, t, buffer, interp)) for t in times]
        assert error(jax.vmap(lambda t: read_ctrl(m, ours, i, t, interp))(times), expected) < TIGHT  # noqa: B023
    for i in range(mj.nsensor):
        buffer = np.zeros(mj.sensor_dim[i])
        expected = [np.copy(_read(mujoco.mj_readSensor, mj, theirs, i, t, buffer, interp)) for t in times]
        assert error(jax.vmap(lambda t: read_sensor(m, ours, i, t, interp))(times), expected) < TIGHT  # noqa: B023


def _read(function, mj, data, index, time, buffer, interp):
    found = function(mj, data, index, time, buffer, interp)
    return buffer if found is None else found


@pytest.mark.slow
def test_times_out_of_order():
    """A sample at a time that is known replaces it; an older one is put in its place, or in that of the oldest."""
    mj, m = _model()
    theirs, ours, advance = mujoco.MjData(mj), make_data(m), jax.jit(step)
    for k, time in enumerate((0.0, 0.01, 0.01, 0.005, -5, 0.02, -0.03, -0.02, 0.004)):
        theirs.time, theirs.ctrl[:] = time, k
        mujoco.mj_step(mj, theirs)
        ours = advance(m, ours.replace(time=jnp.asarray(float(time)), ctrl=jnp.full(mj.nu, float(k))))
        assert error(ours.history, theirs.history) < TIGHT, time


@pytest.mark.slow
def test_rk4_reads_controls_at_the_times_of_its_stages():
    *_, expected, trace = _rollout("RK4")
    assert error(trace["qpos"], np.stack([e["qpos"] for e in expected])) < TIGHT


def test_filling_by_hand():
    mj, m, theirs, ours, *_ = _rollout()
    times, values = np.array([0.0, 0.1, 0.3, 0.4]), np.array([1.0, 2.0, 5.0, 3.0])
    mujoco.mj_initCtrlHistory(mj, theirs, 1, times, values)
    mujoco.mj_initSensorHistory(mj, theirs, 4, None, np.arange(12.0).reshape(3, 4), 0.2)
    ours = init_ctrl_history(m, ours, 1, times, values[:, None])
    ours = init_sensor_history(m, ours, 4, None, np.arange(12.0).reshape(3, 4), 0.2)
    assert error(ours.history, theirs.history) < 1e-15


def test_filling_errors():
    _, m, _, ours, *_ = _rollout()
    with pytest.raises(InputError, match="actuator 5 has no history buffer; give it nsample"):
        init_ctrl_history(m, ours, 5, None, np.zeros((1, 1)))
    with pytest.raises(InputError, match=r"need shapes \(\(3,\), \(3, 1\)\)"):
        init_sensor_history(m, ours, 0, None, np.zeros((2, 1)), 0)


@pytest.mark.slow
def test_gradient_in_delays_and_controls():
    _, m = _model()
    ctrl = np.random.default_rng(1).normal(size=(6, m.nu))

    def travelled(x):
        later = m.replace(actuator_delay=m.actuator_delay + x * np.array([0, 1, 1, 0, 0, 0, 0.0]))
        move = lambda d, u: (step(later, d.replace(ctrl=u)), d.sensordata)  # noqa: E731
        end, seen = jax.lax.scan(move, make_data(later), ctrl + x)
        return jnp.sum(end.qpos) + jnp.sum(jnp.sin(seen))

    slope, travelled = jax.jit(jax.grad(travelled))(0.0), jax.jit(travelled)
    assert abs(slope) > 1e-3
    assert error(slope, (travelled(1e-6) - travelled(-1e-6)) / 2e-6) < 1e-6
