"""Rods: bending and torsion records of flexes of dimension 1 with elasticity."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.mjcf.flexcomp.rod_chain import clamped_edges, open_chain, twist_names
from mjx_like.types.enums import JointType, ObjType

_STRAIGHT = 1e-4  # a vertex bent by less at qpos0 has no curvature of its own [rad]


def rod_state(flex: Any, columns: Mapping[str, Any]) -> int:
    """Return the number of state variables of a rod's reference frames; 0 without twist joints."""
    if flex.dim != 1 or flex.elasticity["young"] <= 0 or flex.rigid or not flex.twisted:
        return 0
    nedge = len(flex.edges)
    return 6 * nedge + nedge - 1


def rod_records(ctx: Context, flex: Any, columns: Mapping[str, Any]) -> np.ndarray:
    """Return the number of records and the records of a rod, ten numbers each; nothing if no vertex joins two edges.

    A hinge is [v0, v1, v2, -1, k1, k2 - k1, curvature, joint, kt, b]; a pair of curved vertices without twist joints
    [v0, v1, v2, v3, k of v1, k of v2, curvature of v1, curvature of v2, kt cos, kt sin] of the angle between the
    planes in which they bend.

    Raises:
      ModelError: a box section without twist joints, or some of them missing.
    Source: XML reference, flex elasticity; mjModel's flex_bending.
    """
    chain = open_chain(flex.elem)
    joints = _twist_joints(ctx, flex, chain, columns)
    flex.twisted = joints is not None
    if joints is None and flex.elasticity["section"] == "box":
        raise flex.element.error("a box section needs an open rod with the joints of its twist, as flexcomp makes them")
    if joints is not None:
        hinges = [(chain[i - 1], chain[i], chain[i + 1]) for i in range(1, len(chain) - 1)]
        records = [_hinge(flex, hinge, joint) for hinge, joint in zip(hinges, joints[1:], strict=True)]
    else:
        records = _free_records(flex)
    return np.concatenate([[len(records)], *records]) if records else np.zeros(0)


def _twist_joints(ctx: Context, flex: Any, chain: np.ndarray | None, columns: Mapping[str, Any]) -> list[int] | None:
    """Ids of the joints of the edges along the chain, -1 where an edge is clamped; None if there are none."""
    name = flex.element.get("name", "")
    if chain is None or not name:
        return None
    body = flex.vertbody[chain]
    clamped = clamped_edges_of(body)
    known = ctx.names.lists.get(ObjType.JOINT, ())
    names = twist_names(name, len(clamped))
    found = [known.index(joint) if joint in known else -1 for joint in names]
    if all(joint < 0 for joint in found):
        return None
    for joint, omitted, wanted in zip(found, clamped, names, strict=True):
        if joint < 0 and not omitted:
            raise flex.element.error(f"has twist joints, but not '{wanted}'")
        if joint >= 0 and columns["jnt_type"][joint] != JointType.HINGE:
            raise flex.element.error(f"twist joint '{wanted}' must be a hinge")
    return [-1 if omitted else joint for joint, omitted in zip(found, clamped, strict=True)]


def clamped_edges_of(body: np.ndarray) -> np.ndarray:
    """Return which edges of a chain are clamped, from the bodies of its vertices in order."""
    fixed = np.zeros(len(body), bool)
    fixed[:2] = body[0] == body[1]
    if body[-1] == body[-2]:
        fixed[-2:] = True
    return clamped_edges(fixed)


def _section(flex: Any) -> tuple[float, float, float, float]:
    """Second moments of area, weak axis first, torsional constant [m^4], and signed smaller half-size of a box [m]."""
    if flex.elasticity["section"] == "circle":
        moment = np.pi * flex.radius**4 / 4
        return moment, moment, 2 * moment, 0.0
    first, second = flex.elasticity["sectionsize"]
    small, large = min(first, second), max(first, second)
    ratio = small / large
    torsion = large * small**3 * (16 / 3 - 3.36 * ratio * (1 - ratio**4 / 12))
    return 4 * large * small**3 / 3, 4 * small * large**3 / 3, torsion, small if first >= second else -small


def _shear(flex: Any) -> float:
    e = flex.elasticity
    return e["shear"] if e["shear"] > 0 else e["young"] / (2 * (1 + e["poisson"]))


def _bend(flex: Any, v0: int, v1: int, v2: int) -> tuple[np.ndarray, float, float]:
    """Curvature binormal of a vertex at qpos0, zero where it is straight, its norm, and the length of its edges."""
    first, second = flex.xvert[v1] - flex.xvert[v0], flex.xvert[v2] - flex.xvert[v1]
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    if min(lengths) == 0:
        raise flex.element.error(f"vertices {v0}, {v1}, {v2} of a rod must be apart")
    cross, dot = np.cross(first, second), first @ second
    if np.arctan2(np.linalg.norm(cross), dot) <= _STRAIGHT:
        return np.zeros(3), 0.0, sum(lengths)
    if lengths[0] * lengths[1] + dot <= 0:
        raise flex.element.error(f"vertex {v1} of a rod is folded back")
    curvature = 2 * cross / (lengths[0] * lengths[1] + dot)
    return curvature, float(np.linalg.norm(curvature)), sum(lengths)


def _hinge(flex: Any, vertices: tuple[int, int, int], joint: int) -> np.ndarray:
    weak, strong, torsion, half = _section(flex)
    _, curvature, length = _bend(flex, *vertices)
    young = flex.elasticity["young"]
    k = young * weak / length, young * (strong - weak) / length
    return np.array([*vertices, -1, *k, curvature, joint, _shear(flex) * torsion / length, half])


def _free_records(flex: Any) -> list[np.ndarray]:
    """Records of a rod without twist joints: pairs of curved vertices on each edge, then the other hinges."""
    neighbours: dict[int, list[int]] = {}
    for a, b in flex.edges.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    hinges = {v: tuple(n) for v, n in sorted(neighbours.items()) if len(n) == 2}
    bends = {v: _bend(flex, n[0], v, n[1]) for v, n in hinges.items()}
    curved = {v for v, (_, norm, _) in bends.items() if norm > 0}
    pairs = [(a, b) for a, b in flex.edges.tolist() if a in curved and b in curved]
    share = {v: sum(v in pair for pair in pairs) for v in curved}
    stiffness = {v: flex.elasticity["young"] * _section(flex)[0] / bends[v][2] for v in hinges}
    records = [_pair(flex, a, b, hinges, bends, [stiffness[v] / share[v] for v in (a, b)]) for a, b in pairs]
    paired = {v for pair in pairs for v in pair}
    return records + [_hinge(flex, (n[0], v, n[1]), -1) for v, n in hinges.items() if v not in paired]


def _pair(flex: Any, a: int, b: int, hinges, bends, stiffness: list[float]) -> np.ndarray:
    before = next(v for v in hinges[a] if v != b)
    after = next(v for v in hinges[b] if v != a)
    x = flex.xvert
    edge = x[b] - x[a]
    length = np.linalg.norm(edge)
    first, second = np.cross(x[a] - x[before], edge), np.cross(edge, x[after] - x[b])
    first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
    torsion = _shear(flex) * _section(flex)[2] / (2 * length)
    rotation = torsion * (first @ second), torsion * (np.cross(first, second) @ edge) / length
    return np.array([before, a, b, after, *stiffness, bends[a][1], bends[b][1], *rotation])
