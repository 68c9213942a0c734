"""Rays against the geoms of a model."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MAXVAL
from mjx_like.errors import UnsupportedError
from mjx_like.geometry.ray import RAY
from mjx_like.geometry.signed_distance import has_field
from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.ray.surface import SURFACES
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array
NGROUP = 6


def ray(
    m: Model,
    d: Data,
    pnt: Array,
    vec: Array,
    geomgroup: Sequence[int] = (),
    flg_static: bool = True,
    bodyexclude: Sequence[int] | int = -1,
) -> tuple[Array, Array]:
    """Return (dist, geomid): how far along a ray the first visible geom is, in units of |vec|; (-1, -1) if none is.

    Args:
      pnt: where the ray begins, shape (3,) [m, world].
      vec: its direction, shape (3,) [world].
      geomgroup: for each of the six geom groups whether it is included; empty for all.
      flg_static: whether geoms of static bodies are included.
      bodyexclude: one body id or several whose geoms are excluded.

    Raises:
      UnsupportedError: a geom that the ray may meet is of a type for which rays are not built yet.

    Reads geom_xpos, geom_xmat.  Source: mj_ray.
    """
    include = _included(m.topology, geomgroup, flg_static, bodyexclude)
    dist, geomid, _ = cast(m, d, pnt[None], vec[None], include[None])
    return dist[0], geomid[0]


def multi_ray(
    m: Model,
    d: Data,
    pnt: Array,
    vec: Array,
    geomgroup: Sequence[int] = (),
    flg_static: bool = True,
    bodyexclude: Sequence[int] | int = -1,
    cutoff: Array | float = MAXVAL,
) -> tuple[Array, Array, Array]:
    """Return (dist, geomid, normal) of rays that begin at one point, shapes (n,), (n,), (n, 3).

    Arguments and results are those of `ray`, and the outward normal of the geom that is met, zero on a miss.

    Args:
      vec: directions of the rays, shape (n, 3) [world].
      cutoff: geoms whose bounding sphere is further from `pnt` are not met [m]; planes always are.

    Raises:
      UnsupportedError: a geom that the rays may meet is of a type for which rays are not built yet.

    Reads geom_xpos, geom_xmat.  Source: mj_multiRay.
    """
    include = _included(m.topology, geomgroup, flg_static, bodyexclude)
    near = (safe.norm(d.geom_xpos - pnt) <= cutoff + m.geom_rbound) | (m.geom_type == GeomType.PLANE)
    include = np.broadcast_to(include, (vec.shape[0], m.ngeom))
    return cast(m, d, jnp.broadcast_to(pnt, vec.shape), vec, include, near)


def _included(t: Topology, geomgroup: Sequence[int], flg_static: bool, bodyexclude: Sequence[int] | int) -> np.ndarray:
    """Return which geoms a ray may meet, by group, by body and by whether that can move, shape (ngeom,)."""
    include = ~np.isin(t.geom_bodyid, np.atleast_1d(bodyexclude))
    if not flg_static:
        include &= t.body_weldid[t.geom_bodyid] != 0
    if len(geomgroup):
        include &= np.asarray(geomgroup, bool)[np.clip(t.geom_group, 0, NGROUP - 1)]
    lacking = unbuilt(t, include[None])
    if lacking:
        raise UnsupportedError("the engine cannot run this ray yet: " + "; ".join(lacking))
    return include


def unbuilt(t: Topology, include: np.ndarray) -> tuple[str, ...]:
    """Return the geoms, by name and type, that some ray may meet but cannot yet; include: shape (nray, ngeom)."""
    found = []
    for geom in np.flatnonzero(include.any(axis=0)):
        kind = int(t.geom_type[geom])
        if kind in RAY | SURFACES and (kind != GeomType.SDF or has_field(t, geom)):
            continue
        name = t.names.get(ObjType.GEOM, ("",) * t.ngeom)[geom] or f"number {geom}"
        found.append(f"ray against geom {name}: type {GeomType(kind).name.lower()} is not built yet")
    return tuple(found)


class Shapes(NamedTuple):
    """What rays may meet.

    kind: GeomType of each, static; data: of meshes and height fields, static; shapes (n,). pos, mat, size: as those of
    geoms, shapes (n, 3), (n, 3, 3), (n, 3) [m, world]. Fields come first, in the order of the model's geoms.
    """

    kind: np.ndarray
    data: np.ndarray
    pos: Array
    mat: Array
    size: Array


class Met(NamedTuple):
    """What each ray meets first.

    dist: in units of the direction's length; shape: which one; normal: outward, unit length, shape (n, 3). A miss gives
    -1, -1 and zeros. face: number of the face among those of all meshes where that is a mesh, None without meshes.
    """

    dist: Array
    shape: Array
    normal: Array
    face: Array | None


def cast(
    m: Model, d: Data, point: Array, vector: Array, include: np.ndarray, near: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return distance, geom id and outward normal where each ray first meets a geom, shapes (n,), (n,), (n, 3).

    point, vector: of the rays, shape (n, 3) [world]; include: static, which geoms each ray may meet, shape (n, ngeom);
    near: which geoms any ray may meet, shape (ngeom,), None for all.
    Geoms with zero alpha are never met. A miss gives -1, -1 and zeros.
    Reads geom_xpos, geom_xmat.
    """
    seen = _alpha(m) != 0
    geoms = Shapes(m.geom_type, m.geom_dataid, d.geom_xpos, d.geom_xmat, m.geom_size)
    met = first_met(m, geoms, point, vector, include, seen if near is None else seen & near)
    return met.dist, met.shape, met.normal


def first_met(m: Model, shapes: Shapes, point: Array, vector: Array, include: np.ndarray, seen: Array) -> Met:
    """Return what rays meet first.

    point, vector: of the rays, shape (n, 3) [world]; include: static, which shapes each ray may meet, shape (n, k);
    seen: which shapes any ray may meet, shape (k,).
    """
    dists, normals, ids, face = [], [], [], None
    for kind, kernel in (RAY | SURFACES).items():
        own = np.flatnonzero((shapes.kind == kind) & include.any(axis=0))
        if not own.size:
            continue
        rotation = take(shapes.mat, own)
        start = _rotated(rotation, point[:, None] - take(shapes.pos, own))
        along = _rotated(rotation, vector[:, None])
        visible = include[:, own] & take(seen, own)
        if kind in SURFACES:
            data = own if kind == GeomType.SDF else shapes.data[own]  # a field is found by its geom
            dist, normal, *rest = kernel(m, data, start, along, visible)
            face = rest[0] if rest else face
        else:
            dist, normal = kernel(start, along, take(shapes.size, own))
        dists.append(jnp.where(visible & (dist >= 0), dist, jnp.inf))
        normals.append(jnp.sum(rotation * normal[..., None, :], axis=-1))
        ids.append(own)
    if not dists:
        nothing = jnp.full(point.shape[0], -1, jnp.int32)
        return Met(nothing.astype(point.dtype), nothing, jnp.zeros_like(point), None)
    return Met(*_first(jnp.concatenate(dists, axis=1), jnp.concatenate(normals, axis=1), np.concatenate(ids)), face)


def _rotated(rotation: Array, vector: Array) -> Array:
    """Return vectors of shape (n or 1, k, 3) in the frames of `rotation`, shape (k, 3, 3)."""
    return jnp.sum(rotation * vector[..., None], axis=-2)


def _alpha(m: Model) -> Array:
    """Return the opacity of geoms, of their material where they have one, shape (ngeom,)."""
    own, material = m.geom_rgba[:, 3], m.geom_matid
    if not m.nmat:
        return own
    return jnp.where(material >= 0, take(m.mat_rgba[:, 3], np.maximum(material, 0)), own)


def _first(dist: Array, normal: Array, shapes: np.ndarray) -> tuple[Array, Array, Array]:
    """Return the least distance with its shape and normal; dist: shape (n, k), normal: shape (n, k, 3)."""
    best = jnp.argmin(dist, axis=1)
    chosen = np.arange(dist.shape[1]) == best[:, None]
    least = jnp.min(dist, axis=1)
    hit = jnp.isfinite(least)
    shape = jnp.sum(jnp.where(chosen, np.asarray(shapes, np.int32), 0), axis=1, dtype=jnp.int32)
    facing = jnp.sum(jnp.where(chosen[..., None] & hit[:, None, None], normal, 0), axis=1)
    return jnp.where(hit, least, -1), jnp.where(hit, shape, -1), facing
