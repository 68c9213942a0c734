"""Actuator shortcuts: motor, position, ... written into the record of a general actuator.

A default class has one actuator record, whatever tag wrote it. A shortcut takes its own parameters (kp, kv, ...) from
the nearest class, its own first, whose record was written by the same shortcut, or by general with the shortcut's gain
type; else the documented defaults apply. It then resets gain, bias, dynamics and activation layout and writes its own.
Source: mjXReader::OneActuator, mjs_setToMotor and its like; documents: modeling, actuator shortcuts.
"""

import numpy as np

from mjx_like.mjcf.actuator.shortcut import DEFAULTS, READ, WRITE, Parameters, Record, reset
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.actuator import GENERAL, SHORTCUTS, TARGETS
from mjx_like.types.enums import TrnType

TRANSMISSIONS = {
    "joint": TrnType.JOINT,
    "jointinparent": TrnType.JOINTINPARENT,
    "tendon": TrnType.TENDON,
    "cranksite": TrnType.SLIDERCRANK,
    "site": TrnType.SITE,
    "body": TrnType.BODY,
}
INPUTS = k.INPUT_CHART | k.INPUT_NONE
GAIN_OF_SHORTCUT = {
    "damper": "affine",
    "muscle": "muscle",
    "dcmotor": "dcmotor",
    "pid": "pid",
    "orientation": "so3",
}


def input_spec(element: Element, inherited: int) -> int:
    """Bits of the controls that an actuator takes, or the number of its chart."""
    given = element.get("input")
    if given is None:
        return inherited
    return sum(INPUTS.get(word, k.INPUT_BIT.get(word, 0)) for word in given)


def inherits(record: Record, tag: str) -> bool:
    """Whether a shortcut takes its parameters from a record."""
    if record["shortcut"] == tag:
        return True
    return record["shortcut"] == "general" and record["gaintype"] == GAIN_OF_SHORTCUT.get(tag, "fixed")


def parameters(inherited: Record, element: Element, ancestors: list[Record]) -> Parameters:
    """A shortcut's parameters: inherited or documented, overlaid by the element's own."""
    tag = element.tag
    source = next((record for record in (inherited, *ancestors) if inherits(record, tag)), None)
    p = dict(DEFAULTS[tag] if source is None else READ[tag](source))
    p["ctrlspec"] = input_spec(element, 0 if source is None else source["ctrlspec"])
    if "kv" in element.attrib and "dampratio" in element.attrib:
        raise element.error("attributes 'kv' and 'dampratio' exclude one another")
    if "kv" in element.attrib or "dampratio" in element.attrib:
        p.pop("kv", None)
        p.pop("dampratio", None)
    own = {name: value for name, value in element.attrib.items() if name in SHORTCUTS[tag]}
    for name, value in own.items():
        old = p.get(name)
        partial = isinstance(value, np.ndarray) and isinstance(old, np.ndarray) and len(value) < len(old)
        p[name] = np.concatenate([value, old[len(value) :]]) if partial else value
    return p


def apply_actuator(inherited: Record, element: Element, ancestors: list[Record]) -> Record:
    """Record of a general actuator after an actuator element of any tag was written over an inherited record.

    inherited: record of the element's class.
    ancestors: records of the classes above it, nearest first.
    Raises ModelError for parameters that contradict one another.
    """
    record = dict(inherited)
    for name, value in element.attrib.items():
        if name in GENERAL and name != "input":
            old = record.get(name)
            partial = isinstance(value, np.ndarray) and GENERAL[name].most is not None and len(value) < len(old)
            record[name] = np.concatenate([value, old[len(value) :]]) if partial else value
    transmission(element, record)
    if element.tag == "general":
        changed = record["gaintype"] != inherited["gaintype"]
        record["ctrlspec"] = input_spec(element, 0 if changed else record["ctrlspec"])
    if element.tag not in WRITE:
        record["shortcut"] = "general"
        return record | {name: element.attrib[name] for name in ("plugin", "instance") if name in element.attrib}
    p = parameters(inherited, element, ancestors)
    if "posrange" in element.attrib:
        record["ctrlrange"] = element.attrib["posrange"]
    reset(record)
    WRITE[element.tag](element, record, p)
    record["shortcut"] = element.tag
    return record


def transmission(element: Element, record: Record) -> None:
    """Note what an actuator acts on; of several targets the last of the list wins."""
    given = [name for name in TARGETS if name in element.attrib]
    kind = TRANSMISSIONS[given[-1]] if given else TrnType.UNDEFINED
    record["trntype"] = int(kind)
    if given:
        record["target"] = element.attrib[given[-1]]
    for names, wanted, word in (
        (("cranklength", "slidersite"), TrnType.SLIDERCRANK, "cranksite"),
        (("refsite",), TrnType.SITE, "site"),
    ):
        for name in names:
            if name in element.attrib and kind not in (wanted, TrnType.UNDEFINED):
                raise element.error(f"attribute '{name}' goes only with attribute '{word}' as the target")
