"""Flexes: their vertices, elements, edges and shell, and the tables of all of them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.arrays import DECLARED, Row, stack
from mjx_like.compiler.context import Context
from mjx_like.compiler.flex.bending import edge_flaps, hinge_stiffness
from mjx_like.compiler.flex.cell import vertex_cells
from mjx_like.compiler.flex.element import Flex, read_flex
from mjx_like.compiler.flex.interpolated import cell_stiffness
from mjx_like.compiler.flex.rod import rod_records, rod_state
from mjx_like.compiler.flex.stretching import stretch_stiffness
from mjx_like.compiler.pose import compose
from mjx_like.compiler.tree import Body
from mjx_like.constants import MINVAL
from mjx_like.mjcf.schema.keywords import FLEX_SELF
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType

_FACES = {1: ((0,), (1,)), 2: ((0, 1), (2, 0), (1, 2)), 3: ((0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2))}


def compile_flexes(
    ctx: Context, bodies: list[Body], elements: list[Element], columns: Mapping[str, Any], plastic: int
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the columns of all flexes, and the sizes nflex and what their rows do not tell.

    Args:
      bodies: the compiled tree.
      elements: the flex elements, generated ones included.
      columns: those of the tree and of the equalities.
      plastic: number of plastic state variables before those of the flexes.

    Raises:
      ModelError: anything wrong with a flex.
    Source: mjCFlex::Compile, mjCModel::CopyObjects.
    """
    poses = _world_poses(bodies)
    strained = {e.get("flex") for e in ctx.spec.sections["equality"] if e.tag == "flexstrain"}
    constrained = {e.get("flex") for e in ctx.spec.sections["equality"] if e.tag == "flex"}
    rows: list[Row] = []
    parts: list[dict[str, Any]] = []
    at = dict.fromkeys(_PARTS, 0)
    for element in elements:
        flex = read_flex(ctx, element, poses, strained)
        if (flex.strained or element.get("name") in constrained) and _resists_stretch(flex):
            raise element.error("equality constraints and young exclude one another; elastic2d bend goes with both")
        part, row = _parts(ctx, flex, bodies, columns)
        equality = 1 if element.get("name") in constrained else 3 if flex.strained else 0
        state = rod_state(flex, columns) + _plastic_size(flex)
        row |= {"flex_edgeequality": equality, "flex_plasticadr": plastic if state else -1}
        plastic += state
        row |= _addresses(part, at, flex.dim)
        for name in _PARTS:
            at[name] += len(part[name]) // math.prod(DECLARED[name]["shape"][1:])
        rows.append(row)
        parts.append(part)
    merged = {name: np.concatenate([p[name] for p in parts]) for name in _PARTS} if parts else {}
    for name in _VECTORS:
        if parts:
            merged[name] = np.concatenate([p[name] for p in parts])
    sizes = {DECLARED[name]["shape"][0]: at[name] for name in _PARTS}
    return stack(rows) | merged, sizes | {"nflex": len(rows), "nplastic": plastic}


# Columns made of all flexes one after the other: those that are counted, and others of the same lengths.
_PARTS = (
    "flex_node", "flex_vert", "flex_edge", "flex_elemlayer", "flex_elem", "flex_elemedge", "flex_stiffness",
    "flex_bending", "flex_shell", "flex_texcoord",
)  # fmt: skip
_VECTORS = (
    "flex_nodebodyid", "flex_node0", "flex_vertbodyid", "flex_vert0", "flex_vertcell", "flex_edgeflap",
    "flex_elemtexcoord", "flex_matid", "flexedge_rigid",
)  # fmt: skip


def _addresses(part: Mapping[str, Any], at: Mapping[str, int], dim: int) -> Row:
    """Where the parts of one flex start; -1 for parts that some flexes lack."""
    return {
        "flex_nodeadr": at["flex_node"], "flex_nodenum": len(part["flex_node"]) // 3,
        "flex_vertadr": at["flex_vert"], "flex_vertnum": len(part["flex_vert"]) // 3,
        "flex_edgeadr": at["flex_edge"], "flex_edgenum": len(part["flex_edge"]) // 2,
        "flex_elemadr": at["flex_elemlayer"], "flex_elemnum": len(part["flex_elemlayer"]),
        "flex_elemdataadr": at["flex_elem"], "flex_elemedgeadr": at["flex_elemedge"],
        "flex_shelldataadr": at["flex_shell"] if len(part["flex_shell"]) else -1,
        "flex_shellnum": len(part["flex_shell"]) // dim,
        "flex_stiffnessadr": at["flex_stiffness"] if len(part["flex_stiffness"]) else -1,
        "flex_bendingadr": at["flex_bending"] if len(part["flex_bending"]) else -1,
        "flex_texcoordadr": at["flex_texcoord"] if len(part["flex_texcoord"]) else -1,
    }  # fmt: skip


def _world_poses(bodies: list[Body]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Poses of the bodies in the world at qpos0."""
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    for body in bodies:
        pose = body.pos, body.quat
        poses.append(compose(*poses[body.parent.id], *pose) if body.parent else pose)
    return poses


def _shell(flex: Flex) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of the faces that one element has alone, and the distance of each element from the surface.

    Source: mjCFlex::CreateShell.
    """
    dim, nelem = flex.dim, len(flex.elem)
    faces = flex.elem[:, np.array(_FACES[dim])].reshape(-1, dim)
    owner = np.repeat(np.arange(nelem), dim + 1)
    key = np.sort(faces, axis=1)
    order = np.lexsort([*faces.T[::-1], owner, *key.T[::-1]])
    key, faces, owner = key[order], faces[order], owner[order]
    same = (key[1:] == key[:-1]).all(axis=1)
    alone = ~np.concatenate([[False], same]) & ~np.concatenate([same, [False]])
    layer = np.zeros(nelem, int)
    if dim == 3:
        layer[:] = nelem + 1
        layer[owner[alone]] = 0
        pairs = np.stack([owner[:-1][same], owner[1:][same]], axis=1)
        while True:
            best = layer.copy()
            np.minimum.at(best, pairs[:, 0], layer[pairs[:, 1]] + 1)
            np.minimum.at(best, pairs[:, 1], layer[pairs[:, 0]] + 1)
            if (best == layer).all():
                break
            layer = best
    return faces[alone].ravel(), layer


def _box(flex: Flex, layer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower corner and half sizes of the box around the elements that collide."""
    active = layer < flex.contact["activelayers"] if flex.dim == 3 else np.ones(len(layer), bool)
    corners = flex.xvert[flex.elem[active]] if active.any() else flex.xvert[None]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    return (low + high) / 2, (high - low) / 2


def _parts(ctx: Context, flex: Flex, bodies: list[Body], columns: Mapping[str, Any]) -> tuple[dict[str, Any], Row]:
    """Columns of one flex that are not one row a flex, and its row."""
    shell, layer = _shell(flex)
    e = flex.elasticity
    flaps = edge_flaps(flex) if flex.dim == 2 else np.full((len(flex.edges), 2), -1)
    elastic = e["young"] > 0
    stiffness, bending = np.zeros(0), np.zeros(0)
    if flex.order:
        stiffness, bending = cell_stiffness(flex)
    elif elastic and flex.dim == 1 and not flex.rigid:
        bending = rod_records(ctx, flex, columns)
    elif elastic and flex.dim > 1:
        stiffness = stretch_stiffness(flex, bool(_plastic_mode(flex) & 1))
        if flex.dim == 2 and flex.elastic2d & 1:
            bending = hinge_stiffness(flex, flaps)
    _check_integrator(ctx, flex, bool(len(stiffness) or len(bending)))
    bends = flex.dim == 2 and (len(bending) if flex.order else flex.elastic2d & 1 and not flex.rigid)
    size, vert0 = _normal_vertices(flex, layer)
    ends = flex.vertbody[flex.edges]
    texcoord, elemtexcoord = _texture(flex)
    part = {
        "flex_node": flex.node.ravel(), "flex_nodebodyid": flex.nodebody,
        "flex_node0": flex.grid.node.ravel() if flex.grid else np.zeros(0),
        "flex_vert": flex.vert.ravel(), "flex_vert0": vert0.ravel(),
        "flex_vertbodyid": np.full(len(flex.vert), -1) if flex.order else flex.vertbody,
        "flex_vertcell": vertex_cells(flex, vert0) if flex.order else np.full(len(flex.vert), -1),
        "flex_edge": flex.edges.ravel(),
        "flex_edgeflap": flaps.ravel() if bends else np.full(flaps.size, -1),
        "flexedge_rigid": np.zeros(len(ends), bool) if flex.order else ends[:, 0] == ends[:, 1],
        "flex_elem": flex.elem.ravel(), "flex_elemedge": flex.elemedge, "flex_elemlayer": layer,
        "flex_elemtexcoord": elemtexcoord, "flex_texcoord": texcoord,
        "flex_matid": _materials(ctx, flex), "flex_shell": shell,
        "flex_stiffness": stiffness, "flex_bending": bending,
    }  # fmt: skip
    return part, _row(flex, size)


def _check_integrator(ctx: Context, flex: Flex, elastic: bool) -> None:
    """Raise ModelError for a flex that the integrator or solver of the options cannot take."""
    option, error = ctx.spec.option, flex.element.error
    discrete = option["integrator"] == "discrete"
    if flex.contact["passive"] and not discrete:
        raise error("passive contact needs integrator 'discrete'")
    if discrete and (flex.edge["stiffness"] or flex.edge["damping"]):
        raise error("integrator 'discrete' takes no stiffness or damping of edges; use elasticity or edge equality")
    if discrete and (elastic or flex.contact["passive"]) and (option["solver"] == "PGS" or option["noslip_iterations"]):
        raise error("integrator 'discrete' with this flex needs solver 'Newton' or 'CG', and no noslip iterations")


def _normal_vertices(flex: Flex, layer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half sizes of the box around a flex, and the vertices in it, from 0 to 1."""
    if flex.grid:
        low, high = flex.grid.node.min(axis=0), flex.grid.node.max(axis=0)
        extent = high - low
        local = (flex.grid.vert - low) / np.where(extent > MINVAL, extent, 1)
        return extent / 2, np.where(extent > MINVAL, local, 0.5)
    center, size = _box(flex, layer)
    wide = size > MINVAL
    return size, np.where(wide, (flex.xvert - center) / (2 * np.where(wide, size, 1)) + 0.5, 0.5)


def _texture(flex: Flex) -> tuple[np.ndarray, np.ndarray]:
    """Texture coordinates, and which of them the corners of the elements have."""
    texcoord = np.asarray(flex.a.get("texcoord", ()), float)
    corners = np.asarray(flex.a.get("elemtexcoord", ()), int)
    if len(texcoord) and not len(corners) and len(texcoord) != 2 * len(flex.vert):
        raise flex.element.error("texcoord must have two numbers a vertex")
    if len(corners) and len(corners) != flex.elem.size:
        raise flex.element.error(
            f"elemtexcoord has {len(corners)} numbers, not one for each of {flex.elem.size} corners"
        )
    if not len(corners):
        corners = flex.elem.ravel()
    return texcoord, corners


def _materials(ctx: Context, flex: Flex) -> np.ndarray:
    name = flex.a.get("material")
    material = ctx.names.find(ObjType.MATERIAL, name, flex.element, "material") if name else -1
    return np.full(len(flex.elem), material)


def _row(flex: Flex, size: np.ndarray) -> Row:
    a, c, e = flex.a, flex.contact, flex.elasticity
    return {
        "flex_contype": c["contype"], "flex_conaffinity": c["conaffinity"], "flex_condim": c["condim"],
        "flex_priority": c["priority"], "flex_solmix": c["solmix"], "flex_solref": c["solref"],
        "flex_solimp": c["solimp"], "flex_friction": c["friction"], "flex_margin": c["margin"],
        "flex_gap": c["gap"], "flex_selfcollide": FLEX_SELF[c["selfcollide"]],
        "flex_activelayers": c["activelayers"], "flex_passive": c["passive"], "flex_dim": flex.dim,
        "flex_group": a["group"], "flex_interp": flex.order * (-1 if flex.elastic2d else 1),
        "flex_cellnum": a["cellcount"],
        "flex_radius": flex.radius, "flex_size": size, "flex_damping": e["damping"],
        "flex_yield": _yield(flex), "flex_plasticmode": _plastic_mode(flex),
        "flex_edgestiffness": flex.edge["stiffness"], "flex_edgedamping": flex.edge["damping"],
        "flex_rigid": flex.rigid, "flex_centered": flex.centered, "flex_flatskin": a["flatskin"],
        "flex_rgba": a["rgba"],
    }  # fmt: skip


def _yield(flex: Flex) -> np.ndarray:
    """Yield strains of stretching and bending; one value stands for both only in a flex of triangles."""
    found = flex.element.find("elasticity")
    given = np.asarray(found.get("yield", ()) if found else (), float)
    if len(given) == 1:
        return np.array([given[0], given[0] if flex.dim == 2 and not flex.order else 0.0])
    return given if len(given) else np.zeros(2)


def _resists_stretch(flex: Flex) -> bool:
    """Whether triangles, tetrahedra or cells of a flex are elastic in their plane or volume."""
    if flex.elasticity["young"] <= 0 or flex.dim == 1 or flex.rigid:
        return False
    return bool(flex.elastic2d != 1 if flex.order else flex.dim == 3 or flex.elastic2d & 2)


def _plastic_mode(flex: Flex) -> int:
    """Bits of what is plastic: 1 bending, 2 stretching."""
    stretch, bend = _yield(flex)
    if flex.elasticity["young"] <= 0 or flex.dim == 1 or flex.rigid:
        return 0
    return 2 * bool(stretch > 0 and _resists_stretch(flex)) + bool(bend > 0 and flex.elastic2d & 1 and not flex.order)


def _plastic_size(flex: Flex) -> int:
    """Number of plastic state variables of a flex of triangles or tetrahedra."""
    mode = _plastic_mode(flex)
    if flex.order:
        cx, cy, cz = flex.grid.cells
        return bool(mode & 2) * (6 * cx * cy * cz if not flex.elastic2d else 6 * (cy * cz + cx * cz + cx * cy))
    return bool(mode & 2) * (3 if flex.dim == 2 else 6) * len(flex.elem) + (mode & 1) * len(flex.edges)
