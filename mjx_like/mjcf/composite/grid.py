"""Composites of free particles: type particle, and type grid, which ties them by tendons."""

from itertools import product

import numpy as np

from mjx_like.mjcf.composite.plan import Plan, has
from mjx_like.mjcf.composite.skin import block_skin, sheet_skin, surface_skin
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexcomp.shapes import sheet

_EDGE_GROUP = 4


def particle(plan: Plan) -> list[Element]:
    """Bodies of a particle system; faces of a surface become tendons of constant length.

    Raises ModelError for faces that name points which do not exist.
    """
    point, names = plan.vertex, None
    if point is None:
        index = list(product(*map(range, plan.count)))
        point = (plan.spacing * (np.array(index) - 0.5 * plan.count)).astype(np.float32)
        names = [f"B{i}_{j}_{k}" for i, j, k in index]
    face, dim = _faces(plan, len(point))
    bodies = []
    for i, pos in enumerate(point.astype(float)):
        joints = [plan.made("joint", dict(one)) for one in plan.joints["particle"]]
        if not has(plan, "joint", "particle"):
            joints = plan.slides()
        parts = [*joints, plan.a_geom(), plan.a_site(f"S{i}", type="sphere")]
        bodies.append(plan.body(names[i] if names else f"B{i}", plan.offset + pos, parts))
    if dim == 2:
        ends = np.sort(face[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        for i, j in np.unique(ends, axis=0):
            plan.add_tendon(f"T{i}_{j}", (f"S{i}", f"S{j}"), group=_EDGE_GROUP)
    _particle_skin(plan, face, dim, named=names is None)
    return bodies


def _faces(plan: Plan, npoint: int) -> tuple[np.ndarray, int]:
    """Triangles as point numbers, shape (n, 3), and the dimension of what they make."""
    if "face" in plan.element.attrib:
        face = np.asarray(plan.element.get("face"), int) - 1
        if len(face) % 3:
            raise plan.element.error("face must have three numbers a triangle")
        if len(face) and (face.min() < 0 or face.max() >= npoint):
            raise plan.element.error(f"face must name points from 1 to {npoint}")
        return face.reshape(-1, 3), 2
    flat = plan.dim == 2
    return (sheet(plan.count, np.ones(3)).element if flat else np.zeros((0, 3), int)), plan.dim


def _particle_skin(plan: Plan, face: np.ndarray, dim: int, named: bool) -> None:
    if plan.skin is None or dim < 2:
        return
    if dim == 3:
        block_skin(plan)
    elif named:
        surface_skin(plan, face)
    else:
        sheet_skin(plan, plan.skin["inflate"], [f"B{i}_{j}_0" for i, j in product(*map(range, plan.count[:2]))])


def grid(plan: Plan) -> list[Element]:
    """Bodies of a grid in one or two dimensions, with tendons between neighbours.

    Raises ModelError for a grid in three dimensions, and for shear or a skin of one that is not in two.
    """
    if plan.dim > 2:
        raise plan.element.error("a grid must have one or two dimensions")
    shear = has(plan, "tendon", "shear")
    if shear and plan.dim != 2:
        raise plan.element.error("tendons of kind shear need a grid of two dimensions")
    if plan.skin is not None and plan.dim != 2:
        raise plan.element.error("a skin needs a grid of two dimensions")
    nx, ny = plan.count[:2]
    bodies, names = [], []
    for i, j in product(range(nx), range(ny)):
        shift = plan.spacing * (np.array([i, j]) - 0.5 * plan.count[:2])
        pos = plan.offset + np.array([*shift, 0.0])
        parts = [plan.a_geom(name=f"{plan.prefix}G{i}_{j}", type="sphere"), plan.a_site(f"S{i}_{j}", type="sphere")]
        joints = [] if (i, j) in plan.pins else plan.slides(f"J{{}}_{i}_{j}")
        names.append(f"B{i}_{j}")
        bodies.append(plan.body(names[-1], pos, joints + parts))
    for axis, (di, dj) in enumerate(((1, 0), (0, 1))):
        for i, j in product(range(nx - di), range(ny - dj)):
            plan.add_tendon(f"T{axis}_{i}_{j}", (f"S{i}_{j}", f"S{i + di}_{j + dj}"))
    if shear:
        for i, j in product(range(nx - 1), range(ny - 1)):
            plan.add_tendon(f"TS{i}_{j}", (f"S{i}_{j}", f"S{i + 1}_{j + 1}"), kind="shear")
    if plan.skin is not None:
        sheet_skin(plan, plan.skin["inflate"], names)
    return bodies
