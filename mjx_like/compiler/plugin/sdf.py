"""Signed distances of geoms: shapes of plugins with their parameters, and fields of meshes."""

from typing import Any

import numpy as np

from mjx_like.compiler.context import keyword
from mjx_like.compiler.element.asset import asset_name
from mjx_like.compiler.mesh.asset import Mesh
from mjx_like.compiler.mesh.box_tree import face_order
from mjx_like.compiler.mesh.field import MeshField, mesh_field
from mjx_like.compiler.plugin.registry import config, plugin_name
from mjx_like.compiler.plugin.sdf_shape import parameters_of
from mjx_like.compiler.tree import Body
from mjx_like.geometry.plugin_shape import SHAPES
from mjx_like.mjcf.asset.mesh_data import MeshError
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import GeomType

_MOST = 5  # parameters of a shape


def compile_sdfs(spec: Spec, bodies: list[Body], meshes: list[Mesh]) -> dict[str, Any]:
    """Return the columns of the geoms that use a plugin themselves, and the fields of the meshes that sdf geoms have.

    bodies: the compiled tree.

    Raises:
      ModelError: a parameter that is no number.
    Source: Sdf::Create in plugin/sdf.
    """
    columns: dict[str, list] = {"sdf_geomid": [], "sdf_kind": [], "sdf_param": []}
    geoms = [placed.element for body in bodies for placed in body.geoms]
    for index, geom in enumerate(geoms):
        plugin = geom.find("plugin")
        if plugin is None:
            continue
        name = plugin_name(spec, plugin)
        try:
            values = list(parameters_of(SHAPES[name], config(spec, plugin)).values())
        except MeshError as problem:
            raise geom.error(str(problem)) from None
        columns["sdf_geomid"].append(index)
        columns["sdf_kind"].append(list(SHAPES).index(name))
        columns["sdf_param"].append(np.array([*values, *(_MOST - len(values)) * [0.0]]))
    fielded = {placed.attributes["mesh"] for body in bodies for placed in body.geoms if _is_sdf(placed.attributes)}
    shown = [asset_name(mesh.element) in fielded and mesh.element.find("plugin") is None for mesh in meshes]
    fields = [
        mesh_field(mesh.data.vert, mesh.data.face) if own else None for mesh, own in zip(meshes, shown, strict=True)
    ]
    return columns | place_fields(fields) | {"mesh_faceorder": _orders(meshes, bool(fielded))}


def _orders(meshes: list[Mesh], searched: bool) -> np.ndarray:
    """Return the order of the faces of each mesh; that of their numbers where nothing searches them."""
    orders = [face_order(x.data.vert, x.data.face) if searched else np.arange(len(x.data.face)) for x in meshes]
    return np.concatenate([np.zeros(0, int), *orders])


def _is_sdf(attributes: dict[str, Any]) -> bool:
    return keyword(GeomType, attributes["type"]) == GeomType.SDF


def place_fields(fields: list[MeshField | None]) -> dict[str, Any]:
    """Return the columns of the fields of meshes, None for a mesh without."""
    sizes = [field.value.size if field else 0 for field in fields]
    return {
        "mesh_sdfadr": [sum(sizes[:i]) if size else -1 for i, size in enumerate(sizes)],
        "mesh_sdfdepth": [(len(field.value) - 1).bit_length() - 1 if field else 0 for field in fields],
        "mesh_sdfbox": [field.box if field else np.zeros(6) for field in fields],
        "sdf_value": np.concatenate([np.zeros(0), *(field.value.ravel() for field in fields if field)]),
    }
