"""Geoms and sites: shape, pose, mass."""

import dataclasses

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, keyword
from mjx_like.compiler.mesh.geom import MESH_TYPES, Assets, find_mesh, mesh_aabb, mesh_inertia, mesh_pose, velocity_in
from mjx_like.compiler.pose import EPS, compose, normalized, quat_from_z
from mjx_like.compiler.tree import Body, Placed
from mjx_like.geometry.aabb import aabb, bounding_radius
from mjx_like.geometry.inertia import diagonal_inertia, fluid_coefficients, volume
from mjx_like.types.enums import GeomType, ObjType

_SIZES = {
    GeomType.SPHERE: 1, GeomType.CAPSULE: 2, GeomType.CYLINDER: 2, GeomType.ELLIPSOID: 3, GeomType.BOX: 3,
}  # fmt: skip
_FROMTO = (GeomType.CAPSULE, GeomType.CYLINDER, GeomType.ELLIPSOID, GeomType.BOX)


@dataclasses.dataclass
class Geom:
    """A compiled geom: what its body's inertia needs, and the remaining fields."""

    kind: GeomType
    pos: np.ndarray
    quat: np.ndarray
    mass: float
    inertia: np.ndarray
    row: Row


def compile_geom(ctx: Context, body: Body, placed: Placed, assets: Assets, infer: bool) -> Geom:
    """Return a geom in its body's frame.

    Args:
      assets: the compiled meshes and height fields.
      infer: whether the body takes mass from this geom.

    Raises:
      ModelError: bad type, size, condim, mass or reference.
    Source: mjCGeom::Compile.
    """
    element, a = placed.element, placed.attributes
    kind = GeomType(keyword(GeomType, a["type"]))
    _check_geom(element, a, kind, body)
    dataid, mesh = find_mesh(ctx, element, a, kind, assets)
    box = None
    if mesh is None:
        pos, quat, size = shape_pose(ctx, placed, kind)
    else:
        pos, quat, size, offset = mesh_pose(ctx, element, a, kind, mesh)
    if kind == GeomType.HFIELD:
        dataid = ctx.names.find(ObjType.HFIELD, a["hfield"], element, "hfield")
        box = assets.hfields[dataid].row["hfield_size"]
        size = np.array([*box[:2], 0.25 * box[2] + 0.5 * box[3]])
    elif kind not in MESH_TYPES:
        dataid = -1
        check_size(element, kind, size)
    mass, inertia = _mass(element, a, kind, size, mesh) if infer else (0.0, np.zeros(3))
    fluid = np.zeros(12)
    if a["fluidshape"] == "ellipsoid":
        fluid = fluid_coefficients(kind, size, a["fluidcoef"])
    if placed.frame:
        pos, quat = compose(*placed.frame, pos, quat)
    row = {
        "geom_type": int(kind),
        "geom_contype": a["contype"],
        "geom_conaffinity": a["conaffinity"],
        "geom_condim": a["condim"],
        "geom_bodyid": body.id,
        "geom_dataid": dataid,
        "geom_matid": material(ctx, element, a, mesh.material if mesh else None),
        "geom_group": a["group"],
        "geom_priority": a["priority"],
        "geom_castshadow": a["castshadow"],
        "geom_solmix": a["solmix"],
        "geom_solref": a["solref"],
        "geom_solimp": a["solimp"],
        "geom_size": size,
        "geom_aabb": mesh_aabb(mesh) if kind in MESH_TYPES else aabb(kind, size, box),
        "geom_rbound": np.linalg.norm(size) if kind in MESH_TYPES else bounding_radius(kind, size, box),
        "geom_friction": a["friction"],
        "geom_margin": a["margin"],
        "geom_gap": a["gap"],
        "geom_surfacevel": a["surfacevel"] if mesh is None else velocity_in(mesh, offset, a["surfacevel"]),
        "geom_adhesion": a["adhesion"],
        "geom_fluid": fluid,
        "geom_user": ctx.user_data(element, a, "nuser_geom"),
        "geom_rgba": a["rgba"],
    }
    return Geom(kind, pos, quat, mass, inertia, row)


def compile_site(ctx: Context, body: Body, placed: Placed, assets: Assets) -> Row:
    """Return the fields of a site.

    Raises:
      ModelError: bad type, size or reference.
    Source: mjCSite::Compile.
    """
    element, a = placed.element, placed.attributes
    kind = GeomType(keyword(GeomType, a["type"]))
    if kind in (GeomType.HFIELD, GeomType.PLANE):
        raise element.error(f"a site cannot be a {kind.name.lower()}")
    dataid, mesh = find_mesh(ctx, element, a, kind, assets)
    pos, quat, size = shape_pose(ctx, placed, kind)
    if mesh:
        size = mesh.extent
    if placed.frame:
        pos, quat = compose(*placed.frame, pos, quat)
    return {
        "site_type": int(kind),
        "site_bodyid": body.id,
        "site_dataid": dataid,
        "site_matid": material(ctx, element, a),
        "site_group": a["group"],
        "site_size": size,
        "site_pos": pos,
        "site_quat": quat,
        "site_user": ctx.user_data(element, a, "nuser_site"),
        "site_rgba": a["rgba"],
    }


def shape_pose(ctx: Context, placed: Placed, kind: GeomType):
    """Return pos, quat and size of a geom or site in the frame around it, `fromto` resolved.

    Raises:
      ModelError: `fromto` where it does not apply, or a size that is not positive.
    """
    element, a = placed.element, placed.attributes
    pos, size = a["pos"], a["size"]
    if a.get("fromto") is None:
        quat = ctx.orientation(element, a)
    else:
        pos, quat, size = _between(element, kind, a["fromto"], pos, size)
    check_size(element, kind, size)
    return pos, quat, size


def check_size(element, kind: GeomType, size: np.ndarray) -> None:
    """Raise ModelError if a size is not what its shape needs."""
    if np.isnan(size).any():
        raise element.error("size is not a finite number")
    if kind == GeomType.PLANE and size[2] <= 0:
        raise element.error("the third size of a plane, its grid spacing, must be positive")
    for i in range(_SIZES.get(kind, 0)):
        if size[i] <= 0:
            raise element.error(f"size {i} of a {kind.name.lower()} must be positive, not {size[i]:g}")


def material(ctx: Context, element, attributes, fallback: str | None = None) -> int:
    """Return the id of an element's material, else of the fallback's, -1 for none or where visuals are discarded."""
    name = None if ctx.discards else attributes.get("material") or fallback
    return ctx.names.find(ObjType.MATERIAL, name, element, "material") if name else -1


def _between(element, kind, ends, pos, size):
    if kind not in _FROMTO:
        raise element.error(f"fromto needs a capsule, cylinder, box or ellipsoid, not a {kind.name.lower()}")
    if pos.any():
        raise element.error("pos and fromto cannot both be given")
    along, length = normalized(ends[:3] - ends[3:])
    if length / 2 < EPS:
        raise element.error("the points of fromto are too close")
    size = np.array([size[0], length / 2, size[2]])
    if kind in (GeomType.ELLIPSOID, GeomType.BOX):
        size = np.array([size[0], size[0], length / 2])
    return (ends[:3] + ends[3:]) / 2, quat_from_z(along), size


def _check_geom(element, a, kind, body) -> None:
    if a["condim"] not in (1, 3, 4, 6):
        raise element.error(f"condim {a['condim']} is none of 1, 3, 4, 6")
    if kind == GeomType.PLANE and body.weldid != 0:
        raise element.error("a plane can only be in a static body")
    if (kind == GeomType.HFIELD) != bool(a.get("hfield")):
        raise element.error("a geom of type hfield must name a hfield, and no other geom can")


def _mass(element, a, kind, size, mesh) -> tuple[float, np.ndarray]:
    shell = a["shellinertia"]
    if kind in MESH_TYPES and shell:
        raise element.error("shellinertia cannot be given with type mesh; give the mesh asset inertia='shell'")
    content = mesh.mass.content if kind in MESH_TYPES else volume(kind, size, shell)
    given = a.get("mass")
    if given is not None and np.isnan(given):  # MuJoCo's mark of a mass that is not given
        given = None
    if given is not None:
        if given < 0:
            raise element.error(f"mass {given:g} is negative")
        mass = given if content > EPS else 0.0
    else:
        density = a["density"]
        if density < 0:
            raise element.error(f"density {density:g} is negative")
        mass = density * content
    if kind in MESH_TYPES:
        return mass, mesh_inertia(mesh, mass)
    return mass, diagonal_inertia(kind, size, mass, shell) if mass else np.zeros(3)
