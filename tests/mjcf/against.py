"""Compares resolved records with the oracle's uncompiled spec (mujoco.MjSpec), element by element."""

import mujoco
import numpy as np

from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import Spec

# Attribute -> field of the oracle's struct, where they differ.
FIELDS = {
    "joint": {
        "actuatorfrclimited": "actfrclimited",
        "actuatorfrcrange": "actfrcrange",
        "actuatorgravcomp": "actgravcomp",
        "solreflimit": "solref_limit",
        "solimplimit": "solimp_limit",
        "solreffriction": "solref_friction",
        "solimpfriction": "solimp_friction",
        "user": "userdata",
    },
    "geom": {
        "fluidcoef": "fluid_coefs",
        "fluidshape": "fluid_ellipsoid",
        "mesh": "meshname",
        "hfield": "hfieldname",
        "shellinertia": "typeinertia",
        "user": "userdata",
    },
    "camera": {
        "projection": "proj",
        "target": "targetbody",
        "focal": "focal_length",
        "focalpixel": "focal_pixel",
        "principal": "principal_length",
        "principalpixel": "principal_pixel",
        "sensorsize": "sensor_size",
        "user": "userdata",
    },
    "light": {"target": "targetbody"},
    "site": {"user": "userdata"},
    "pair": {"geom1": "geomname1", "geom2": "geomname2"},
    "actuator": {"user": "userdata"},
    "sensor": {"user": "userdata"},
    "body": {"user": "userdata"},
}
FIELDS["tendon"] = FIELDS["joint"]
FIELDS["freejoint"] = FIELDS["joint"]

# What the oracle keeps elsewhere than in a field of the same meaning.
ELSEWHERE = {
    "class",
    "childclass",
    "target",
    "axisangle",
    "xyaxes",
    "zaxis",
    "euler",
    "output",
    "joint",
    "jointinparent",
    "tendon",
    "cranksite",
    "site",
    "body",
    "shortcut",
    "texture",
    "textures",
}


def plain(value):
    """Value of the oracle as a number, text or array."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    if isinstance(value, np.ndarray):
        return np.asarray(value, dtype=np.float64)
    if isinstance(value, str | float | int | bool):
        return value
    try:
        return int(value)
    except (TypeError, ValueError):
        return np.asarray(list(value), dtype=np.float64)


def differences(kind: str, type_name: str, record: dict, theirs) -> list[str]:
    """Attributes of a record that are not the oracle's."""
    rows = ELEMENTS["general" if kind == "actuator" else type_name].attributes
    found = []
    for name, ours in record.items():
        field = FIELDS.get(kind, {}).get(name, name)
        if name in ELSEWHERE or not hasattr(theirs, field):
            continue
        row = rows.get(name)
        if row is not None and row.keywords and isinstance(ours, str):
            ours = row.keywords[ours]
        oracle = plain(getattr(theirs, field))
        same = ours == oracle if isinstance(ours, str) else np.allclose(ours, oracle, rtol=0, atol=0, equal_nan=True)
        if not same:
            found.append(f"{theirs.info} {type_name}.{name}: {ours} is not {oracle}")
    return found


def walk(parent, childclass=None):
    """(element, class that encloses it) of all in the tree, in document order."""
    for child in parent.children:
        yield child, childclass
        if child.tag in ("body", "frame"):
            yield from walk(child, child.get("childclass", childclass))


def compare(spec: Spec, oracle: mujoco.MjSpec) -> tuple[int, list[str]]:
    """How many records were compared, and where they differ. Elements are matched by their place in their section."""
    tree = list(walk(spec.worldbody))
    groups = {
        tag: ([pair for pair in tree if pair[0].tag == tag], getattr(oracle, f"{tag}s"))
        for tag in ("geom", "site", "camera", "light")
    }
    placed = [joint for joint in oracle.joints if joint.info]  # freejoints have no place
    groups["joint"] = ([pair for pair in tree if pair[0].tag == "joint"], placed)
    groups["body"] = ([pair for pair in tree if pair[0].tag == "body"], oracle.bodies[1:])
    for section in ("tendon", "actuator", "equality", "sensor"):
        theirs = getattr(oracle, "equalities" if section == "equality" else f"{section}s")
        groups[section] = ([(element, None) for element in spec.sections[section]], theirs)
    groups["pair"] = ([(element, None) for element in spec.sections["contact"] if element.tag == "pair"], oracle.pairs)
    count, found = 0, []
    for kind, (ours, theirs) in groups.items():
        assert len(ours) == len(theirs), f"{kind}: {len(ours)} elements, the oracle has {len(theirs)}"
        by_line = kind in ("geom", "site", "camera", "light", "joint", "body")
        if by_line:
            ours = sorted(ours, key=lambda pair: pair[0].where.line)
            theirs = sorted(theirs, key=lambda other: int(other.info.split()[-1]))
        for (element, childclass), other in zip(ours, theirs, strict=True):
            count += 1
            found += differences(kind, element.type, spec.resolve(element, childclass), other)
    return count, found
