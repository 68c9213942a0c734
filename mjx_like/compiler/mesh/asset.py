"""Mesh assets: read, centred on their mass, rotated into their principal axes, and laid out as mjModel has them."""

import dataclasses
from typing import Any

import numpy as np

from mjx_like.compiler.arrays import DECLARED, Row
from mjx_like.compiler.context import Context, keyword
from mjx_like.compiler.mesh.hull import Hull, convex_hull
from mjx_like.compiler.mesh.inertia import MeshMass, mesh_mass
from mjx_like.compiler.mesh.normal import normalized, vertex_normals
from mjx_like.compiler.mesh.polygon import polygon_map, polygon_normals
from mjx_like.compiler.plugin.registry import config, plugin_name
from mjx_like.compiler.plugin.sdf_shape import sdf_mesh
from mjx_like.compiler.pose import IDENTITY, quat_to_mat
from mjx_like.compiler.pose import normalized as unit
from mjx_like.geometry.plugin_shape import SHAPES
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError
from mjx_like.mjcf.asset.source import given_mesh, placed
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import MeshInertia


@dataclasses.dataclass
class Mesh:
    """A compiled mesh in the frame of its principal axes.

    data: vertices, normals and faces in that frame. mass: mass properties; its pos and quat lead back to the frame of
    the file. hull: None where nothing collides with it. low, high: corners of the bounding box, shape (3,) [m].
    """

    element: Element
    data: MeshData
    mass: MeshMass
    hull: Hull | None
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    material: str | None

    @property
    def extent(self) -> np.ndarray:
        """Largest distance from the origin along each axis, shape (3,) [m]."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def compile_mesh(ctx: Context, element: Element, collides: bool) -> Mesh:
    """Return a mesh in the frame of its principal axes.

    Args:
      collides: whether it needs a convex hull.

    Raises:
      ModelError: a file that cannot be read, data that make no mesh, or a mesh without volume.
    Source: mjCMesh::TryCompile, mjCMesh::Process.
    """
    a = ctx.spec.resolve(element)
    plugin = element.find("plugin")
    try:
        kind = MeshInertia(keyword(MeshInertia, a["inertia"]))
        if plugin is None:
            data, shell = given_mesh(ctx.spec, element, a, legacy=kind == MeshInertia.LEGACY)
        else:
            data, shell = _distance_mesh(ctx, element, plugin, a), False
        kind = MeshInertia.SHELL if shell else kind
        _check(data)
        data, hull = _shaped(a, data, collides or kind == MeshInertia.CONVEX)
        solid = hull.face if kind == MeshInertia.CONVEX else data.face
        if kind == MeshInertia.EXACT:
            _check_orientation(data)
        mass = mesh_mass(data.vert, data.face, solid, kind)
    except MeshError as error:
        file = f"file '{a['file']}' " if a.get("file") else ""
        raise element.error(f"{file}{error}") from None
    if plugin is not None:  # the distance is measured in the frame of the mesh, which therefore stays
        mass = dataclasses.replace(mass, pos=np.zeros(3), quat=IDENTITY)
    rotation = quat_to_mat(mass.quat)
    data.vert, data.normal = (data.vert - mass.pos) @ rotation, data.normal @ rotation
    return Mesh(element, data, mass, hull, data.vert.min(axis=0), data.vert.max(axis=0), a["scale"], a.get("material"))


def _distance_mesh(ctx: Context, element: Element, plugin: Element, a: dict[str, Any]) -> MeshData:
    """Return the mesh of a plugin's signed distance."""
    if (a["scale"] != 1).any():
        raise element.error("a mesh made by a plugin has no scale")
    return sdf_mesh(SHAPES[plugin_name(ctx.spec, plugin)], config(ctx.spec, plugin))


def _check(data: MeshData) -> None:
    if len(data.vert) < 4:
        raise MeshError(f"has {len(data.vert)} vertices; 4 are the least")
    if not np.isfinite(data.vert).all():
        raise MeshError("has a vertex that is not finite")
    for what, index, count in (
        ("vertex", data.face, len(data.vert)),
        ("normal", data.facenormal, len(data.normal)),
        ("texture coordinate", data.facetexcoord, len(data.texcoord)),
    ):
        if len(index) and (index.min() < 0 or index.max() >= count):
            raise MeshError(f"has a face with a {what} that does not exist; there are {count}")
    if len(data.texcoord) and not len(data.facetexcoord) and len(data.texcoord) != len(data.vert):
        raise MeshError(
            f"has {len(data.texcoord)} texture coordinates, not one for each of its {len(data.vert)} vertices"
        )


def _shaped(a: dict[str, Any], data: MeshData, hull_wanted: bool) -> tuple[MeshData, Hull | None]:
    """Return the mesh with faces and normals made where missing, then refpos, refquat and scale applied; its hull."""
    face, facenormal, facetexcoord = data.face, data.facenormal, data.facetexcoord
    hull = convex_hull(data.vert, _max_hull_vert(a)) if hull_wanted or not len(face) else None
    if not len(face):
        face = hull.face
    normal = data.normal if len(data.normal) else vertex_normals(data.vert, face, a["smoothnormal"])
    if not len(data.normal) or not len(facenormal):
        facenormal = 3 * face if len(data.normal) == 3 * len(data.vert) else face
        if 0 < len(data.normal) < len(data.vert):  # too few: all corners have the first
            facenormal = np.zeros_like(face)
    if len(data.texcoord) and not len(facetexcoord):
        facetexcoord = face
    vert, scale, quat = placed(data.vert, a), a["scale"], unit(np.asarray(a["refquat"], float))[0]
    normal = normalized(
        (normal @ quat_to_mat(quat) if (quat != IDENTITY).any() else normal) / np.where(scale == 0, 1.0, scale)
    )
    if not np.isfinite(vert).all():
        raise MeshError("has a vertex that is not finite once scaled")
    if a.get("stretch") is not None:  # of a frame that stretches the mesh along other axes than its own
        vert, normal = vert @ a["stretch"].T, normalized(normal @ np.linalg.inv(a["stretch"]))
    if np.prod(np.sign(scale)) < 0:
        face, facenormal, facetexcoord = (index[:, [0, 2, 1]] for index in (face, facenormal, facetexcoord))
        hull = hull and hull.mirrored()
    return MeshData(vert, face, normal, data.texcoord, facenormal, facetexcoord), hull


def _max_hull_vert(a: dict[str, Any]) -> int:
    limit = a["maxhullvert"]
    if limit != -1 and limit < 4:
        raise MeshError(f"has maxhullvert {limit}; it must be 4 or more, or -1 for no limit")
    return limit


def _check_orientation(data: MeshData) -> None:
    """Raise where two faces run along an edge in the same direction: an exact volume needs closed, oriented faces."""
    a, b, c = (data.vert[data.face[:, k]] for k in range(3))
    large = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-7
    face = data.face[large]
    edges = np.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]])
    keys, count = np.unique(edges[:, 0] * len(data.vert) + edges[:, 1], return_counts=True)
    if (count > 1).any():
        first, second = divmod(int(keys[np.argmax(count > 1)]), len(data.vert))
        raise MeshError(f"has faces of inconsistent orientation at the edge of vertices {first} and {second}")


def place_meshes(meshes: list[Mesh]) -> tuple[list[Row], dict[str, np.ndarray]]:
    """Return the rows of all meshes, and the vertices, normals, faces, hulls and polygons of all of them."""
    rows: list[Row] = []
    declared = {name: DECLARED[name] for name in _PARTS}
    parts = {name: [np.zeros((0, *x["shape"][1:]), x["dtype"])] for name, x in declared.items()}
    length = dict.fromkeys(_PARTS, 0)

    def add(name: str, values: np.ndarray) -> tuple[int, int]:
        address, count = length[name], len(values)
        parts[name].append(np.asarray(values))
        length[name] += count
        return address, count

    for mesh in meshes:
        data, row = mesh.data, {"mesh_scale": mesh.scale, "mesh_pos": mesh.mass.pos, "mesh_quat": mesh.mass.quat}
        row["mesh_vertadr"], row["mesh_vertnum"] = add("mesh_vert", data.vert)
        row["mesh_normaladr"], row["mesh_normalnum"] = add("mesh_normal", data.normal)
        adr, row["mesh_texcoordnum"] = add("mesh_texcoord", data.texcoord)
        row["mesh_texcoordadr"] = adr if len(data.texcoord) else -1
        row["mesh_faceadr"], row["mesh_facenum"] = add("mesh_face", data.face)
        add("mesh_facenormal", data.facenormal)
        add("mesh_facetexcoord", data.facetexcoord if len(data.facetexcoord) else np.zeros_like(data.face))
        adr, _ = add("mesh_graph", mesh.hull.graph if mesh.hull else np.zeros(0, int))
        row["mesh_graphadr"] = adr if mesh.hull else -1
        vertices, sizes = (mesh.hull.polyvert, mesh.hull.polynum) if mesh.hull else (_NONE, _NONE)
        row["mesh_polyadr"], row["mesh_polynum"] = add("mesh_polynormal", polygon_normals(data.vert, vertices, sizes))
        add("mesh_polyvertnum", sizes)
        add("mesh_polyvertadr", length["mesh_polyvert"] + np.cumsum(sizes) - sizes)
        add("mesh_polyvert", vertices)
        polygon, count = polygon_map(len(data.vert), vertices, sizes)
        add("mesh_polymapnum", count)
        add("mesh_polymapadr", length["mesh_polymap"] + np.cumsum(count) - count)
        add("mesh_polymap", polygon)
        rows.append(row)
    return rows, {name: np.concatenate(values) for name, values in parts.items()}


_NONE = np.zeros(0, int)
_PARTS = (
    "mesh_vert", "mesh_normal", "mesh_texcoord", "mesh_face", "mesh_facenormal", "mesh_facetexcoord", "mesh_graph",
    "mesh_polynormal", "mesh_polyvertadr", "mesh_polyvertnum", "mesh_polyvert", "mesh_polymapadr", "mesh_polymapnum",
    "mesh_polymap",
)  # fmt: skip
