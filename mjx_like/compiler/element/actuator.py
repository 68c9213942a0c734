"""Actuators: transmission, input and output blocks, activation, parameters."""

from typing import NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Columns, Row
from mjx_like.compiler.context import Context, choice, numbers
from mjx_like.compiler.element.actuator_law import Laws, activations, check_law, check_target, laws_of
from mjx_like.compiler.plugin.registry import pid_states
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import (
    BiasType,
    CtrlChart,
    CtrlInput,
    DynType,
    GainType,
    JointType,
    Limited,
    ObjType,
    TrnType,
    WrapType,
)  # fmt: skip

_TARGETS = (
    ("joint", TrnType.JOINT, ObjType.JOINT), ("jointinparent", TrnType.JOINTINPARENT, ObjType.JOINT),
    ("tendon", TrnType.TENDON, ObjType.TENDON), ("cranksite", TrnType.SLIDERCRANK, ObjType.SITE),
    ("site", TrnType.SITE, ObjType.SITE), ("body", TrnType.BODY, ObjType.BODY),
)  # fmt: skip
_SETPOINTS = {CtrlInput.POS: "ctrlrange", CtrlInput.VEL: "velrange", CtrlInput.FF: "ffrange"}


class Actuator(NamedTuple):
    """A compiled actuator."""

    row: Row
    inputs: list[tuple[bool, np.ndarray]]  # whether each is limited, and its range
    outputs: int
    gear: np.ndarray  # of every output
    lengthrange: np.ndarray  # of every output


def compile_actuator(ctx: Context, element: Element, columns: Columns) -> Actuator:
    """Return an actuator, without addresses.

    Args:
      columns: columns of the joints and tendons, by field name.

    Raises:
      ModelError: a bad transmission, range, activation or muscle.
    Source: mjCActuator::Compile.
    """
    a = ctx.spec.resolve(element)
    laws = laws_of(a)
    trntype, trnid = _transmission(ctx, element, a)
    check_target(element, a, laws.gaintype, trntype, trnid, columns.get("jnt_type", ()))
    if trntype == TrnType.TENDON and a["armature"]:
        _check_wraps(element, trnid[0], columns)
    if laws.gaintype == GainType.SO3:
        trntype = TrnType.SO3
    ranges = {name: a[name] for name in ("ctrlrange", "forcerange", "actrange", "velrange", "ffrange")}
    _inherit_range(element, a, laws, trntype, trnid[0], ranges, columns)
    if laws.gaintype == GainType.MUSCLE:
        _check_muscle(element, a["gainprm"])
    if laws.biastype == BiasType.MUSCLE:
        _check_muscle(element, a["biasprm"])
    limited = {what: _is_limited(ctx, element, a, what, ranges[what + "range"]) for what in ("force", "act")}
    if limited["act"] and laws.dyntype == DynType.NONE:
        raise element.error("actrange is given, but the actuator has no activation (dyntype none)")
    ctrlspec, inputs = _inputs(ctx, element, a, laws.gaintype, ranges)
    plugin = element.tag == "plugin"
    actnum = _plugin_activations(ctx, element, a, laws.dyntype) if plugin else activations(element, a, laws)
    check_law(element, a, laws, actnum, ctrlspec, limited["force"])
    _check_history(element, a, inputs)
    row = {
        "actuator_trntype": int(trntype),
        **{f"actuator_{name}": int(kind) for name, kind in laws._asdict().items()},
        "actuator_trnid": trnid,
        "actuator_actnum": actnum,
        "actuator_group": a["group"],
        "actuator_ctrlspec": int(ctrlspec),
        "actuator_delay": a["delay"],
        "actuator_history": (a["nsample"], keywords.INTERP[a["interp"]]),
        "actuator_actlimited": limited["act"],
        "actuator_actearly": a["actearly"],
        "actuator_cranklength": a["cranklength"],
        "actuator_damping": a["damping"][0],
        "actuator_dampingpoly": a["damping"][1:],
        "actuator_armature": a["armature"],
        "actuator_dynprm": a["dynprm"],
        "actuator_gainprm": a["gainprm"],
        "actuator_biasprm": a["biasprm"],
        "actuator_actrange": ranges["actrange"],
        "actuator_forcelimited": limited["force"],
        "actuator_forcerange": ranges["forcerange"],
        "actuator_user": ctx.user_data(element, a, "nuser_actuator"),
    }
    return Actuator(row, inputs, 3 if trntype == TrnType.SO3 else 1, a["gear"], a["lengthrange"])


def place_actuators(actuators: list[Actuator], historyadr: int) -> tuple[dict[str, list], int]:
    """Return the columns of the inputs and outputs of all actuators and the end of their history buffers.

    The addresses of inputs, outputs, activations and histories are written into their rows.
    """
    columns: dict[str, list] = {
        "actuator_ctrllimited": [], "actuator_ctrlrange": [], "actuator_gear": [], "actuator_lengthrange": [],
    }  # fmt: skip
    act = 0
    for row, inputs, outputs, gear, lengthrange in actuators:
        row["actuator_ctrladr"], row["actuator_ctrlnum"] = len(columns["actuator_ctrllimited"]), len(inputs)
        row["actuator_outadr"], row["actuator_outnum"] = len(columns["actuator_gear"]), outputs
        row["actuator_actadr"] = act if row["actuator_actnum"] else -1
        act += row["actuator_actnum"]
        columns["actuator_ctrllimited"] += [limited for limited, _ in inputs]
        columns["actuator_ctrlrange"] += [limits for _, limits in inputs]
        columns["actuator_gear"] += [gear] * outputs
        columns["actuator_lengthrange"] += [lengthrange] * outputs
        nsample = row["actuator_history"][0]
        row["actuator_historyadr"] = historyadr if nsample > 0 else -1
        if nsample > 0:
            historyadr += 2 + nsample * (1 + len(inputs))
    return columns, historyadr


def _transmission(ctx: Context, element: Element, a) -> tuple[TrnType, tuple[int, int]]:
    given = [entry for entry in _TARGETS if a.get(entry[0])]
    if not given:
        raise element.error("has no transmission target; give joint, jointinparent, tendon, site, cranksite or body")
    attribute, trntype, kind = given[-1]
    target, other = ctx.names.find(kind, a[attribute], element, attribute), -1
    slider, reference = a.get("slidersite"), a.get("refsite")
    if trntype == TrnType.SLIDERCRANK:
        other = ctx.names.find(ObjType.SITE, slider, element, "slidersite")
        if a["cranklength"] <= 0:
            raise element.error("cranklength must be positive")
    elif slider or element.get("cranklength") is not None:
        raise element.error("cranklength and slidersite belong to a slider-crank; give cranksite")
    if reference and trntype != TrnType.SITE:
        raise element.error("refsite belongs to a site transmission; give site")
    if reference:
        other = ctx.names.find(ObjType.SITE, reference, element, "refsite")
    return trntype, (target, other)


def _check_wraps(element: Element, tendon: int, columns: Columns) -> None:
    """Raise ModelError for armature on a tendon that wraps around geoms."""
    start, count = columns["tendon_adr"][tendon], columns["tendon_num"][tendon]
    if {WrapType.SPHERE, WrapType.CYLINDER} & set(columns["wrap_type"][start : start + count]):
        raise element.error("armature on a tendon that wraps around geoms is not possible; give it to a joint")


def _plugin_activations(ctx: Context, element: Element, a, dynamics: DynType) -> int:
    """The number of activations of an actuator with a plugin: those of the plugin, then that of its dyntype."""
    filtered = dynamics not in (DynType.NONE, DynType.USER)
    need = pid_states(ctx.spec, element) + filtered
    given = a["actdim"] if a["actdim"] >= 0 else int(filtered)
    if given != need:
        raise element.error(f"has actdim {given}, but plugin and dyntype make {need} activations; give actdim {need}")
    return need


def _inherit_range(element: Element, a, laws: Laws, trntype, target: int, ranges, columns: Columns) -> None:
    share = a["inheritrange"]
    if share <= 0:
        return
    servo = laws.gaintype == GainType.PID or (
        laws.gaintype == GainType.FIXED and laws.biastype == BiasType.AFFINE and a["gainprm"][0] == -a["biasprm"][1]
    )
    if not servo:
        return
    if laws.dyntype in (DynType.NONE, DynType.FILTEREXACT, DynType.PID):
        name = "ctrlrange"
    elif laws.dyntype == DynType.INTEGRATOR:
        name = "actrange"
    else:
        raise element.error("inheritrange is only for position and intvelocity actuators")
    if trntype == TrnType.JOINT:
        if columns["jnt_type"][target] not in (JointType.HINGE, JointType.SLIDE):
            raise element.error("inheritrange needs a hinge or slide joint")
        limits = columns["jnt_range"][target]
    elif trntype == TrnType.TENDON:
        limits = columns["tendon_range"][target]
    else:
        raise element.error("inheritrange needs a joint or tendon transmission")
    if limits[0] == limits[1]:
        raise element.error("inheritrange is given, but its target has no range")
    mean, radius = (limits[0] + limits[1]) / 2, (limits[1] - limits[0]) / 2 * share
    ranges[name] = np.array([mean - radius, mean + radius])


def _is_limited(ctx: Context, element: Element, a, what: str, limits: np.ndarray) -> bool:
    """Whether force or activation is limited.

    Raises:
      ModelError: it is, by a range that is empty.
    """
    limited = ctx.limited(element, choice(a[what + "limited"]), limits, what + "range")
    if limited and limits[0] >= limits[1]:
        raise element.error(f"{what}range {numbers(limits)}: the first value must be the smaller")
    return limited


def _check_history(element: Element, a, inputs: list) -> None:
    """Raise ModelError for a delay without a buffer, or a buffer of nothing."""
    if a["delay"] > 0 and a["nsample"] <= 0:
        raise element.error("a delay needs a history buffer; give nsample")
    if a["nsample"] > 0 and not inputs:
        raise element.error("nsample needs an input")


def _check_muscle(element: Element, prm: np.ndarray) -> None:
    if prm[0] >= prm[1]:
        raise element.error(f"muscle range {numbers(prm[:2])}: the first value must be the smaller")
    if prm[4] >= 1 or prm[5] <= 1:
        raise element.error("a muscle needs lmin < 1 < lmax")
    if prm[3] <= 0 or (prm[6:9] <= 0).any():
        raise element.error("scale, vmax, fpmax and fvmax of a muscle must be positive")


def _inputs(ctx: Context, element: Element, a, gaintype: GainType, ranges) -> tuple[int, list]:
    """The input signature, and for each input whether it is limited and its range."""
    spec = a["ctrlspec"]
    if gaintype == GainType.SO3:
        spec = spec or int(CtrlChart.EXPMAP)
        names = ["ctrlrange"] * (3 if spec == CtrlChart.EXPMAP else 4)
    elif gaintype == GainType.PID:
        spec = spec or int(CtrlInput.POS | CtrlInput.VEL)
        names = [name for bit, name in _SETPOINTS.items() if spec & bit]
    elif gaintype == GainType.DCMOTOR:
        spec = spec or int(CtrlInput.VOLTAGE)
        names = ["ctrlrange"] * (spec & ~CtrlInput.NONE).bit_count()
    else:
        names = ["ctrlrange"]
    parts = [(name, ranges[name]) for name in names]
    inputs = []
    selected, limits = choice(a["ctrllimited"]), ranges["ctrlrange"]
    if selected == Limited.TRUE and limits[0] >= limits[1]:
        raise element.error(f"ctrlrange {numbers(limits)}: the first value must be the smaller")
    for name, limits in parts:
        limited = ctx.limited(element, selected if name == "ctrlrange" else Limited.AUTO, limits, name)
        inputs.append((limited, limits))
    return spec, inputs
