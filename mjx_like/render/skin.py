"""Skins as triangles in the world, and rays against them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient as stop

from mjx_like.geometry.ray_surface import facing, to_plane
from mjx_like.geometry.triangle_tree import Tree, first_triangle, make_tree
from mjx_like.math import quaternion, safe
from mjx_like.math import vector as v
from mjx_like.math.select import rows, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

_BITS = 10  # of each axis in the order of triangles along a curve


class Skins(NamedTuple):
    """Triangles of the skins that are drawn.

    vertex, normal: of all skins, shape (nskinvert, 3) [m, world]; face: rows of vertices, static, shape (nface, 3);
    first: number of the first skin among shapes; tree: over the faces in the order of `slot`, their numbers, shape
    (nslot,).
    """

    vertex: Array
    normal: Array
    face: np.ndarray
    first: int
    tree: Tree
    slot: Array


def skins(m: Model, d: Data, own: np.ndarray, first: int) -> Skins:
    """Return the triangles of skins in a world.

    Args:
      m: the model.
      d: one world; reads xpos, xquat.
      own: ids of the skins, static.
      first: number of the first of them among all that is drawn.
    Source: mjv_updateActiveSkin.
    """
    numbers = [np.arange(m.skin_faceadr[i], m.skin_faceadr[i] + m.skin_facenum[i]) for i in own]
    face = np.concatenate([m.skin_face[number] + m.skin_vertadr[i] for i, number in zip(own, numbers, strict=True)])
    vertex = _moved(m, d)
    corner = [take(vertex, face[:, k]) for k in range(3)]
    area = jnp.cross(corner[1] - corner[0], corner[2] - corner[0])
    normal = jnp.zeros_like(vertex).at[face.reshape(-1)].add(jnp.repeat(area, 3, axis=0), mode="promise_in_bounds")
    normal, _ = safe.normalize(normal)
    inflate = take(m.skin_inflate, np.repeat(np.arange(m.nskin), m.skin_vertnum))
    tree, slot = _ordered(m, face, list(map(len, numbers)))
    return Skins(vertex + inflate[:, None] * normal, normal, face, first, tree, slot)


def _moved(m: Model, d: Data) -> Array:
    """Vertices as the bones carry them, shape (nskinvert, 3)."""
    skin = np.repeat(np.arange(m.nskin), m.skin_bonenum)
    bone = np.repeat(np.arange(m.nskinbone), m.skin_bonevertnum)
    vertex = m.skin_bonevertid + m.skin_vertadr[skin[bone]]
    body = m.skin_bonebodyid
    turn = quaternion.matrix(quaternion.multiply(take(d.xquat, body), quaternion.conjugate(m.skin_bonebindquat)))
    shift = take(d.xpos, body) - jnp.einsum("bij,bj->bi", turn, m.skin_bonebindpos)
    pos = jnp.einsum("eij,ej->ei", take(turn, bone), take(m.skin_vert, vertex)) + take(shift, bone)
    weighted = m.skin_bonevertweight[:, None] * pos
    return jnp.zeros((m.nskinvert, 3), pos.dtype).at[vertex].add(weighted, mode="promise_in_bounds")


def _ordered(m: Model, face: np.ndarray, counts: list[int]) -> tuple[Tree, Array]:
    """Return the tree of the faces of skins, and which face is in each slot: neighbours at the bind pose are near."""
    middle = sum(take(m.skin_vert, face[:, k]) for k in range(3)) / 3
    orders, start = [], 0
    for count in counts:
        orders.append(start + jnp.argsort(_curve(middle[start : start + count])))
        start += count
    order = jnp.concatenate(orders)
    places = np.split(np.arange(start, dtype=np.int32), np.cumsum(counts)[:-1])
    tree = make_tree([np.repeat(place[:, None], 3, axis=1) for place in places])
    return tree, take(order, tree.vertex[:, 0])


def _curve(point: Array) -> Array:
    """Return where points are along a Z-order curve through their bounding box, shape (n,)."""
    low, high = point.min(axis=0), point.max(axis=0)
    cell = safe.divide(point - low, jnp.max(high - low)) * ((1 << _BITS) - 1)
    cell = cell.astype(jnp.int32)
    bits = [((cell[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(_BITS) for axis in range(3)]
    return sum(bits)


def first_face(skins: Skins, start: Array, direction: Array, seen: Array) -> tuple[Array, Array, Array, Array]:
    """Return distance, infinite on a miss, number of the skin, face and outward normal of what rays meet first.

    start, direction: shape (n, 3) [m, world]; seen: which skins count, shape (nskin drawn,). Distances have the
    derivative of the plane of the face.
    """
    count = skins.tree.root.size
    corner = rows(stop(skins.vertex), rows(skins.face, skins.slot))
    wide = lambda x: jnp.broadcast_to(stop(x)[:, None], (x.shape[0], count, 3))  # noqa: E731
    visible = jnp.broadcast_to(seen, (start.shape[0], count))
    dist, skin, slot = first_triangle(skins.tree, np.arange(count), corner, wide(start), wide(direction), visible)
    face = rows(skins.slot, slot)
    met = tuple(v.unpack(rows(skins.vertex, rows(skins.face[:, k], face))) for k in range(3))
    depth, _ = to_plane(met, v.unpack(start), v.unpack(direction))
    normal, _ = v.normalize(facing(met))
    return jnp.where(jnp.isfinite(dist), depth, jnp.inf), skin, face, v.pack(normal)
