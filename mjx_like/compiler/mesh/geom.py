"""What a geom or site takes from a mesh asset: its pose in the file's frame, its size, or a primitive fitted to it."""

import dataclasses

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.compiler.element.asset import HField
from mjx_like.compiler.mesh.asset import Mesh
from mjx_like.mjcf.frame import compose, quat_to_mat, rotate
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import GeomType, ObjType

MESH_TYPES = (GeomType.MESH, GeomType.SDF)
_FITTED = (GeomType.SPHERE, GeomType.CAPSULE, GeomType.CYLINDER, GeomType.ELLIPSOID, GeomType.BOX)


@dataclasses.dataclass
class Assets:
    """The compiled assets that geoms refer to, by id."""

    hfields: list[HField]
    meshes: list[Mesh]


def find_mesh(ctx: Context, element: Element, a, kind: GeomType, assets: Assets) -> tuple[int, Mesh | None]:
    """Return id and mesh that a geom or site names, -1 and None for none.

    Raises:
      ModelError: a mesh type without a mesh, a mesh on a type that takes none, or an unknown mesh.
    """
    meshless = kind == GeomType.SDF and element.type == "site"  # MuJoCo lets such a site be
    if not a.get("mesh") and (kind not in MESH_TYPES or meshless):
        return -1, None
    index = ctx.names.find(ObjType.MESH, a.get("mesh"), element, "mesh")
    allowed = (GeomType.MESH,) if element.type == "site" else (*MESH_TYPES, *_FITTED)
    if kind not in allowed:
        raise element.error(
            f"mesh cannot be given with type {kind.name.lower()}; allowed: {', '.join(k.name.lower() for k in allowed)}"
        )
    if a.get("fromto") is not None:
        raise element.error("fromto cannot be given with a mesh")
    return index, assets.meshes[index]


def mesh_pose(ctx: Context, element: Element, a, kind: GeomType, mesh: Mesh):
    """Return pos, quat and size of a geom or site with a mesh in the frame around it, and its centre in the file's.

    Raises:
      ModelError: a primitive fitted to the mesh has no extent.
    Source: mjCGeom::Compile, mjCMesh::FitGeom.
    """
    offset, size = mesh.mass.pos, mesh.extent
    if kind not in MESH_TYPES:
        aabb = ctx.own.fitaabb  # of the whole model, also for attached geoms
        scaled = _fit_aabb(kind, mesh, a["size"]) if aabb else _fit_inertia(kind, mesh.mass.box, a["size"])
        if aabb:
            offset = offset + rotate(mesh.mass.quat, (mesh.low + mesh.high) / 2)
        size = scaled * a["fitscale"]
    pos, quat = compose(a["pos"], ctx.orientation(element, a), offset, mesh.mass.quat)
    return pos, quat, size, offset


def velocity_in(mesh: Mesh, offset: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return a velocity, linear and angular, that is given in the frame of the file, at an offset in principal axes."""
    linear, angular = np.split(np.asarray(velocity, float), 2)
    rotation = quat_to_mat(mesh.mass.quat)
    return np.concatenate([(linear + np.cross(angular, offset)) @ rotation, angular @ rotation])


def mesh_aabb(mesh: Mesh) -> np.ndarray:
    """Return the bounding box of a mesh in its principal frame: centre and half sizes, shape (6,) [m]."""
    return np.concatenate([(mesh.low + mesh.high) / 2, (mesh.high - mesh.low) / 2])


def mesh_inertia(mesh: Mesh, mass: float) -> np.ndarray:
    """Return the principal inertia of a mesh of given mass, shape (3,) [kg m^2].  Source: mjCGeom::SetInertia."""
    squares = mesh.mass.box**2
    return mass * (squares.sum() - squares) / 3


def _fit_inertia(kind: GeomType, box: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the size of a primitive fitted to the box of equal inertia."""
    round_xy = (box[0] + box[1]) / 2
    if kind == GeomType.SPHERE:
        return np.array([box.sum() / 3, *size[1:]])
    if kind == GeomType.CAPSULE:
        return np.array([round_xy, max(0.0, box[2] - round_xy / 2), size[2]])
    return np.array([round_xy, box[2], size[2]]) if kind == GeomType.CYLINDER else box


def _fit_aabb(kind: GeomType, mesh: Mesh, size: np.ndarray) -> np.ndarray:
    """Return the size of a primitive fitted to the bounding box, centred there."""
    half = (mesh.high - mesh.low) / 2
    round_xy = max(half[:2])
    if kind == GeomType.SPHERE:
        return np.array([half.max(), *size[1:]])
    if kind == GeomType.CAPSULE:
        return np.array([round_xy, max(0.0, half[2] - round_xy), size[2]])
    return np.array([round_xy, half[2], size[2]]) if kind == GeomType.CYLINDER else half
