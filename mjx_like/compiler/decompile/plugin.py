"""Plugins that compile into values: cables with their moduli, and signed distance shapes with their parameters."""

import dataclasses

import numpy as np

from mjx_like.compiler.decompile.source import Source
from mjx_like.compiler.plugin.cable import rest_curvature, section_moments
from mjx_like.compiler.plugin.registry import CABLE
from mjx_like.compiler.plugin.sdf_shape import sdf_mesh
from mjx_like.errors import ModelError
from mjx_like.geometry.plugin_shape import SHAPES
from mjx_like.mjcf.asset.mesh_data import MeshData
from mjx_like.mjcf.canonical import node
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import quat_to_mat
from mjx_like.types.enums import ObjType

_ROUNDING = 1e-6  # share by which numbers of single precision may miss what they are meant to be


@dataclasses.dataclass(frozen=True)
class Plugins:
    """The section `extension` of a model, and the instance that a body, geom or mesh uses, by its number."""

    extension: list[Element]
    of_body: dict[int, str]
    of_geom: dict[int, str]
    of_mesh: dict[int, str]
    vert: dict[int, np.ndarray]  # of the meshes in `of_mesh`, to the digit


def plugins(s: Source) -> Plugins:
    """Return the plugins of a model: an instance for each cable and each shape.

    Raises ModelError for stiffness or curvature of a cable that no moduli give.
    """
    instances: dict[str, list[Element]] = {}
    of_body, of_geom, of_mesh, vert = {}, {}, {}, {}

    def instance(plugin: str, name: str, config: dict[str, str]) -> str:
        keys = [node("config", {"key": key, "value": value}) for key, value in config.items()]
        instances.setdefault(plugin, []).append(node("instance", {"name": name}, keys))
        return name

    for number, rows in enumerate(_chains(s)):
        name, chain = instance(CABLE, f"cable {number}", _material(s, rows)), s["cable_bodyid"][rows]
        of_body |= dict.fromkeys((int(s["body_parentid"][chain[0]]), *chain.tolist()), name)
    for number, geom in enumerate(s["sdf_geomid"]):
        plugin = list(SHAPES)[s["sdf_kind"][number]]
        values = zip(SHAPES[plugin].parameters, s["sdf_param"][number], strict=False)
        config = {name: repr(float(x)) for name, x in values}
        of_geom[int(geom)] = instance(plugin, f"shape {number}", config)
        mesh = int(s["geom_dataid"][geom])
        if mesh not in of_mesh and _shows(s, mesh, made := sdf_mesh(SHAPES[plugin], config)):
            of_mesh[mesh], vert[mesh] = of_geom[int(geom)], made.vert
    extension = [node("plugin", {"plugin": name}, found, "extension_plugin") for name, found in instances.items()]
    return Plugins(extension, of_body, of_geom, of_mesh, vert)


def use(instances: dict[int, str], index: int) -> list[Element]:
    """Return the element by which a body, a geom or a mesh uses an instance, if it does."""
    return [node("plugin", {"instance": instances[index]})] if index in instances else []


def _shows(s: Source, mesh: int, made: MeshData) -> bool:
    """Return whether a mesh is the one that a shape makes."""
    if mesh < 0 or s["mesh_vertnum"][mesh] != len(made.vert) or (s["mesh_scale"][mesh] != 1).any():
        return False
    start = int(s["mesh_vertadr"][mesh])
    vert = s["mesh_vert"][start : start + len(made.vert)] @ quat_to_mat(s["mesh_quat"][mesh]).T + s["mesh_pos"][mesh]
    return np.allclose(vert, made.vert, rtol=0, atol=_ROUNDING * np.abs(made.vert).max())


def _chains(s: Source) -> list[np.ndarray]:
    """Return the rows of each cable: bodies that are bound to the body before them."""
    body = np.asarray(s["cable_bodyid"], int)
    starts = np.flatnonzero(~np.isin(s["body_parentid"][body], body))
    return np.split(np.arange(len(body)), starts[1:]) if len(body) else []


def _material(s: Source, rows: np.ndarray) -> dict[str, str]:
    """Return the configuration of a cable: its moduli, and whether it is straight at rest."""
    bodies = s["cable_bodyid"][rows]
    label = s.label(ObjType.BODY, int(bodies[0]))
    length = np.linalg.norm(s["body_pos"][bodies], axis=1)
    moments = np.array([section_moments(s.arrays.fields, s["body_geomadr"][body]) for body in bodies])
    stiffness = s["cable_stiffness"][rows] * length[:, None]
    found = {"twist": _modulus(stiffness[:, :1], moments[:, :1]), "bend": _modulus(stiffness[:, 1:], moments[:, 1:])}
    if None in found.values():
        raise ModelError(f"{label}: no modulus gives the cable_stiffness of its cable; MJCF has one for all bodies")
    curvature = s["cable_curvature"][rows]
    bent = np.array([rest_curvature(quat) for quat in s["body_quat"][bodies]])
    if curvature.any() and not np.allclose(curvature, bent, rtol=_ROUNDING, atol=_ROUNDING):
        raise ModelError(f"{label}: cable_curvature is neither 0 nor that of body_quat; MJCF cannot say that")
    return {key: repr(float(value)) for key, value in found.items()} | ({} if curvature.any() else {"flat": "true"})


def _modulus(stiffness: np.ndarray, moments: np.ndarray) -> float | None:
    """Return the modulus that gives a stiffness to sections with these moments, None if there is none."""
    modulus = float(np.median(stiffness[moments > 0] / moments[moments > 0])) if (moments > 0).any() else 0.0
    return modulus if np.allclose(stiffness, modulus * moments, rtol=_ROUNDING, atol=0) else None
