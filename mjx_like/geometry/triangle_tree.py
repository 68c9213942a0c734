"""A tree of boxes over the triangles of meshes, and the search of rays in it.

All boxes are one complete binary tree in one array: the children of node i are 2i and 2i + 1. Each mesh is a subtree,
with a power of two of leaves of `LEAF` triangles each. A ray goes through a subtree in depth, without a stack: after
node i and all below it comes (i + 1) without its trailing zeros in binary, or the end where that is 1.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.geometry.ray_surface import across, inverse_direction, reach
from mjx_like.math import vector as v
from mjx_like.math.select import rows

Array = jax.Array

LEAF = 2  # triangles


class Tree(NamedTuple):
    """The static part: which triangles are in which leaf.

    vertex: of the triangles of all leaves in turn, shape (nleaf * LEAF, 3); used: which leaves have any, shape
    (nleaf,); root: node of each mesh, shape (nmesh,).
    """

    vertex: np.ndarray
    used: np.ndarray
    root: np.ndarray


def make_tree(faces: list[np.ndarray]) -> Tree:
    """Return the tree of meshes; faces: vertices of each mesh's triangles, neighbours after each other, (nface, 3)."""
    leaves = [1 << max(0, (-(-len(face) // LEAF) - 1)).bit_length() for face in faces]
    largest_first = np.argsort(leaves, kind="stable")[::-1]  # then each begins at a multiple of its own number
    total = 1 << (sum(leaves) - 1).bit_length()
    vertex, used = np.zeros((total, LEAF, 3), np.int32), np.zeros(total, bool)
    root, start = np.zeros(len(faces), np.int32), 0
    for mesh in largest_first:
        face, count = faces[mesh], leaves[mesh]
        filled = -(-len(face) // LEAF)
        padded = np.concatenate([face, np.repeat(face[-1:], filled * LEAF - len(face), axis=0)])
        vertex[start : start + filled], used[start : start + filled] = padded.reshape(filled, LEAF, 3), True
        root[mesh] = (total + start) // count
        start += count
    return Tree(vertex.reshape(-1, 3), used, root)


def boxes(tree: Tree, corner: Array) -> Array:
    """Return the lower and upper corners of all boxes, shape (2 * nleaf, 6); that of node 0 is not used.

    corner: of the triangles of `tree.vertex`, shape (nleaf * LEAF, 3, 3). Boxes are a little larger than needed.
    """
    count = len(tree.used)
    corner = corner.reshape(count, LEAF * 3, 3)
    used = tree.used[:, None]
    level = jnp.where(used, corner.min(axis=1), jnp.inf), jnp.where(used, corner.max(axis=1), -jnp.inf)
    levels = [level]
    while level[0].shape[0] > 1:
        level = level[0].reshape(-1, 2, 3).min(axis=1), level[1].reshape(-1, 2, 3).max(axis=1)
        levels.append(level)
    low, high = (jnp.concatenate([level[i] for level in levels[:0:-1]] + [levels[0][i]]) for i in range(2))
    slack = 8 * jnp.finfo(low.dtype).eps * jnp.maximum(jnp.abs(low), jnp.abs(high))
    slack = jnp.where(jnp.isfinite(slack), slack, 0)
    both = jnp.concatenate([low - slack, high + slack], axis=1)
    return jnp.concatenate([both[:1], both])


def first_triangle(
    tree: Tree, mesh: np.ndarray, corner: Array, point: Array, vector: Array, seen: Array
) -> tuple[Array, Array, Array]:
    """Return for each ray how far the first triangle is, its geom and its row of `tree.vertex`, shape (n,) each.

    The distance is infinite on a miss. Geoms are tried in the order in which the ray meets the boxes around them.

    Args:
      tree: of meshes.
      mesh: of each geom, static, shape (k,).
      corner: of the triangles, shape (nleaf * LEAF, 3, 3) [m].
      point: where the rays begin in the frame of each geom, shape (n, k, 3) [m].
      vector: their directions there, shape (n, k, 3).
      seen: which geoms count, shape (n, k).
    """
    box = boxes(tree, corner)
    triangle = corner.reshape(-1, LEAF * 9)
    root = tree.root[mesh]
    entry = jnp.where(seen, _enter(box[root], point, inverse_direction(vector)), jnp.inf)
    count = point.shape[0]
    none = jnp.full(count, jnp.inf, point.dtype)
    zero = jnp.zeros(count, jnp.int32)

    def unfinished(state):
        entry, best, _, _ = state
        return jnp.any(entry.min(axis=1) < best)

    def next_geom(state):
        entry, best, geom, slot = state
        near = jnp.argmin(entry, axis=1).astype(jnp.int32)
        start, ahead = (jnp.take_along_axis(x, near[:, None, None], axis=1)[:, 0] for x in (point, vector))
        live = jnp.min(entry, axis=1) < best
        dist, found = _search(len(tree.used), box, triangle, rows(root, near), start, ahead, best, live)
        better = dist < best
        entry = jnp.where(np.arange(len(mesh)) == near[:, None], jnp.inf, entry)
        return entry, jnp.minimum(dist, best), jnp.where(better, near, geom), jnp.where(better, found, slot)

    _, best, geom, slot = lax.while_loop(unfinished, next_geom, (entry, none, zero, zero))
    return best, geom, slot


def _search(
    nleaf: int, box: Array, triangle: Array, root: Array, point: Array, vector: Array, best: Array, live: Array
) -> tuple[Array, Array]:
    """Return how far the first triangle below a node is, and its slot, of each ray; no further than `best` counts.

    root: node, shape (n,); point, vector: shape (n, 3); best: shape (n,); live: which rays search at all, shape (n,).
    """
    inverse = inverse_direction(vector)
    start, ahead = v.unpack(point), v.unpack(vector)
    tangents = across(ahead)
    beyond = _after(root)
    wide = functools.partial(jax.tree.map, lambda x: x[:, None])

    def unfinished(state):
        return jnp.any(state[0] != beyond)

    def visit(state):
        node, best, slot = state
        met = _enter(rows(box, node), point, inverse) < best
        leaf = node >= nleaf
        first = jnp.maximum(node - nleaf, 0)
        corner = rows(triangle, first).reshape(-1, LEAF, 3, 3)
        corners = tuple(v.unpack(corner[:, :, i]) for i in range(3))
        dist = reach(corners, wide(start), wide(ahead), wide(tangents))
        dist = jnp.where((leaf & met & (node != beyond))[:, None], dist, jnp.inf)
        least = jnp.min(dist, axis=1)
        slot = jnp.where(least < best, LEAF * first + jnp.argmin(dist, axis=1).astype(jnp.int32), slot)
        following = jnp.where(met & ~leaf, 2 * node, _after(node))
        return jnp.where(node == beyond, node, following), jnp.minimum(best, least), slot

    begin = jnp.where(live, root, beyond)
    _, best, slot = lax.while_loop(unfinished, visit, (begin, best, jnp.zeros_like(root)))
    return best, slot


def _after(node: Array) -> Array:
    """Return the node that a search in depth visits after a node and all below it, 0 after the last of all."""
    up = node + 1
    following = up >> lax.population_count((up & -up) - 1)
    return jnp.where(following == 1, 0, following)  # else a search from node 1 would be over before it began


def _enter(box: Array, point: Array, inverse: Array) -> Array:
    """Return how far along rays boxes begin, infinite on a miss; box: shape (..., 6), others (..., 3)."""
    low, high = (box[..., :3] - point) * inverse, (box[..., 3:] - point) * inverse
    begin = jnp.maximum(jnp.max(jnp.minimum(low, high), axis=-1), 0)
    end = jnp.min(jnp.maximum(low, high), axis=-1)
    return jnp.where((begin <= end) & (box[..., 0] <= box[..., 3]), begin, jnp.inf)
