"""One time step: forward dynamics, then integration."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MAXVAL
from mjx_like.forward import all_sensors, forward_acceleration, forward_from, forward_motion
from mjx_like.integrator.euler import euler
from mjx_like.integrator.rk4 import rk4
from mjx_like.integrator.table import Advance, integrator_of
from mjx_like.inverse import compare_fwd_inv
from mjx_like.smoothing import straight_through
from mjx_like.state.initial import initial_state
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, EnableBit, WarningType
from mjx_like.types.model import Model
from mjx_like.worlds import one_world

Array = jax.Array


def rungekutta4(m: Model, d: Data) -> Data:
    """Return `d` one time step later by the Runge-Kutta method of fourth order.  Source: mj_RungeKutta."""
    return rk4(m, d, _without_sensors)


def _without_sensors(m: Model, d: Data) -> Data:
    return forward_from(m, d, skip_sensor=True)


def step(m: Model, d: Data) -> Data:
    """Return `d` one time step later; derived fields are those of the step's start, as MuJoCo leaves them.

    With Runge-Kutta sensors are those of the start, and what forward dynamics derive is that of the last stage.

    A state or acceleration that is not finite, or above MAXVAL, raises its counter in `warning` and resets the world
    to qpos0, unless the flag `autoreset` is off. A bad acceleration leaves the world there at the end of the step,
    while MuJoCo makes the step anew from qpos0.

    Raises:
      InputError: `d` is not one world of `m`.
    Source: mj_step.
    """
    one_world("step", m, d)
    return straight_through(_step, m, d)


def _step(m: Model, d: Data) -> Data:
    d, row = _check_state(m, d), integrator_of(m)
    if row.advance is not None:
        return _advance(m, _compared(m, forward_from(m, d)), row.advance)
    first, *ends = row.in_stages.stages(m, d, _without_sensors)
    return _advance(m, _compared(m, all_sensors(m, first)), lambda m, d: row.in_stages.finish(m, d, first, *ends))


def step1(m: Model, d: Data) -> Data:
    """Return `d` with all that depends on position and velocity, before controls are set.  Source: mj_step1."""
    one_world("step1", m, d)
    return forward_motion(m, _check_state(m, d))


def step2(m: Model, d: Data) -> Data:
    """Return `d` one time step later, after `step1` and new controls; RK4 is replaced by Euler.  Source: mj_step2."""
    one_world("step2", m, d, rows=True)
    d = _compared(m, forward_acceleration(m, d))
    return _advance(m, d, integrator_of(m).advance or euler)


def _compared(m: Model, d: Data) -> Data:
    return compare_fwd_inv(m, d) if m.enabled(EnableBit.FWDINV) else d


def _advance(m: Model, d: Data, integrator: Advance) -> Data:
    bad = _bad(d.qacc)
    d = integrator(m, _warn(d, {WarningType.BADQACC: bad}))
    return d if m.disabled(DisableBit.AUTORESET) else _reset(m, d, bad)


def _check_state(m: Model, d: Data) -> Data:
    pos, vel = _bad(d.qpos), _bad(d.qvel)
    if m.disabled(DisableBit.AUTORESET):
        return _warn(d, {WarningType.BADQPOS: pos, WarningType.BADQVEL: vel})
    d = _warn(d, {WarningType.BADQPOS: pos, WarningType.BADQVEL: vel & ~pos})  # the reset comes before velocities
    return _reset(m, d, pos | vel)


def _bad(value: Array) -> Array:
    return ~jnp.all(jnp.abs(value) < MAXVAL)


def _warn(d: Data, found: dict[WarningType, Array]) -> Data:
    """Return `d` with the counters of the warnings found raised."""
    kind = np.arange(d.warning.shape[-1])
    raised = sum((kind == int(name)) * bad.astype(d.warning.dtype) for name, bad in found.items())
    return d.replace(warning=d.warning + raised)


def _reset(m: Model, d: Data, bad: Array) -> Data:
    """Return `d` with state and inputs of `make_data` where `bad`; counters stay.  Source: mj_resetData."""
    return d.replace(**{n: jnp.where(bad, fresh, getattr(d, n)) for n, fresh in initial_state(m).items()})
