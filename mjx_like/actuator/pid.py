"""PID controllers with position, velocity and feedforward inputs.

Parameters: gainprm ki; biasprm constant, -kp, -kv; dynprm limit of the integral, limit of the setpoint's rate.
Source: actuator/pid of the XML reference; mj_fwdActuation of MuJoCo 4.0.0, by experiment.
"""

import jax
import jax.numpy as jnp

from mjx_like.actuator.period import nearest, period
from mjx_like.actuator.servo import inputs, integral_rate, limited, slewed
from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import ControllerGroup

Array = jax.Array


def rates(m: Model, d: Data, ctrl: Array, g: ControllerGroup) -> dict[str, Array]:
    """Return the rates of the activations by name, shapes (k,): the effective setpoint and the integral.

    ctrl: clamped controls, shape (nu,). Reads act, actuator_length.
    """
    length = take(d.actuator_length, m.actuator_outadr[g.ids])
    setpoint, out = _setpoint(m, d, ctrl, g), {}
    if "slew" in g.slots:
        out["slew"] = safe.ratio(setpoint - take(d.act, g.slots["slew"]), m.opt.timestep)
    if "integral" in g.slots:
        error = nearest(setpoint, length, take(period(m), g.ids)) - length
        limit = take(m.actuator_dynprm, g.ids)[:, 0]
        out["integral"] = integral_rate(error, take(d.act, g.slots["integral"]), limit)
    return out


def advanced(m: Model, d: Data, g: ControllerGroup, act_dot: Array) -> dict[str, Array]:
    """Return the activations one time step later by name, shapes (k,).  Reads act."""
    h = m.opt.timestep
    return {name: limited(m, g.ids, take(d.act, at) + h * take(act_dot, at)) for name, at in g.slots.items()}


def force(m: Model, d: Data, ctrl: Array, g: ControllerGroup, act_dot: Array) -> Array:
    """Return the forces, shape (k,) [N or N m], not limited.

    Reads act, actuator_length, actuator_velocity.
    """
    out = m.actuator_outadr[g.ids]
    length, velocity = take(d.actuator_length, out), take(d.actuator_velocity, out)
    bias, given = take(m.actuator_biasprm, g.ids), inputs(g, ctrl)
    setpoint = nearest(_setpoint(m, d, ctrl, g), length, take(period(m), g.ids))
    total = bias[:, 0] - bias[:, 1] * (setpoint - length) - bias[:, 2] * (given["vel"] - velocity) + given["ff"]
    if "integral" in g.slots:
        early = m.actuator_actearly[g.ids]
        stored = take(d.act, g.slots["integral"])
        state = jnp.where(early, advanced(m, d, g, act_dot)["integral"], stored) if early.any() else stored
        total = total + take(m.actuator_gainprm, g.ids)[:, 0] * state
    return total


def _setpoint(m: Model, d: Data, ctrl: Array, g: ControllerGroup) -> Array:
    """Return the position setpoints after the limit of their rate, shape (k,)."""
    given = inputs(g, ctrl)["pos"]
    if "slew" not in g.slots:
        return given
    before, limit = take(d.act, g.slots["slew"]), take(m.actuator_dynprm, g.ids)[:, 1]
    return slewed(m, nearest(given, before, take(period(m), g.ids)), before, limit)
