"""Composites in one dimension: type cable along a curve, and type loop."""

import math
import re

import numpy as np

from mjx_like.mjcf.composite.plan import Plan, has
from mjx_like.mjcf.composite.skin import cable_skin
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import IDENTITY, normalized, quat_from_mat, quat_mul, rotate
from mjx_like.mjcf.reading.xml import MAX_DEPTH

_CONJUGATE = np.array([1.0, -1, -1, -1])
_CURVES = ("s", "cos(s)", "sin(s)", "0")
_RESTLESS = ("damping", "armature", "frictionloss")  # what a free joint at the start has none of


def cable(plan: Plan) -> list[Element]:
    """The first body of a cable; the others are its descendants.

    Raises ModelError for a cable that is not in one dimension, or has a curve that is not known.
    """
    if plan.dim != 1:
        raise plan.element.error("a cable must have one dimension")
    if plan.count[0] > MAX_DEPTH // 2:
        raise plan.element.error(f"a cable has at most {MAX_DEPTH // 2} points")
    point = plan.vertex if plan.vertex is not None else _curve(plan)
    text = {"name": f"composite_{plan.prefix}", "data": f"rope_{plan.prefix}"}
    plan.add("custom", plan.made("text", text))
    edge = np.diff(point, axis=0).astype(float)
    length = [math.sqrt(one @ one) for one in edge]
    quats = _frames(edge)
    number = len(edge)
    names = [_label(i, number) for i in range(number)]
    for this, other in zip(names, names[1:], strict=False):
        plan.exclude(f"B_{this}", f"B_{other}")
    inner: list[Element] = []
    for i in reversed(range(number)):
        first, last = i == 0, i == number - 1
        parts = _joint(plan, f"J_{names[i]}", first) + [_geom(plan, i, length[i])]
        if first or last:
            pos = np.array([length[i] if last else 0.0, 0, 0])
            parts.append(plan.a_site(f"S_{names[i]}", pos=pos, quat=IDENTITY))
        if plan.plugin:
            parts.append(plan.made("plugin", {"instance": plan.plugin}))
        pos = plan.offset + point[0].astype(float) if first else np.array([length[i - 1], 0, 0])
        quat = quats[0] if first else quat_mul(quats[i - 1] * _CONJUGATE, quats[i])
        inner = [plan.body(f"B_{names[i]}", pos, parts + inner, quat=quat)]
    if plan.geom["type"] == "box":
        cable_skin(plan)
    return inner


def _label(i: int, number: int) -> str:
    return "first" if i == 0 else "last" if i == number - 1 else str(i)


def _curve(plan: Plan) -> np.ndarray:
    """Points of the curve that the attributes curve and size give, single precision, shape (n, 3)."""
    words = plan.element.get("curve", "").split()
    if not words:
        raise plan.element.error("a cable needs attribute 'curve' or 'vertex'")
    if len(words) > 3:
        raise plan.element.error(f"attribute 'curve' has {len(words)} words, needs at most 3")
    for word in words:
        if word not in _CURVES:
            raise plan.element.error(f"attribute 'curve' has '{word}', needs words out of: {', '.join(_CURVES)}")
    size, n = plan.size, int(plan.count[0])
    at = {
        "s": lambda i: i * size[0] / (n - 1),
        "cos(s)": lambda i: size[1] * math.cos(math.pi * i * size[2] / (n - 1)),
        "sin(s)": lambda i: size[1] * math.sin(math.pi * i * size[2] / (n - 1)),
        "0": lambda i: 0.0,
    }
    words += ["0"] * (3 - len(words))
    return np.array([[at[word](i) for word in words] for i in range(n)], np.float32)


def _frames(edge: np.ndarray) -> list[np.ndarray]:
    """Orientations of the edges: a frame carried along without twist.  Source: mjuu_updateFrame."""
    tangent = [normalized(one)[0] for one in edge]
    after = tangent[1] if len(tangent) > 1 else np.zeros(3)
    binormal = normalized(np.cross(tangent[0], after))[0]
    normal = normalized(np.cross(binormal, tangent[0]))[0]
    quats = [quat_from_mat(np.stack([tangent[0], normal, binormal], axis=1))]
    for before, this in zip(tangent, tangent[1:], strict=False):
        axis, sine = normalized(np.cross(before, this))
        half = math.atan2(sine, before @ this) / 2
        rotation = np.array([math.cos(half), *(math.sin(half) * axis)])
        normal = normalized(rotate(rotation, normal))[0]
        binormal = normalized(np.cross(this, normal))[0]
        quats.append(quat_from_mat(np.stack([this, normal, binormal], axis=1)))
    return quats


def _geom(plan: Plan, i: int, length: float) -> Element:
    name = f"{plan.prefix}G{i}"
    if plan.geom["type"] == "box":
        half = length / 2
        size = np.array([half, *plan.geom.get("size", np.zeros(3))[1:]])
        return plan.a_geom(name=name, pos=np.array([half, 0, 0]), size=size)
    return plan.a_geom(name=name, fromto=np.array([0.0, 0, 0, length, 0, 0]))


def _joint(plan: Plan, name: str, first: bool) -> list[Element]:
    initial = plan.element.get("initial", "ball")
    if first and initial == "none":
        return []
    attrib = {"name": plan.prefix + name, "type": "ball"}
    if first and initial == "free":
        attrib |= {"type": "free"} | {one: np.zeros(3) if one == "damping" else 0.0 for one in _RESTLESS}
    return [plan.a_joint(**attrib)]


def loop(plan: Plan) -> list[Element]:
    """What the body around a loop holds: its geom, and the bodies to either side of it.

    Raises ModelError for a loop that is not in one dimension, or whose body is not named after one of its points.
    """
    error, count = plan.element.error, int(plan.count[0])
    if plan.dim != 1:
        raise error("a loop must have one dimension")
    if count > MAX_DEPTH // 2:
        raise error(f"a loop has at most {MAX_DEPTH // 2} points")
    name, start = plan.owner.get("name", ""), f"{plan.prefix}B"
    if not name.startswith(start):
        raise error(f"the name of the body around it must begin with '{start}', is '{name}'")
    found = re.match(r"\s*[+-]?\d+", name[len(start) :])
    if found is None:
        raise error(f"the name of the body around it must have a number after '{start}', is '{name}'")
    origin = int(found[0])
    if not 0 <= origin < count:
        raise error(f"the number in the name of the body around it must be from 0 to {count - 1}, is {origin}")
    right = _chain(plan, range(origin + 1, count), 1)
    left = _chain(plan, range(origin - 1, -1, -1), -1)
    anchor = np.array([-0.5 * plan.spacing, 0, 0])
    ends = {"body1": f"{plan.prefix}B0", "body2": f"{plan.prefix}B{count - 1}", "anchor": anchor}
    plan.add_equality("connect", plan.smooth, **ends)
    plan.exclude("B0", f"B{count - 1}")
    return [_bead(plan, origin), *right, *left]


def _bead(plan: Plan, i: int) -> Element:
    half = math.sqrt(0.5)
    return plan.a_geom(name=f"{plan.prefix}G{i}", pos=np.zeros(3), quat=np.array([half, 0, half, 0]))


def _chain(plan: Plan, points: range, step: int) -> list[Element]:
    """The first body of one side of a loop, which holds the next, and so on."""
    half = math.pi / plan.count[0]
    radius = 0.5 * plan.spacing * math.sin(math.pi - 2 * half) / math.sin(half)
    pos = np.array([step * radius * math.cos(half), radius * math.sin(half), 0])
    quat = np.array([math.cos(half), 0, 0, step * math.sin(half)])
    rows = [(i, _joints(plan, i, step)) for i in points]
    for _, joints in rows:
        for joint in joints[2:]:
            plan.add_equality("joint", plan.fix["joint"], joint1=joint.get("name"))
    inner: list[Element] = []
    for i, joints in reversed(rows):
        inner = [plan.body(f"B{i}", pos, [*joints, _bead(plan, i), *inner], quat=quat)]
    return inner


def _joints(plan: Plan, i: int, step: int) -> list[Element]:
    """Two bending joints, then those for twist and stretch if the loop has any."""
    pos = np.array([-0.5 * step * plan.spacing, 0, 0])
    x, y, z = np.eye(3)
    found = [
        plan.a_joint(name=f"{plan.prefix}J{k}_{i}", type="hinge", pos=pos, axis=axis) for k, axis in enumerate((y, z))
    ]
    for kind, label, joint in (("twist", "JT", "hinge"), ("stretch", "JS", "slide")):
        if has(plan, "joint", kind):
            found.append(plan.a_joint(kind, name=f"{plan.prefix}{label}{i}", type=joint, pos=pos, axis=x))
    return found
