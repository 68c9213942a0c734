"""Geoms with the shape of a signed distance plugin: which shape, and its parameters."""

from typing import Any

import numpy as np

from mjx_like.compiler.plugin import config, plugin_name
from mjx_like.compiler.sdf_mesh import parameters_of
from mjx_like.compiler.tree import Body
from mjx_like.geometry.plugin_shape import SHAPES
from mjx_like.mjcf.asset.mesh_data import MeshError
from mjx_like.mjcf.spec import Spec

_MOST = 5  # parameters of a shape


def compile_sdfs(spec: Spec, bodies: list[Body]) -> dict[str, Any]:
    """Return the columns of the geoms that use a plugin themselves; bodies: the compiled tree.

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
    return columns
