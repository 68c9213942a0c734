"""What the compiler leaves out on demand: static bodies fused with their parents, visual elements discarded.

The mass and inertia of the original stay with the bodies that remain. Source: mjs_fuseStatic, mjs_discardVisual;
documents: XML reference, compiler (fusestatic, discardvisual).
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.compiler.element.body import infers_inertia, mass_and_pose
from mjx_like.compiler.mesh.geom import Assets
from mjx_like.compiler.pose import compose, inertia_tensor, principal_axes
from mjx_like.compiler.tree import Body, Placed, Pose, numbered
from mjx_like.constants import MINVAL
from mjx_like.mjcf.attach.reference import Name, kind_of, references
from mjx_like.mjcf.spec import Element, Spec
from mjx_like.types.enums import InertiaFromGeom

_LOOKS = ("material", "texture", "mesh")
_PARTS = ("geoms", "sites", "cameras", "lights")


def without_looks(spec: Spec, bodies: list[Body]) -> Spec:
    """Return the model without materials, textures and meshes that no physics needs, and take visual geoms off.

    A visual geom stays for now where its body's inertia is inferred from it; `reduced` takes it off.
    """
    named = set(_assets_named([*spec.sections["sensor"], *spec.sections["custom"]]))
    for body in bodies:
        for placed in (*body.geoms, *body.sites):
            if placed.attributes.get("mesh"):
                named.add(("mesh", placed.attributes["mesh"]))
    assets = [e for e in spec.sections["asset"] if e.tag not in _LOOKS or (e.tag, _name(spec, e)) in named]
    return dataclasses.replace(spec, sections=spec.sections | {"asset": assets})


def _name(spec: Spec, element: Element) -> str:
    return spec.resolve(element).get("name", "")


def _assets_named(elements: Iterable[Element]) -> Iterable[Name]:
    for top in elements:
        for element in top.iter():
            for attribute, value in element.attrib.items():
                if kind_of(element, attribute) in _LOOKS:
                    yield kind_of(element, attribute), value


def take_visuals(ctx: Context, bodies: list[Body], even_massive: bool) -> None:
    """Take geoms off their bodies that collide with nothing, drag through no fluid, and that nothing refers to.

    Args:
      even_massive: also those from which the inertia of their body is inferred.
    """
    named = {name for _, name in _names(ctx.spec, ("geom",))}
    for body in bodies:
        if even_massive or not infers_inertia(ctx, body):
            body.geoms = [placed for placed in body.geoms if not _visual(placed, named)]


def _visual(placed: Placed, named: set[str]) -> bool:
    a = placed.attributes
    collides = a["contype"] or a["conaffinity"]
    return not (collides or a.get("fluidshape") == "ellipsoid" or placed.element.get("name") in named)


def _names(spec: Spec, kinds: tuple[str, ...]) -> Iterable[Name]:
    """(kind, name) of the objects of some kinds that elements outside the tree refer to."""
    for elements in spec.sections.values():
        for element in elements:
            yield from (name for name in references(element) if name[0] in kinds)


def reduced(ctx: Context, bodies: list[Body], assets: Assets) -> list[Body]:
    """Return the bodies that the compiler's discardvisual and fusestatic leave, numbered anew.

    Raises:
      ModelError: the inertia of a body would change although inertiafromgeom asks for that of its geoms.
    """
    compiler = ctx.spec.compiler
    whole = {body: mass_and_pose(ctx, body, assets) for body in bodies}
    if compiler["discardvisual"]:
        before = {body: len(body.geoms) for body in bodies}
        masses = {body: sum(geom.mass for geom in geoms) for body, geoms in whole.items()}
        take_visuals(ctx, bodies, even_massive=True)
        for body in bodies[1:]:
            if len(body.geoms) < before[body]:
                _keep_inertia(ctx, body, assets, masses[body])
    if compiler["fusestatic"]:
        named = set(_names(ctx.spec, ("body",))) | set(references(ctx.spec.worldbody))
        sites = _weighed_sites(ctx.spec)
        for body in bodies[1:]:
            if not (("body", body.element.get("name")) in named or any(_site(p) in sites for p in body.sites)):
                if _fusable(ctx, body):
                    _fuse(body)
    return numbered(bodies[0])


def _keep_inertia(ctx: Context, body: Body, assets: Assets, mass: float) -> None:
    """Give a body the inertia that it had with its visual geoms."""
    if ctx.settings(body.element).inertiafromgeom == InertiaFromGeom.TRUE:
        if sum(geom.mass for geom in mass_and_pose(ctx, body, assets)) != mass:
            raise body.element.error(
                "discardvisual would change its inertia, which inertiafromgeom 'true' infers from its geoms; "
                "inertiafromgeom 'auto' keeps it"
            )
        return
    body.given = body.mass, body.ipos, body.iquat, body.inertia


def _weighed_sites(spec: Spec) -> set[str]:
    """Names of the sites at which a force or torque sensor cuts the tree."""
    return {e.get("site") for e in spec.sections["sensor"] if e.tag in ("force", "torque")}


def _site(placed: Placed) -> str | None:
    return placed.element.get("name")


def _fusable(ctx: Context, body: Body) -> bool:
    """Whether a body may become part of its parent without a change of the forces on the model."""
    a, parent, option = body.attributes, body.parent, ctx.spec.option
    if body.moving or a.get("mocap") or a.get("fuse") == "false" or a.get("sleep", "auto") != "auto":
        return False
    if body.element.find("plugin"):
        return False
    if parent.parent is None:
        return True
    fluid = float(option["density"]) > 0 or float(option["viscosity"]) > 0
    if fluid and any(placed.attributes.get("fluidshape") == "ellipsoid" for placed in body.geoms):
        return False
    if body.mass >= MINVAL and (fluid or a["gravcomp"] != parent.attributes["gravcomp"]):
        return False
    inferred = ctx.settings(body.element).inertiafromgeom == InertiaFromGeom.TRUE
    return not (inferred and (body.adjusted or parent.adjusted))


def _fuse(body: Body) -> None:
    """Move what a body holds into its parent."""
    parent, pose = body.parent, (body.pos, body.quat)
    for part in _PARTS:
        moved = [dataclasses.replace(placed, frame=_after(pose, placed.frame)) for placed in getattr(body, part)]
        getattr(parent, part).extend(moved)
    index = parent.children.index(body)
    parent.children[index : index + 1] = body.children
    for child in body.children:
        child.parent, child.frame = parent, _after(pose, child.frame)
        child.pos, child.quat = compose(*pose, child.pos, child.quat)
    if parent.parent is not None and body.mass >= MINVAL:
        _add_inertia(parent, body, pose)


def _after(pose: Pose, frame: Pose | None) -> Pose:
    return compose(*pose, *frame) if frame else pose


def _add_inertia(parent: Body, body: Body, pose: Pose) -> None:
    """Add the inertia of a body to that of its parent.  Source: mjCBody::AccumulateInertia."""
    ipos, iquat = compose(*pose, body.ipos, body.iquat)
    parts = [(body.mass, ipos, iquat, body.inertia)]
    if parent.mass >= MINVAL:
        parts.append((parent.mass, parent.ipos, parent.iquat, parent.inertia))
    mass = sum(part[0] for part in parts)
    center = sum(part[0] * part[1] for part in parts) / mass
    tensor = sum(inertia_tensor(inertia, quat, m, pos - center) for m, pos, quat, inertia in parts)
    inertia, axes = principal_axes(np.asarray(tensor))
    parent.mass, parent.ipos, parent.iquat, parent.inertia = mass, center, axes, inertia
    parent.given = mass, center, axes, inertia
