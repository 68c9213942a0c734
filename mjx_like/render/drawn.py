"""What is drawn: geoms, sites, the segments of tendons and skins, with their colours."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.math.select import take
from mjx_like.ray.stage import Shapes
from mjx_like.render.corner import Corners, corners_of_meshes, with_skins
from mjx_like.render.skin import Skins
from mjx_like.render.skin import skins as skin_triangles
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType, WrapType
from mjx_like.types.model import Model
from mjx_like.visual.look import PLAIN, texture_of_material

Array = jax.Array

_PULLEY = -2  # in wrap_obj


class Drawn(NamedTuple):
    """Shapes: all geoms, then sites, then segments of tendons, then skins.

    shapes: where they are; include: which are drawn at all, static; material, texture: ids, -1 for none, static; rgba:
    colours, those of materials where the object says none; look: emission, specular, shininess and reflectance. Shapes
    (n,), colours and look (n, 4). corners: of the faces of meshes, then of skins, None without; skins: their triangles,
    in the world, None without.
    """

    shapes: Shapes
    include: np.ndarray
    material: np.ndarray
    texture: np.ndarray
    rgba: Array
    look: Array
    corners: Corners | None = None
    skins: Skins | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return self.include.size

    def is_kind(self, *kinds: GeomType) -> np.ndarray:
        """Return which are drawn and of one of these kinds, shape (n,)."""
        return self.include & np.isin(self.shapes.kind, kinds)


def drawn(m: Model, d: Data, groups: tuple[int, ...], sites: bool, tendons: bool, skins: bool) -> Drawn:
    """Return what is drawn of one world.

    Args:
      m: the model.
      d: one world; reads xpos, xquat, geom_xpos, geom_xmat, site_xpos, site_xmat, ten_wrapadr, ten_wrapnum, wrap_obj,
        wrap_xpos.
      groups: of geoms, sites, tendons and skins.
      sites: whether sites are drawn.
      tendons: whether spatial tendons are drawn.
      skins: whether skins are drawn.
    Source: mjv_addGeoms.
    """
    found = [_geoms(m, d, groups)]
    if sites and np.isin(m.site_group, groups).any():
        found.append(_sites(m, d, groups))
    if tendons and (np.isin(m.tendon_group, groups) & (m.wrap_type[m.tendon_adr] != WrapType.JOINT)).any():
        found.append(_segments(m, d, groups))
    own = np.flatnonzero(np.isin(m.skin_group, groups)) if skins else np.zeros(0, int)
    if own.size:
        found.append(_skins(m, own))
    shown = found[0] if len(found) == 1 else jax.tree.map(_joined, *found)
    if shown.is_kind(GeomType.MESH, GeomType.SKIN).any():
        shown = shown._replace(corners=corners_of_meshes(m))
    if own.size:
        surface = skin_triangles(m, d, own, shown.count - own.size)
        shown = shown._replace(skins=surface, corners=with_skins(m, own, shown.corners, surface))
    return shown


def _joined(*parts: np.ndarray | Array) -> np.ndarray | Array:
    return (np if all(isinstance(part, np.ndarray) for part in parts) else jnp).concatenate(parts)


def _geoms(m: Model, d: Data, groups: tuple[int, ...]) -> Drawn:
    shapes = Shapes(m.geom_type, m.geom_dataid, d.geom_xpos, d.geom_xmat, m.geom_size)
    return Drawn(
        shapes, np.isin(m.geom_group, groups), m.geom_matid, _texture(m, m.geom_matid),
        colors(m, m.geom_rgba, m.geom_matid), _looks(m, m.geom_matid),
    )  # fmt: skip


def _sites(m: Model, d: Data, groups: tuple[int, ...]) -> Drawn:
    """Sites of the groups; others are left out."""
    own = np.flatnonzero(np.isin(m.site_group, groups))
    material = m.site_matid[own]
    shapes = Shapes(
        m.site_type[own], m.site_dataid[own], take(d.site_xpos, own), take(d.site_xmat, own), take(m.site_size, own)
    )
    rgba = colors(m, take(m.site_rgba, own), material)
    return Drawn(shapes, np.ones(own.size, bool), material, _texture(m, material), rgba, _looks(m, material))


def _segments(m: Model, d: Data, groups: tuple[int, ...]) -> Drawn:
    """Segments of the paths of spatial tendons as capsules; those that a path does not use are transparent.

    Inside the objects that a tendon wraps around, segments are half as wide. Materials colour them without textures.
    """
    on_path = np.where(np.isin(m.wrap_type, (WrapType.SPHERE, WrapType.CYLINDER)), 2, m.wrap_type != WrapType.JOINT)
    most = int(on_path.sum())
    point, obj = d.wrap_xpos.reshape(-1, 3)[:most], d.wrap_obj.reshape(-1)[:most]
    number, last = np.arange(most - 1)[:, None], d.ten_wrapadr + d.ten_wrapnum - 1
    own = (number >= d.ten_wrapadr) & (number < last) & np.isin(m.tendon_group, groups)
    whole = (obj[:-1] != _PULLEY) & (obj[1:] != _PULLEY)
    inside = (obj[:-1] >= 0) & (obj[1:] >= 0)
    axis, length = safe.normalize(point[1:] - point[:-1])
    pick = (own & whole[:, None]).astype(point.dtype)
    width = pick @ m.tendon_width * jnp.where(inside, 0.5, 1)
    size = jnp.stack([width, length[:, 0] / 2, jnp.zeros_like(width)], axis=1)
    mat = jax.vmap(lambda z: quaternion.matrix(quaternion.from_z_axis(z)))(axis)
    none = np.full(most - 1, -1)
    shapes = Shapes(np.full(most - 1, int(GeomType.CAPSULE)), none, (point[1:] + point[:-1]) / 2, mat, size)
    rgba, look = pick @ colors(m, m.tendon_rgba, m.tendon_matid), pick @ _looks(m, m.tendon_matid)
    return Drawn(shapes, np.ones(most - 1, bool), none, none, rgba, look)


def _skins(m: Model, own: np.ndarray) -> Drawn:
    """Skins by id, in the frame of the world."""
    dtype, material = m.qpos0.dtype, m.skin_matid[own]
    shapes = Shapes(
        np.full(own.size, int(GeomType.SKIN)), own, jnp.zeros((own.size, 3), dtype),
        jnp.broadcast_to(jnp.eye(3, dtype=dtype), (own.size, 3, 3)), jnp.ones((own.size, 3), dtype),
    )  # fmt: skip
    rgba = colors(m, take(m.skin_rgba, own), material)
    return Drawn(shapes, np.ones(own.size, bool), material, _texture(m, material), rgba, _looks(m, material))


def colors(m: Model, rgba: Array, material: np.ndarray) -> Array:
    """Return the colours of objects, of their materials where they say none, shape (n, 4).

    rgba: their own, shape (n, 4); material: ids, static, shape (n,).  Source: setMaterial in engine_vis_visualize.c.
    """
    if not m.nmat:
        return rgba
    plain = jnp.all(rgba == PLAIN, axis=1)
    return jnp.where(((material >= 0) & plain)[:, None], m.mat_rgba[np.maximum(material, 0)], rgba)


def _looks(m: Model, material: np.ndarray) -> Array:
    """Emission, specular, shininess and reflectance of objects, shape (n, 4).  Source: mjv_initGeom."""
    plain = jnp.array([0, 0.5, 0.5, 0], m.qpos0.dtype)
    if not m.nmat:
        return jnp.broadcast_to(plain, (material.size, 4))
    table = jnp.stack([m.mat_emission, m.mat_specular, m.mat_shininess, m.mat_reflectance], axis=1)
    return jnp.where((material >= 0)[:, None], table[np.maximum(material, 0)], plain)


def _texture(m: Model, material: np.ndarray) -> np.ndarray:
    """Ids of the textures of objects, -1 for none, shape (n,)."""
    if not m.nmat:
        return np.full(material.size, -1)
    return np.where(material >= 0, texture_of_material(m)[np.maximum(material, 0)], -1)
