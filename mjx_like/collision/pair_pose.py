"""Poses and sizes of the geoms of every group, gathered for all pairs at once."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.shape import Shape, as_shape
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


def only_z(group: PairGroup) -> bool:
    """Return whether the kernel of a group reads the z axes alone."""
    return set(group.types).issubset(_ROUND)


def geom_table(m: Model, geom_xpos: Array, geom_xmat: Array, axes: slice) -> Array:
    """Return position, some axes and size of each geom, shape (ngeom, k)."""
    turned = jnp.swapaxes(geom_xmat, 1, 2)[:, axes]  # an axis in a row
    return jnp.concatenate([geom_xpos, turned.reshape(geom_xpos.shape[0], -1), m.geom_size], axis=1)


def pair_shapes(m: Model, groups: list[PairGroup], geom_xpos: Array, geom_xmat: Array) -> list[tuple[Shape, Shape]]:
    """Return the two Shapes of each group; where both types are round, their x and y axes are left zero.

    Components are selected by a 0/1 matrix, which on a CPU is faster than gathering them.
    """
    position, rotation = geom_xpos.T, geom_xmat.transpose(2, 1, 0)  # components first; rotation[axis][component]
    shapes: list = [None] * len(groups)
    for round_only in (True, False):
        rows = jnp.concatenate([position, *(rotation[2:] if round_only else rotation)])
        members = [k for k, g in enumerate(groups) if only_z(g) == round_only]
        found = _split(m, rows, [groups[k] for k in members]) if members else []
        for k, sides in zip(members, found, strict=True):
            shapes[k] = tuple(as_shape([*jnp.unstack(pose), *jnp.unstack(size, axis=1)]) for pose, size in sides)
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
