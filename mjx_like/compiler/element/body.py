"""Bodies: pose, mass and inertia, and the tables of the kinematic tree."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.arrays import Row, stack
from mjx_like.compiler.context import Context, numbers
from mjx_like.compiler.element.geom import Geom, compile_geom, compile_site
from mjx_like.compiler.element.joint import NQ, NV, align_free, check_joints, compile_joint, joint_type
from mjx_like.compiler.element.visual import compile_camera, compile_light
from mjx_like.compiler.mesh.geom import Assets
from mjx_like.compiler.pose import EPS, IDENTITY, compose, inertia_tensor, invert, principal_axes, rotate
from mjx_like.compiler.tree import Body, Placed
from mjx_like.constants import MINVAL
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import InertiaFromGeom, JointType, SleepPolicy


@dataclasses.dataclass
class Tables:
    """Rows of the objects of the tree, in order of their ids, and what is known of them besides."""

    body: list[Row] = dataclasses.field(default_factory=list)
    joint: list[Row] = dataclasses.field(default_factory=list)
    dof: list[Row] = dataclasses.field(default_factory=list)
    geom: list[Row] = dataclasses.field(default_factory=list)
    site: list[Row] = dataclasses.field(default_factory=list)
    camera: list[Row] = dataclasses.field(default_factory=list)
    light: list[Row] = dataclasses.field(default_factory=list)
    simple: list[bool] = dataclasses.field(default_factory=list)  # of bodies: whether the file lets them be simple
    reference: list[Row] = dataclasses.field(default_factory=list)  # of joints: qpos0 and qpos_spring
    springdamper: list[np.ndarray] = dataclasses.field(default_factory=list)  # of joints

    def columns(self) -> dict[str, Any]:
        """Return all rows as columns, by field name."""
        rows = (self.body, self.joint, self.dof, self.geom, self.site, self.camera, self.light)
        found = {name: column for table in rows for name, column in stack(table).items()}
        for name in ("qpos0", "qpos_spring"):
            found[name] = np.concatenate([np.zeros(0), *(row[name] for row in self.reference)])
        return found


def compile_tree(ctx: Context, bodies: list[Body], assets: Assets) -> Tables:
    """Return the rows of bodies, joints, degrees of freedom, geoms, sites, cameras and lights.

    Raises:
      ModelError: anything wrong with an element of the tree.
    Source: mjCBody::Compile, mjCModel::CopyTree.
    """
    tables, tree = Tables(), _TreeIds(bodies)
    for body in bodies:
        _compile_body(ctx, body, assets, tables, tree)
    for body in bodies[1:]:
        if body.moving and not np.isfinite([body.mass, *body.inertia]).all():
            raise body.element.error("its mass or inertia is not finite")
        if body.moving and not _has_mass(body):
            raise body.element.error(
                f"mass and inertia of a moving body must be larger than {MINVAL:g}; "
                "give it a geom with mass or an inertial element"
            )
    return tables


class _TreeIds:
    """Running ids and addresses while the tree is compiled."""

    def __init__(self, bodies: list[Body]) -> None:
        self.joints = self.dofs = self.qpos = self.plastic = self.mocaps = 0
        self.last_dof: list[int] = [-1] * len(bodies)


def _compile_body(ctx: Context, body: Body, assets: Assets, tables: Tables, ids: _TreeIds) -> None:
    geoms = mass_and_pose(ctx, body, assets)
    inverse = _align(body) if body.parent is not None and align_free(ctx, body) else None
    sites = [compile_site(ctx, body, placed, assets) for placed in body.sites]
    cameras = [compile_camera(ctx, body, placed) for placed in body.cameras]
    lights = [compile_light(ctx, body, placed) for placed in body.lights]
    if inverse is not None:
        for geom in geoms:
            geom.pos, geom.quat = compose(*inverse, geom.pos, geom.quat)
        for kind, rows in (("site", sites), ("cam", cameras)):
            for row in rows:
                row[f"{kind}_pos"], row[f"{kind}_quat"] = compose(*inverse, row[f"{kind}_pos"], row[f"{kind}_quat"])
        for row in lights:
            row["light_pos"] = compose(*inverse, row["light_pos"], IDENTITY)[0]
            row["light_dir"] = rotate(inverse[1], row["light_dir"])
    if body.parent is not None:
        check_joints(body)
        _check_mocap(body)
    row = _body_row(ctx, body, len(tables.geom), len(geoms), ids)
    _compile_joints(ctx, body, row, tables, ids)
    tables.body.append(row)
    tables.simple.append(body.attributes.get("simple") != "false")
    tables.geom += [g.row | {"geom_pos": g.pos, "geom_quat": g.quat} for g in geoms]
    tables.site += sites
    tables.camera += cameras
    tables.light += lights


def infers_inertia(ctx: Context, body: Body) -> bool:
    """Return whether the mass and inertia of a body are those of its geoms."""
    if body.parent is None or body.given is not None:
        return False
    choice = ctx.settings(body.element).inertiafromgeom
    return choice == InertiaFromGeom.TRUE or (choice == InertiaFromGeom.AUTO and body.inertial is None)


def mass_and_pose(ctx: Context, body: Body, assets: Assets) -> list[Geom]:
    """Set the pose, mass, inertial frame and inertia of a body; return its compiled geoms."""
    a = body.attributes
    if body.parent is not None:
        body.pos, body.quat = a["pos"], ctx.orientation(body.element, a)
    body.mass, body.inertia = 0.0, np.zeros(3)
    known = body.parent is None  # whether the inertial frame is known
    if body.inertial is not None:
        _explicit_inertia(ctx, body, body.inertial)
        known = True
    from_geoms = infers_inertia(ctx, body)
    low, high = ctx.settings(body.element).inertiagrouprange
    geoms = [
        compile_geom(ctx, body, g, assets, from_geoms and low <= int(g.attributes.get("group") or 0) <= high)
        for g in body.geoms
    ]
    if from_geoms:
        known |= _inertia_from_geoms(ctx, body, [g for g in geoms if g.mass > 0])
    if not known:
        body.ipos, body.iquat = body.pos, body.quat
    if body.given is not None:
        body.mass, body.ipos, body.iquat, body.inertia = body.given
    elif body.parent is not None:
        _bound_inertia(ctx, body)
    if body.frame:
        body.pos, body.quat = compose(*body.frame, body.pos, body.quat)
    return geoms


def _explicit_inertia(ctx: Context, body: Body, inertial: Placed) -> None:
    _inertia_as_given(ctx, body, inertial.element, inertial.attributes)
    if inertial.frame:
        body.ipos, body.iquat = compose(*inertial.frame, body.ipos, body.iquat)


def _inertia_as_given(ctx: Context, body: Body, element: Element, a: Mapping[str, Any]) -> None:
    """Set mass, inertial frame and inertia of a body as its inertial element says them."""
    body.mass, body.ipos = a["mass"], a["pos"]
    full = a.get("fullinertia")
    if full is None:
        body.iquat, body.inertia = ctx.orientation(element, a), a["diaginertia"]
        return
    if a["diaginertia"].any():
        raise element.error("fullinertia and diaginertia cannot both be given")
    if any(element.get(name) is not None for name in ("quat", "axisangle", "xyaxes", "zaxis", "euler")):
        raise element.error("fullinertia and an orientation cannot both be given")
    xx, yy, zz, xy, xz, yz = full
    _principal(ctx, body, element, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _principal(ctx: Context, body: Body, element, tensor: np.ndarray) -> None:
    body.inertia, body.iquat = principal_axes(tensor)
    if body.inertia[2] < EPS and ctx.settings(body.element).boundinertia <= 0:
        raise element.error("the inertia must have positive eigenvalues")


def _inertia_from_geoms(ctx: Context, body: Body, geoms: list[Geom]) -> bool:
    """Set mass and inertial frame of a body from the geoms that have mass; False if there are none."""
    if not geoms:
        return False
    if len(geoms) == 1:
        only = geoms[0]
        body.ipos, body.iquat, body.mass, body.inertia = only.pos, only.quat, only.mass, only.inertia
        return True
    body.mass = sum(g.mass for g in geoms)
    if body.mass < EPS:
        raise body.element.error("its mass is too small to compute a centre of mass")
    body.ipos = sum(g.mass * g.pos for g in geoms) / body.mass
    _principal(
        ctx, body, body.element, sum(inertia_tensor(g.inertia, g.quat, g.mass, g.pos - body.ipos) for g in geoms)
    )
    return True


def _bound_inertia(ctx: Context, body: Body) -> None:
    settings, before = ctx.settings(body.element), (body.mass, body.inertia)
    body.mass = max(body.mass, settings.boundmass)
    body.inertia = np.maximum(body.inertia, settings.boundinertia)
    if (2 * body.inertia > body.inertia.sum()).any() and _unbalanced(body.inertia):
        if not settings.balanceinertia:
            raise body.element.error(
                f"inertia {numbers(body.inertia)} must satisfy A + B >= C; the compiler's balanceinertia mends it"
            )
        body.inertia = np.full(3, body.inertia.sum() / 3)
    body.adjusted = body.mass != before[0] or bool((body.inertia != before[1]).any())


def _unbalanced(inertia: np.ndarray) -> bool:
    a, b, c = inertia
    return a + b < c or a + c < b or b + c < a


def _align(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Move the frame of a free body into its inertial frame; return the change of pose for what it holds."""
    inverse = invert(body.ipos, body.iquat)
    body.pos, body.quat = compose(body.pos, body.quat, body.ipos, body.iquat)
    body.ipos, body.iquat = np.zeros(3), IDENTITY
    return inverse


def _check_mocap(body: Body) -> None:
    if body.attributes.get("mocap") and (body.moving or body.parent.id != 0):
        raise body.element.error("a mocap body must be a child of the world without joints")


def _has_mass(body: Body) -> bool:
    """Whether the body, or what is welded to it, has mass and inertia.  Source: mjCModel::CheckBodyMassInertia."""
    if body.mass >= MINVAL and (body.inertia >= MINVAL).all():
        return True
    return any(_has_mass(child) for child in body.children if not child.moving)


def _body_row(ctx: Context, body: Body, geomadr: int, geomnum: int, ids: _TreeIds) -> Row:
    a = body.attributes
    mocap = body.parent is not None and a["mocap"]
    if mocap:
        ids.mocaps += 1
    return {
        "body_parentid": body.parent.id if body.parent else 0,
        "body_rootid": body.rootid,
        "body_weldid": body.weldid,
        "body_mocapid": ids.mocaps - 1 if mocap else -1,
        "body_geomnum": geomnum,
        "body_geomadr": geomadr if geomnum else -1,
        "body_pos": body.pos,
        "body_quat": body.quat,
        "body_ipos": body.ipos,
        "body_iquat": body.iquat,
        "body_mass": body.mass,
        "body_inertia": body.inertia,
        "body_gravcomp": a.get("gravcomp", 0.0),
        "body_user": ctx.user_data(body.element, a, "nuser_body") if body.parent else np.zeros(ctx.user["nuser_body"]),
    }


def _compile_joints(ctx: Context, body: Body, row: Row, tables: Tables, ids: _TreeIds) -> None:
    parent = body.parent
    last = ids.last_dof[parent.id] if parent else -1
    kinds = [joint_type(placed) for placed in body.joints]
    dofs = sum(NV[kind] for kind in kinds)
    row |= {
        "body_jntnum": len(kinds), "body_jntadr": ids.joints if kinds else -1, "body_dofnum": dofs,
        "body_dofadr": ids.dofs if dofs else -1,
    }  # fmt: skip
    for placed, kind in zip(body.joints, kinds, strict=True):
        joint = compile_joint(ctx, placed)
        plastic = joint.row["jnt_springyield"] > 0
        addresses = {
            "jnt_bodyid": body.id, "jnt_qposadr": ids.qpos, "jnt_dofadr": ids.dofs,
            "jnt_plasticadr": ids.plastic if plastic else -1,
        }  # fmt: skip
        dof = joint.dof | {"dof_bodyid": body.id, "dof_jntid": ids.joints}
        tables.joint.append(joint.row | addresses)
        tables.reference.append(_reference(body, kind, joint.ref, joint.springref))
        tables.springdamper.append(joint.springdamper)
        for _ in range(NV[kind]):
            tables.dof.append(dof | {"dof_parentid": last})
            last = ids.dofs
            ids.dofs += 1
        ids.joints += 1
        ids.qpos += NQ[kind]
        ids.plastic += NQ[kind] if plastic else 0
    ids.last_dof[body.id] = last


def _reference(body: Body, kind: JointType, ref: float, springref: float) -> Row:
    if kind == JointType.FREE:
        pose = np.concatenate([body.pos, body.quat])
        return {"qpos0": pose, "qpos_spring": pose}
    if kind == JointType.BALL:
        return {"qpos0": IDENTITY, "qpos_spring": IDENTITY}
    return {"qpos0": np.array([ref]), "qpos_spring": np.array([springref])}


def sleep_policies(bodies: list[Body], tables: Tables) -> list[int]:
    """Return the sleep policy that the file gives to each kinematic tree.

    Raises:
      ModelError: a sleep policy on a body that is not the first of a tree.
    """
    roots = {row["dof_bodyid"] for row in tables.dof if row["dof_parentid"] < 0}
    policies: list[int] = []
    for body in bodies:
        word = body.attributes.get("sleep") or "auto"
        if word != "auto" and body.id not in roots:
            raise body.element.error("sleep can only be given to the first body of a kinematic tree")
        if body.id in roots:
            policies.append(int(SleepPolicy[word.upper()]))
    return policies


__all__ = ["Tables", "compile_tree", "infers_inertia", "mass_and_pose", "sleep_policies"]
