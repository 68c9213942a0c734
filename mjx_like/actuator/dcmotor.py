"""DC motors: windings, on-board controller, heat, cogging and LuGre friction.

Parameters: see `mjcf.dcmotor`. The voltage that the controller asks for makes its torque in spite of the back-EMF.
Source: actuator/dcmotor of the XML reference; mj_fwdActuation of MuJoCo 4.0.0, by experiment.
"""

import jax
import jax.numpy as jnp

from mjx_like.actuator.servo import bounded_integral, inputs, integral_rate, slewed
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import ControllerGroup

Array = jax.Array


def rates(m: Model, d: Data, ctrl: Array, g: ControllerGroup) -> dict[str, Array]:
    """Return the rates of the activations by name, shapes (k,).

    ctrl: clamped controls, shape (nu,). Reads act, actuator_length, actuator_velocity.
    """
    dyn, gain, out = take(m.actuator_dynprm, g.ids), take(m.actuator_gainprm, g.ids), {}
    length, velocity = _motion(m, d, g)
    given, act = _inputs(m, d, ctrl, g), {name: take(d.act, at) for name, at in g.slots.items()}
    if "slew" in act:
        out["slew"] = safe.ratio(given[next(iter(g.inputs))] - act["slew"], m.opt.timestep)
    if "integral" in act:
        out["integral"] = integral_rate(given["pos"] - length, act["integral"], dyn[:, 8])
    voltage, resistance, constant = _voltage(m, d, ctrl, g), _resistance(m, d, g), gain[:, 1]
    steady = safe.ratio(voltage - constant * velocity, jnp.maximum(MINVAL, resistance))
    if "temperature" in act:
        current = act.get("current", steady)
        loss = safe.ratio(act["temperature"], dyn[:, 2])
        out["temperature"] = safe.ratio(resistance * current * current - loss, dyn[:, 3])
    if "bristle" in act:
        out["bristle"] = _relaxation(m, d, g) * act["bristle"] + velocity
    if "current" in act:
        change, limit = safe.ratio(steady - act["current"], dyn[:, 0]), dyn[:, 1]
        out["current"] = jnp.where(limit > 0, safe.clip(change, -limit, limit), change)
    return out


def advanced(m: Model, d: Data, g: ControllerGroup, act_dot: Array) -> dict[str, Array]:
    """Return the activations one time step later by name; current and bristle by the exact solution.

    Reads act, actuator_velocity.
    """
    h, dyn, out = m.opt.timestep, take(m.actuator_dynprm, g.ids), {}
    for name, at in g.slots.items():
        act, rate = take(d.act, at), take(act_dot, at)
        span = h
        if name == "current":
            span = dyn[:, 0] * -jnp.expm1(safe.ratio(-h, jnp.maximum(MINVAL, dyn[:, 0])))
        if name == "bristle":
            slope = _relaxation(m, d, g)
            grown = jnp.expm1(slope * h)
            span = jnp.where(jnp.abs(slope) > MINVAL, safe.divide(grown, slope), h)
        out[name] = act + span * rate
    if "integral" in out:
        at = g.slots["integral"]
        out["integral"] = bounded_integral(take(d.act, at), out["integral"], take(act_dot, at), dyn[:, 8])
    return out


def force(m: Model, d: Data, ctrl: Array, g: ControllerGroup, act_dot: Array) -> Array:
    """Return the electromagnetic forces, shape (k,) [N or N m], not limited: the current times the motor constant.

    Reads act, actuator_length, actuator_velocity.
    """
    constant = take(m.actuator_gainprm, g.ids)[:, 1]
    if "current" in g.slots:
        return constant * advanced(m, d, g, act_dot)["current"]
    _, velocity = _motion(m, d, g)
    drive = _voltage(m, d, ctrl, g) - constant * velocity
    return safe.ratio(constant, jnp.maximum(MINVAL, _resistance(m, d, g))) * drive


def friction(m: Model, d: Data, g: ControllerGroup, act_dot: Array) -> Array:
    """Return cogging and LuGre friction, shape (k,) [N or N m], which no limit of the force bounds.

    Reads act, actuator_length.
    """
    bias, dyn = take(m.actuator_biasprm, g.ids), take(m.actuator_dynprm, g.ids)
    length, _ = _motion(m, d, g)
    total = bias[:, 0] * jnp.sin(bias[:, 1] * length + bias[:, 2])
    if "bristle" in g.slots:
        at = g.slots["bristle"]
        total = total - dyn[:, 5] * take(d.act, at) - dyn[:, 6] * take(act_dot, at)
    return total


def _motion(m: Model, d: Data, g: ControllerGroup) -> tuple[Array, Array]:
    out = m.actuator_outadr[g.ids]
    return take(d.actuator_length, out), take(d.actuator_velocity, out)


def _inputs(m: Model, d: Data, ctrl: Array, g: ControllerGroup) -> dict[str, Array]:
    """Return the inputs; the rate of the first one is limited."""
    given = inputs(g, ctrl)
    if "slew" in g.slots:
        first, before = next(iter(g.inputs)), take(d.act, g.slots["slew"])
        given[first] = slewed(m, given[first], before, take(m.actuator_dynprm, g.ids)[:, 7])
    return given


def _voltage(m: Model, d: Data, ctrl: Array, g: ControllerGroup) -> Array:
    """Return the voltage at the terminals, shape (k,) [V]."""
    given, gain = _inputs(m, d, ctrl, g), take(m.actuator_gainprm, g.ids)
    if not g.inputs.keys() - {"voltage"}:
        return given["voltage"]
    length, velocity = _motion(m, d, g)
    torque = gain[:, 4] * (given["pos"] - length) + gain[:, 6] * (given["vel"] - velocity) + given["ff"]
    if "integral" in g.slots:
        torque = torque + gain[:, 5] * take(d.act, g.slots["integral"])
    drive = safe.divide(_resistance(m, d, g), gain[:, 1]) * torque + gain[:, 1] * velocity
    limit = gain[:, 7]
    return jnp.where(limit > 0, safe.clip(drive, -limit, limit), drive) + given["voltage"]


def _resistance(m: Model, d: Data, g: ControllerGroup) -> Array:
    """Return the resistance at the temperature of the windings, shape (k,) [Ohm]."""
    gain = take(m.actuator_gainprm, g.ids)
    if "temperature" not in g.slots:
        return gain[:, 0]
    warm = take(d.act, g.slots["temperature"]) + take(m.actuator_dynprm, g.ids)[:, 4] - gain[:, 3]
    return gain[:, 0] * (1 + gain[:, 2] * warm)


def _relaxation(m: Model, d: Data, g: ControllerGroup) -> Array:
    """Return the rate at which bristles relax, shape (k,) [1/s], never positive.

    Friction falls from its static value to that of Coulomb over the Stribeck velocity.
    """
    bias, (_, velocity) = take(m.actuator_biasprm, g.ids), _motion(m, d, g)
    ratio = safe.ratio(velocity, jnp.maximum(MINVAL, bias[:, 5]))
    level = bias[:, 3] + (bias[:, 4] - bias[:, 3]) * jnp.exp(-ratio * ratio)
    return -safe.ratio(take(m.actuator_dynprm, g.ids)[:, 5] * jnp.abs(velocity), jnp.maximum(MINVAL, level))
