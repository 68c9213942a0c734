"""From a Spec to the arrays of mjModel: the order in which everything is compiled."""

from typing import Any

import numpy as np

from mjx_like.compiler.arrays import Columns, Row, assemble, stack
from mjx_like.compiler.contact import contact_of_elements
from mjx_like.compiler.context import Context, keyword
from mjx_like.compiler.element.actuator import compile_actuator, place_actuators
from mjx_like.compiler.element.asset import asset_name, compile_hfield, compile_material, place_hfields
from mjx_like.compiler.element.body import Tables, compile_tree, sleep_policies
from mjx_like.compiler.element.contact import compile_exclude, compile_pair
from mjx_like.compiler.element.custom import compile_keyframes, compile_numerics, compile_texts, compile_tuples
from mjx_like.compiler.element.equality import compile_equality
from mjx_like.compiler.element.joint import NQ
from mjx_like.compiler.element.sensor import compile_sensor, place_sensors
from mjx_like.compiler.element.skin import compile_skins
from mjx_like.compiler.element.tendon import compile_tendon
from mjx_like.compiler.element.texture import compile_texture, place_textures
from mjx_like.compiler.finalize import Arrays
from mjx_like.compiler.finite import check_finite
from mjx_like.compiler.flex.tables import compile_flexes
from mjx_like.compiler.integrator import integrator_of_elements
from mjx_like.compiler.lengthrange import set_length_ranges
from mjx_like.compiler.mesh.asset import compile_mesh, place_meshes
from mjx_like.compiler.mesh.geom import MESH_TYPES, Assets
from mjx_like.compiler.plugin.cable import compile_cables
from mjx_like.compiler.plugin.registry import check_plugins, unsupported
from mjx_like.compiler.plugin.sdf import compile_sdfs
from mjx_like.compiler.reduce import reduced, take_visuals, without_looks
from mjx_like.compiler.reference import derive
from mjx_like.compiler.settings import context, options, statistics, user_size, visual
from mjx_like.compiler.simple import simple_bodies
from mjx_like.compiler.tree import Body, check_counts, flatten
from mjx_like.constants import MINVAL
from mjx_like.errors import ModelError
from mjx_like.mjcf.spec import Element, Spec
from mjx_like.types.enums import GeomType, JointType, ObjType
from mjx_like.types.named import NAMED_KINDS

_USER_SIZES = {
    "nuser_body": "body", "nuser_jnt": "joints", "nuser_geom": "geoms", "nuser_site": "sites",
    "nuser_cam": "cameras",
}  # fmt: skip


@np.errstate(all="ignore")  # numbers too large are told by check_finite, by element
def compile_spec(spec: Spec) -> Arrays:
    """Return the arrays, options, statistics and names of a model.

    Args:
      spec: the model as its files say it.

    Raises:
      ModelError: anything wrong with the model, or not built yet, with file, line and element.
    Source: mjCModel::TryCompile.
    """
    ctx = context(spec)
    check_plugins(spec)
    bodies = flatten(ctx)
    columns = Columns()
    if ctx.discards or spec.compiler["fusestatic"]:
        bodies, spec = _reduced(ctx, bodies)
    check_counts(bodies)
    _register(ctx, bodies)
    _user_sizes(ctx, bodies)
    assets = _assets(ctx, bodies, columns)
    tables = compile_tree(ctx, bodies, assets)
    columns.add(tables.columns())
    columns.add({"tree_sleep_policy": sleep_policies(bodies, tables)})
    columns.add(place_hfields(assets.hfields))
    columns.add(stack(hfield.row for hfield in assets.hfields))
    rows, parts = place_meshes(assets.meshes)
    columns.add(stack(rows) | parts)
    sizes = _constraints_and_actuation(ctx, columns) | ctx.user
    skins, parts = compile_skins(ctx, _section(spec, "asset", "skin") + _section(spec, "deformable", "skin"))
    columns.add(stack(skins) | parts)
    _custom(ctx, columns)
    sizes |= {"nuserdata": int(spec.size.get("nuserdata") or 0)}
    sizes |= {"nmocap": sum(i >= 0 for i in columns["body_mocapid"])}
    flexes, flex_sizes = compile_flexes(ctx, bodies, _section(spec, "deformable", "flex"), columns, _plastic(columns))
    columns.add(flexes)
    sizes |= flex_sizes
    columns.add(compile_cables(ctx.spec, bodies, columns))
    columns.add(compile_sdfs(ctx.spec, bodies, assets.meshes))
    return _finish(ctx, columns.sizes() | sizes, columns, tables)


def _reduced(ctx: Context, bodies: list[Body]) -> tuple[list[Body], Spec]:
    """The bodies and the model that fusestatic and discardvisual leave."""
    if ctx.discards:
        take_visuals(ctx, bodies, even_massive=False)
        ctx.spec = without_looks(ctx.spec, bodies)
    _register(ctx, bodies)
    _user_sizes(ctx, bodies)
    bodies = reduced(ctx, bodies, _assets(ctx, bodies, Columns()))
    if ctx.discards:
        ctx.spec = without_looks(ctx.spec, bodies)
    return bodies, ctx.spec


def _finish(ctx: Context, sizes: dict[str, int], columns: Columns, tables: Tables) -> Arrays:
    keys = _section(ctx.spec, "keyframe", "key")
    sizes["nkey"] = max(len(keys), int(ctx.spec.size.get("nkey") or 0))
    _check_sizes(ctx, sizes)
    fields = assemble(sizes, columns)
    names = {kind: tuple(ctx.names.lists.get(kind, ())) for kind in ObjType if kind in NAMED_KINDS}
    names[ObjType.KEY] = tuple(key.get("name", "") for key in keys) + ("",) * (sizes["nkey"] - len(keys))
    if ctx.settotalmass > 0:
        scale = ctx.settotalmass / max(MINVAL, fields["body_mass"].sum())
        fields["body_mass"], fields["body_inertia"] = fields["body_mass"] * scale, fields["body_inertia"] * scale
    check_finite(ctx, fields)
    settings, statistic = options(ctx.spec), statistics(ctx.spec)
    fields["body_simple"] = simple_bodies(fields, np.array(tables.simple))
    try:
        derive(fields, settings, statistic)
    except ModelError as error:
        raise ctx.spec.error("mujoco", str(error)) from None
    _spring_dampers(fields, tables.springdamper)
    for name, column in stack(compile_keyframes(ctx, keys, fields, sizes["nkey"])).items():
        fields[name] = np.array(column, float).reshape(fields[name].shape)
    arrays = Arrays(fields=fields, options=settings, statistics=statistic, visual=visual(ctx.spec), names=names)
    arrays.unsupported = unsupported(ctx.spec) + set_length_ranges(ctx, arrays)
    custom = _section(ctx.spec, "custom")
    arrays.options |= integrator_of_elements(custom)
    arrays.contact = contact_of_elements(custom)
    return arrays


def _check_sizes(ctx: Context, sizes: dict[str, int]) -> None:
    """Raise ModelError for sizes that a file asks for in one number and that no memory holds."""
    if sizes["nuserdata"] < 0:
        raise ctx.spec.error("size", f"nuserdata is {sizes['nuserdata']}, must not be negative")
    room = max(1, *(sizes[name] for name in ("nq", "nv", "na", "nu")))
    for name, width in (("nkey", room), ("nuserdata", 1), ("nsensordata", 1), ("nhistory", 1), ("na", 1)):
        if sizes[name] * width > MAX_VALUES:
            raise ctx.spec.error("mujoco", f"{name} is {sizes[name]}, more than memory holds; {_ASKED[name]}")


MAX_VALUES = 1 << 27
_ASKED = {
    "nkey": "give the size element a smaller nkey",
    "nuserdata": "give the size element a smaller nuserdata",
    "nsensordata": "lessen num, dim or the camera resolution of a sensor",
    "nhistory": "lessen nsample of an actuator or sensor",
    "na": "lessen actdim of an actuator",
}


def _section(spec: Spec, section: str, *tags: str) -> list[Element]:
    elements = spec.sections.get(section, [])
    return [element for element in elements if element.tag in tags] if tags else list(elements)


def _register(ctx: Context, bodies: list[Body]) -> None:
    """Give every object of the model its id."""
    spec, names = ctx.spec, ctx.names

    def register(kind: ObjType, elements: list[Element], naming=lambda element: element.get("name", "")) -> None:
        names.register(kind, elements, [naming(element) for element in elements])

    names.register(
        ObjType.BODY,
        [body.element for body in bodies],
        ["world", *(body.element.get("name", "") for body in bodies[1:])],
    )
    for kind, part in (
        (ObjType.JOINT, "joints"), (ObjType.GEOM, "geoms"), (ObjType.SITE, "sites"), (ObjType.CAMERA, "cameras"),
        (ObjType.LIGHT, "lights"),
    ):  # fmt: skip
        register(kind, [placed.element for body in bodies for placed in getattr(body, part)])
    register(ObjType.TEXTURE, _section(spec, "asset", "texture"), asset_name)
    register(ObjType.MATERIAL, _section(spec, "asset", "material"))
    register(ObjType.MESH, _section(spec, "asset", "mesh"), asset_name)
    register(ObjType.HFIELD, _section(spec, "asset", "hfield"), asset_name)
    register(ObjType.FLEX, _section(spec, "deformable", "flex"))
    register(ObjType.SKIN, _section(spec, "asset", "skin") + _section(spec, "deformable", "skin"))
    for kind, section in (
        (ObjType.EQUALITY, "equality"), (ObjType.TENDON, "tendon"), (ObjType.ACTUATOR, "actuator"),
        (ObjType.SENSOR, "sensor"),
    ):  # fmt: skip
        register(kind, _section(spec, section))
    for kind, tag in ((ObjType.NUMERIC, "numeric"), (ObjType.TEXT, "text"), (ObjType.TUPLE, "tuple")):
        register(kind, _section(spec, "custom", tag))
    register(ObjType.KEY, _section(spec, "keyframe", "key"))
    for kind, tag in ((ObjType.PAIR, "pair"), (ObjType.EXCLUDE, "exclude")):
        register(kind, _section(spec, "contact", tag))


def _user_sizes(ctx: Context, bodies: list[Body]) -> None:
    spec = ctx.spec
    for size, part in _USER_SIZES.items():
        if part == "body":
            values = [body.attributes for body in bodies]
        else:
            values = [placed.attributes for body in bodies for placed in getattr(body, part)]
        ctx.user[size] = user_size(spec, size, values)
    for size, section in (("nuser_tendon", "tendon"), ("nuser_actuator", "actuator"), ("nuser_sensor", "sensor")):
        ctx.user[size] = user_size(spec, size, [spec.resolve(element) for element in _section(spec, section)])


def _assets(ctx: Context, bodies: list[Body], columns: Columns) -> Assets:
    """Compile textures and materials into `columns`; return the height fields and meshes."""
    textures = [compile_texture(ctx, element) for element in _section(ctx.spec, "asset", "texture")]
    columns.add(place_textures(textures))
    columns.add(stack(texture.row for texture in textures))
    columns.add(stack(compile_material(ctx, element) for element in _section(ctx.spec, "asset", "material")))
    for element in _section(ctx.spec, "asset", "texture", "material", "hfield", "mesh"):
        if not asset_name(element) and element.get("type") != "skybox":
            raise element.error("needs a name")
    hfields = [compile_hfield(ctx, element) for element in _section(ctx.spec, "asset", "hfield")]
    colliding = _colliding_meshes(ctx, bodies)
    meshes = [
        compile_mesh(ctx, element, asset_name(element) in colliding) for element in _section(ctx.spec, "asset", "mesh")
    ]
    return Assets(hfields, meshes)


def _colliding_meshes(ctx: Context, bodies: list[Body]) -> set[str]:
    """Return the names of meshes that need a convex hull: of a site, or of a geom that can touch something."""
    paired = {pair.get(name) for pair in _section(ctx.spec, "contact", "pair") for name in ("geom1", "geom2")}
    names = {site.attributes.get("mesh") for body in bodies for site in body.sites}
    for body in bodies:
        for geom in body.geoms:
            a = geom.attributes
            touching = a["contype"] or a["conaffinity"] or geom.element.get("name") in paired
            if touching and GeomType(keyword(GeomType, a["type"])) in MESH_TYPES:
                names.add(a.get("mesh"))
    return names - {None}


def _constraints_and_actuation(ctx: Context, columns: Columns) -> dict[str, int]:
    """Compile pairs, excludes, equalities, tendons, actuators and sensors into `columns`; return the sizes found."""
    spec = ctx.spec
    for tag, kind in (("pair", ObjType.PAIR), ("exclude", ObjType.EXCLUDE)):
        elements = _section(spec, "contact", tag)
        rows = [
            compile_pair(ctx, e, columns["geom_bodyid"]) if tag == "pair" else compile_exclude(ctx, e) for e in elements
        ]
        order = sorted(range(len(rows)), key=lambda i: rows[i][f"{tag}_signature"])
        ctx.names.register(kind, [elements[i] for i in order], [elements[i].get("name", "") for i in order])
        columns.add(stack(rows[i] for i in order))
    jnt_type, geom_type = columns.get("jnt_type", ()), columns.get("geom_type", ())
    columns.add(stack(compile_equality(ctx, element, jnt_type) for element in _section(spec, "equality")))
    tendons, path = [], []
    for element in _section(spec, "tendon"):
        row, wraps = compile_tendon(ctx, element, geom_type, jnt_type)
        tendons.append(row | {"tendon_adr": len(path)})
        path += wraps
    _place_plastic(tendons, _plastic(columns))
    columns.add(stack(tendons) | stack(path))
    actuators = [compile_actuator(ctx, element, columns) for element in _section(spec, "actuator")]
    blocks, history = place_actuators(actuators, 0)
    columns.add(stack(actuator.row for actuator in actuators) | blocks)
    sensors = [compile_sensor(ctx, element, columns) for element in _section(spec, "sensor")]
    nsensordata, history = place_sensors(sensors, history)
    columns.add(stack(sensors))
    return {"na": sum(columns.get("actuator_actnum", ())), "nsensordata": nsensordata, "nhistory": history}


def _custom(ctx: Context, columns: Columns) -> None:
    for rows, data in (
        compile_numerics(_section(ctx.spec, "custom", "numeric")),
        compile_texts(_section(ctx.spec, "custom", "text")),
        compile_tuples(ctx, _section(ctx.spec, "custom", "tuple")),
    ):
        columns.add(stack(rows) | data)


def _place_plastic(tendons: list[Row], address: int) -> None:
    """Give plastic tendon springs their state, after that of the joints."""
    for row in tendons:
        plastic = row["tendon_springyield"] > 0
        row["tendon_plasticadr"] = address if plastic else -1
        address += 2 * plastic


def _plastic(columns: Columns) -> int:
    """The number of plastic state variables of the joints and tendons compiled so far."""
    joints = zip(columns.get("jnt_plasticadr", ()), columns.get("jnt_type", ()), strict=True)
    tendons = sum(adr >= 0 for adr in columns.get("tendon_plasticadr", ()))
    return sum(NQ[JointType(kind)] for adr, kind in joints if adr >= 0) + 2 * tendons


def _spring_dampers(fields: dict[str, Any], springdampers: list[np.ndarray]) -> None:
    """Set stiffness and damping of joints whose springdamper is given.  Source: mjCModel::AutoSpringDamper."""
    for joint, (timeconst, dampratio) in enumerate(springdampers):
        if timeconst <= 0 or dampratio <= 0:
            continue
        dofs = fields["dof_jntid"] == joint
        inertia = dofs.sum() / max(MINVAL, fields["dof_invweight0"][dofs].sum())
        fields["jnt_stiffness"][joint] = inertia / max(MINVAL, timeconst**2 * dampratio**2)
        fields["dof_damping"][dofs] = 2 * inertia / max(MINVAL, timeconst)
