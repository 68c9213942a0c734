"""The shortcuts one by one: what each inherits from a record, its documented defaults, what it writes.

Source: mjs_setToMotor, mjs_setToPosition and their like; mjXShortcutFromActuator, mjXShortcutDefaults.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mjx_like.mjcf.actuator.dcmotor import dcmotor, read_dcmotor
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.actuator import NBIAS, NDYN, NGAIN

Record = dict[str, Any]
Parameters = dict[str, Any]

MUSCLE = ("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax")
MUSCLE_DEFAULTS = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
MUSCLE_TIMECONST = (0.01, 0.04)


def damping(record: Record) -> Parameters:
    """kv or dampratio, told apart by the sign of biasprm[2]."""
    value = record["biasprm"][2]
    return {"kv": -value} if value < 0 else {"dampratio": value} if value > 0 else {}


def read_servo(record: Record) -> Parameters:
    timeconst = {"timeconst": record["dynprm"][0]} if record["dyntype"] == "filterexact" else {}
    return {"kp": record["gainprm"][0], "inheritrange": record["inheritrange"]} | damping(record) | timeconst


def read_pid(record: Record) -> Parameters:
    return {
        "kp": -record["biasprm"][1],
        "ki": record["gainprm"][0],
        "imax": record["dynprm"][0],
        "slewmax": record["dynprm"][1],
        "inheritrange": record["inheritrange"],
    } | damping(record)


def read_muscle(record: Record) -> Parameters:
    gain, dynamics = record["gainprm"], record["dynprm"]
    named = dict(zip(MUSCLE, gain[2:9], strict=True))
    return {"timeconst": dynamics[:2], "tausmooth": dynamics[2], "range": gain[:2]} | named


READ: dict[str, Callable[[Record], Parameters]] = {
    "motor": lambda record: {},
    "position": read_servo,
    "intvelocity": read_servo,
    "orientation": lambda record: {"kp": record["gainprm"][0]} | damping(record),
    "pid": read_pid,
    "velocity": lambda record: {"kv": record["gainprm"][0]},
    "damper": lambda record: {"kv": -record["gainprm"][2]},
    "cylinder": lambda record: {
        "timeconst": record["dynprm"][0],
        "area": record["gainprm"][0],
        "bias": record["biasprm"][:3],
    },
    "muscle": read_muscle,
    "adhesion": lambda record: {"gain": record["gainprm"][0]},
    "dcmotor": read_dcmotor,
}

DEFAULTS: dict[str, Parameters] = {
    "motor": {},
    "position": {"kp": 1.0, "inheritrange": 0.0},
    "intvelocity": {"kp": 1.0, "inheritrange": 0.0},
    "orientation": {"kp": 1.0},
    "pid": {"kp": 1.0, "ki": 0.0, "imax": 0.0, "slewmax": 0.0, "inheritrange": 0.0},
    "velocity": {"kv": 1.0},
    "damper": {"kv": 0.0},
    "cylinder": {"timeconst": 1.0, "area": 1.0, "bias": np.zeros(3)},
    "muscle": {"timeconst": np.array(MUSCLE_TIMECONST), "tausmooth": 0.0, "range": np.array(MUSCLE_DEFAULTS[:2])}
    | dict(zip(MUSCLE, MUSCLE_DEFAULTS[2:], strict=True)),
    "adhesion": {"gain": 1.0},
    "dcmotor": {},
}


def vector(size: int, *leading: float) -> np.ndarray:
    """Parameter vector that begins with the given numbers."""
    return np.array([*leading, *[0.0] * (size - len(leading))])


def reset(record: Record) -> None:
    """Undo gain, bias, dynamics and activation layout."""
    record.update(
        gaintype="fixed",
        biastype="none",
        dyntype="none",
        gainprm=vector(NGAIN, 1.0),
        biasprm=vector(NBIAS),
        dynprm=vector(NDYN, 1.0),
        actdim=-1,
        actearly=False,
        actlimited="auto",
        ctrlspec=0,
    )


def not_negative(element: Element, p: Parameters, *names: str) -> None:
    for name in names:
        if p.get(name, 0.0) < 0:
            raise element.error(f"attribute '{name}' is {p[name]}, must not be negative")


def feedback(element: Element, p: Parameters) -> np.ndarray:
    """biasprm of a servo: [0, -kp, -kv], or [0, -kp, +dampratio]."""
    not_negative(element, p, "kv", "dampratio")
    return vector(NBIAS, 0.0, -p["kp"], p["dampratio"] if "dampratio" in p else -p.get("kv", 0.0))


def inherit_range(element: Element, record: Record, p: Parameters, target: str, *names: str) -> None:
    """Note that a range is to come from the joint or tendon; what the element says itself drops what it inherits.

    target: field of the range.
    names: attributes that give the range.
    """
    given = any(name in element.attrib for name in names)
    asked = "inheritrange" in element.attrib
    if asked and not given and p["inheritrange"] > 0:
        record[target] = np.zeros(2)
    record["inheritrange"] = 0.0 if given and not asked else p["inheritrange"]
    if record["inheritrange"] > 0 and record[target].any():
        raise element.error(f"attributes '{names[-1]}' and 'inheritrange' exclude one another")


def position(element: Element, record: Record, p: Parameters) -> None:
    servo(element, record, p)
    inherit_range(element, record, p, "ctrlrange", "ctrlrange")
    record["ctrlspec"] = k.INPUT_BIT["pos"]


def intvelocity(element: Element, record: Record, p: Parameters) -> None:
    servo(element, record, p)
    inherit_range(element, record, p, "actrange", "actrange")
    record.update(dyntype="integrator", ctrlspec=k.INPUT_BIT["vel"])


def servo(element: Element, record: Record, p: Parameters) -> None:
    """Position feedback, with a filter if there is a time constant."""
    not_negative(element, p, "timeconst")
    record.update(gainprm=vector(NGAIN, p["kp"]), biasprm=feedback(element, p), biastype="affine")
    if "timeconst" in p:
        record["dynprm"] = vector(NDYN, p["timeconst"])
        record["dyntype"] = "filterexact" if p["timeconst"] > 0 else "none"


def orientation(element: Element, record: Record, p: Parameters) -> None:
    record.update(gaintype="so3", biastype="so3", gainprm=vector(NGAIN, p["kp"]), biasprm=feedback(element, p))
    record["ctrlspec"] = p["ctrlspec"]


def pid(element: Element, record: Record, p: Parameters) -> None:
    not_negative(element, p, "slewmax", "ki")
    record.update(gaintype="pid", biastype="affine", biasprm=feedback(element, p), ctrlspec=p["ctrlspec"])
    record.update(gainprm=vector(NGAIN, p["ki"]), dynprm=vector(NDYN, p["imax"] if p["ki"] else 0.0, p["slewmax"]))
    record["dyntype"] = "pid" if p["ki"] or p["slewmax"] > 0 else "none"
    inherit_range(element, record, p, "ctrlrange", "ctrlrange", "posrange")


def velocity(element: Element, record: Record, p: Parameters) -> None:
    record.update(biastype="affine", gainprm=vector(NGAIN, p["kv"]), biasprm=vector(NBIAS, 0.0, 0.0, -p["kv"]))
    record["ctrlspec"] = k.INPUT_BIT["vel"]


def one_sided(element: Element, record: Record) -> None:
    """Limit the control, which must not be negative."""
    record["ctrllimited"] = "true"
    if (record["ctrlrange"] < 0).any():
        raise element.error(f"attribute 'ctrlrange' has a negative number, which a {element.tag} may not")


def damper(element: Element, record: Record, p: Parameters) -> None:
    not_negative(element, p, "kv")
    record.update(gaintype="affine", gainprm=vector(NGAIN, 0.0, 0.0, -p["kv"]))
    one_sided(element, record)


def cylinder(element: Element, record: Record, p: Parameters) -> None:
    diameter = p.get("diameter", -1.0)
    area = np.pi / 4 * diameter * diameter if diameter >= 0 else p["area"]
    record.update(dyntype="filter", biastype="affine", ctrlspec=k.INPUT_BIT["pressure"])
    record.update(dynprm=vector(NDYN, p["timeconst"]), gainprm=vector(NGAIN, area), biasprm=vector(NBIAS, *p["bias"]))


def muscle(element: Element, record: Record, p: Parameters) -> None:
    not_negative(element, p, "tausmooth")
    given = [*p["range"], *(p[name] for name in MUSCLE)]
    force = [own if own >= 0 else default for own, default in zip(given, MUSCLE_DEFAULTS, strict=True)]
    time = [own if own >= 0 else default for own, default in zip(p["timeconst"], MUSCLE_TIMECONST, strict=True)]
    record.update(gaintype="muscle", biastype="muscle", dyntype="muscle")
    record.update(gainprm=vector(NGAIN, *force), biasprm=vector(NBIAS, *force))
    record["dynprm"] = vector(NDYN, *time, p["tausmooth"])


def adhesion(element: Element, record: Record, p: Parameters) -> None:
    not_negative(element, p, "gain")
    record["gainprm"] = vector(NGAIN, p["gain"])
    one_sided(element, record)


WRITE: dict[str, Callable[[Element, Record, Parameters], None]] = {
    "motor": lambda element, record, p: None,
    "position": position,
    "velocity": velocity,
    "intvelocity": intvelocity,
    "orientation": orientation,
    "pid": pid,
    "damper": damper,
    "cylinder": cylinder,
    "muscle": muscle,
    "adhesion": adhesion,
    "dcmotor": dcmotor,
}
