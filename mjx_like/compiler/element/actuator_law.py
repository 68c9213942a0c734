"""Gain, bias and dynamics of an actuator: which go together, and how many activations they make.

Source: mjCActuator::Compile; the conditions were found by trial on MuJoCo 4.0.0.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mjx_like.compiler.context import keyword
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import BiasType, CtrlChart, CtrlInput, DynType, GainType, JointType, TrnType

_POLICIES = (DynType.USER, DynType.PID, DynType.DCMOTOR)
_SETPOINTS = CtrlInput.POS | CtrlInput.VEL | CtrlInput.FF
_SCALARS = (CtrlInput.POS, CtrlInput.VEL, CtrlInput.PRESSURE)
_DRIVES = (TrnType.JOINT, TrnType.JOINTINPARENT, TrnType.TENDON)


class Laws(NamedTuple):
    """Dynamics, gain and bias of an actuator, each by the attribute that names it."""

    dyntype: DynType
    gaintype: GainType
    biastype: BiasType


def laws_of(a: Mapping[str, Any]) -> Laws:
    """Return the laws that resolved attributes name."""
    return Laws(*(kind(keyword(kind, a[name])) for name, kind in Laws.__annotations__.items()))


def activations(element: Element, a: Mapping[str, Any], laws: Laws) -> int:
    """Return the number of activations of an actuator.

    Args:
      a: its resolved attributes.

    Raises:
      ModelError: an actdim that its type does not have.
    """
    dynamics, gain, _ = laws
    actdim, own = a["actdim"], _states(a, dynamics, gain)
    if actdim < 0:
        return own
    if gain == GainType.SO3 and dynamics == DynType.INTEGRATOR and actdim != 3:
        raise element.error(f"actdim {actdim}: the setpoint of gaintype so3 has 3 numbers")
    if actdim > 1 and dynamics not in _POLICIES and gain != GainType.SO3:
        raise element.error(f"actdim {actdim} is only for dyntype user, pid or dcmotor")
    if actdim == 1 and dynamics == DynType.NONE:
        raise element.error("actdim 1 in an actuator without activation")
    if actdim == 0 and dynamics not in (DynType.NONE, DynType.DCMOTOR):
        raise element.error("actdim 0 in an actuator with activation")
    if dynamics in (DynType.PID, DynType.DCMOTOR) and actdim != own:
        raise element.error(f"actdim {actdim}, but its parameters make {own} activations; leave actdim away")
    return actdim


def _states(a: Mapping[str, Any], dynamics: DynType, gain: GainType) -> int:
    prm, gainprm = a["dynprm"], a["gainprm"]
    if dynamics == DynType.PID:
        return int(prm[1] > 0) + int(gainprm[0] != 0)
    if dynamics == DynType.DCMOTOR:
        return motor_states(a)
    if gain == GainType.SO3 and dynamics == DynType.INTEGRATOR:
        return 3
    return int(dynamics != DynType.NONE)


def motor_states(a: Mapping[str, Any]) -> int:
    """Return the number of states that the parameters of a DC motor make: current, slew, integral, heat, bristle."""
    prm, gainprm = a["dynprm"], a["gainprm"]
    return sum(bool(on) for on in (prm[0] > 0, prm[7] > 0, gainprm[5] != 0, prm[2] > 0, prm[5] > 0))


def check_law(
    element: Element, a: Mapping[str, Any], laws: Laws, actnum: int, ctrlspec: int, force_limited: bool
) -> None:
    """Raise ModelError for gain, bias, dynamics and inputs that do not go together."""
    dynamics, gain, bias = laws
    if (gain == GainType.SO3) != (bias == BiasType.SO3):
        raise element.error("gaintype and biastype must both be so3, or neither")
    if dynamics == DynType.PID and gain != GainType.PID:
        raise element.error("dyntype pid needs gaintype pid")
    if dynamics == DynType.DCMOTOR and not a["actearly"]:
        raise element.error("dyntype dcmotor needs actearly 'true'")
    if gain == GainType.SO3:
        _check_so3(element, a, dynamics, ctrlspec, force_limited)
    elif gain == GainType.PID:
        _check_pid(element, a, bias, dynamics, ctrlspec)
    elif gain == GainType.DCMOTOR:
        _check_dcmotor(element, a, actnum, ctrlspec)
    elif gain in (GainType.FIXED, GainType.AFFINE):
        if ctrlspec not in (0, *_SCALARS):
            raise element.error("fixed and affine gains take one input: pos, vel or pressure")
    elif ctrlspec:
        raise element.error("input is not for muscle and user gains")


def _check_so3(element: Element, a: Mapping[str, Any], dynamics: DynType, ctrlspec: int, force_limited: bool) -> None:
    if dynamics not in (DynType.NONE, DynType.INTEGRATOR):
        raise element.error("gaintype so3 needs dyntype none or integrator")
    if a["gainprm"][0] != -a["biasprm"][1]:
        raise element.error("gaintype so3 needs biasprm[1] to be -gainprm[0]")
    if ctrlspec not in (CtrlChart.EXPMAP, CtrlChart.QUAT):
        raise element.error("gaintype so3 needs input expmap or quat")
    if ctrlspec == CtrlChart.QUAT and dynamics != DynType.NONE:
        raise element.error("input quat needs dyntype none")
    if force_limited and a["forcerange"][0] != 0:
        raise element.error("its forcerange bounds the norm of the force; the first value must be 0")


def _check_pid(element: Element, a: Mapping[str, Any], bias: BiasType, dynamics: DynType, ctrlspec: int) -> None:
    prm, integral = a["dynprm"], a["gainprm"][0]
    if bias != BiasType.AFFINE:
        raise element.error("gaintype pid needs biastype affine")
    if dynamics not in (DynType.NONE, DynType.PID):
        raise element.error("gaintype pid needs dyntype none or pid")
    if integral and dynamics == DynType.NONE:
        raise element.error("an integral gain, gainprm[0], needs dyntype pid")
    if ctrlspec & ~_SETPOINTS:
        raise element.error("inputs of a pid are some of pos, vel, ff")
    if dynamics == DynType.PID:
        if prm[0] < 0:
            raise element.error(f"imax {prm[0]:g} must not be negative")
        if prm[1] < 0:
            raise element.error(f"slewmax {prm[1]:g} must not be negative")
        if not ctrlspec & CtrlInput.POS:
            raise element.error("an integral gain or slewmax needs input pos")
        if not (integral or prm[1]):
            raise element.error("dyntype pid needs an integral gain, gainprm[0], or slewmax, dynprm[1]")


def _check_dcmotor(element: Element, a: Mapping[str, Any], actnum: int, ctrlspec: int) -> None:
    gain, setpoint = a["gainprm"], ctrlspec & _SETPOINTS
    if ctrlspec & CtrlInput.PRESSURE:
        raise element.error("inputs of a dcmotor are none, or some of pos, vel, ff and voltage")
    if not setpoint and (gain[4:7] != 0).any():
        raise element.error("gains of the controller need an input pos, vel or ff")
    if not setpoint and a["dynprm"][7] > 0:
        raise element.error("a slew rate needs an input pos, vel or ff")
    if gain[5] and not ctrlspec & CtrlInput.POS:
        raise element.error("an integral gain needs input pos")
    if setpoint and gain[1] <= 0:
        raise element.error("inputs pos, vel and ff need a positive motor constant")
    if actnum != motor_states(a):
        raise element.error(f"its parameters make {motor_states(a)} activations; dyntype and actdim make {actnum}")


def check_target(
    element: Element,
    a: Mapping[str, Any],
    gain: GainType,
    trntype: TrnType,
    trnid: tuple[int, int],
    jnt_type: np.ndarray,
) -> None:
    """Raise ModelError for a target that the actuator's type, damping or armature cannot act on."""
    if gain == GainType.SO3:
        if trntype not in (TrnType.JOINT, TrnType.SITE):
            raise element.error("gaintype so3 needs a ball joint or a site as its target")
        if trntype == TrnType.JOINT and jnt_type[trnid[0]] != JointType.BALL:
            raise element.error("gaintype so3 needs a ball joint")
        if trntype == TrnType.SITE and trnid[1] < 0:
            raise element.error("gaintype so3 needs refsite beside site")
    if gain == GainType.PID and trntype == TrnType.BODY:
        raise element.error("gaintype pid cannot act on a body")
    for name in ("armature", "damping"):
        if trntype not in _DRIVES and np.any(a[name]):
            raise element.error(f"{name} needs a joint or tendon as its target")
