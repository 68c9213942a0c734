"""Poses and sizes of the geoms of every group, gathered for all pairs at once."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.broadphase import Near
from mjx_like.collision.shape import Shape
from mjx_like.math.linalg import matmul
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import take, take_last
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup

Array = jax.Array

_ROUND = {GeomType.PLANE, GeomType.SPHERE, GeomType.CAPSULE}  # shapes whose kernels read no axis but z
# up to this many geoms, and entries, a product with a constant 0/1 matrix is the faster gather
_DENSE, _LARGEST = 128, 2**16


def pair_shapes(
    m: Model, groups: tuple[PairGroup, ...], geom_xpos: Array, geom_xmat: Array, near: list[Near | None]
) -> list[tuple[Shape, Shape]]:
    """Return the two Shapes of each group; where both types are round, their x and y axes are left zero.

    Of a group with an entry in `near` they are those of the pairs named there.
    Components are selected by a 0/1 matrix, which on a CPU is faster than gathering them.
    """
    position, rotation = geom_xpos.T, geom_xmat.transpose(2, 1, 0)  # components first; rotation[axis][component]
    shapes: list = [None] * len(groups)
    for only_z in (True, False):
        rows = jnp.concatenate([position, *(rotation[2:] if only_z else rotation)])
        members = [k for k, g in enumerate(groups) if set(g.types).issubset(_ROUND) == only_z]
        whole = [k for k in members if near[k] is None]
        for k, (first, second) in zip(whole, _split(m, rows, [groups[k] for k in whole]) if whole else [], strict=True):
            shapes[k] = (_shape(*first), _shape(*second))
        for k in (k for k in members if near[k] is not None):
            chosen = (jnp.asarray(g)[near[k].pair] for g in (groups[k].geom1, groups[k].geom2))
            shapes[k] = tuple(_shape(rows[:, g], m.geom_size[g]) for g in chosen)
    return shapes


def _split(m: Model, rows: Array, groups: list[PairGroup]) -> list[tuple[tuple[Array, Array], ...]]:
    """Return the columns of `rows`, shape (k, ngeom), and the sizes of the first and second geoms of each group."""
    geom = np.concatenate([g for group in groups for g in (group.geom1, group.geom2)])
    if on_cpu() and rows.shape[1] <= _DENSE and rows.shape[1] * geom.size <= _LARGEST:
        picked = matmul(rows, np.asarray(np.arange(rows.shape[1])[:, None] == geom, rows.dtype))
    else:
        picked = take_last(rows, geom)
    ends = np.cumsum([g.geom1.size for group in groups for g in (group, group)])
    parts = list(zip(jnp.split(picked, ends[:-1], axis=1), jnp.split(take(m.geom_size, geom), ends[:-1]), strict=True))
    return list(zip(parts[::2], parts[1::2], strict=True))


def _shape(pose: Array, size: Array) -> Shape:
    """Return the Shape of component rows: position, then the z axis, or all three axes; size: shape (n, 3)."""
    rows = jnp.unstack(pose)
    vectors = [tuple(rows[k : k + 3]) for k in range(0, len(rows), 3)]
    zero = (jnp.zeros_like(rows[0]),) * 3
    axes = (zero, zero, vectors[1]) if len(vectors) == 2 else tuple(vectors[1:])
    return Shape(vectors[0], axes, tuple(jnp.unstack(size, axis=1)))
