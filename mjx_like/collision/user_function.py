"""Collision functions of the user for pairs of geoms, in place of those by type."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.shape import Point, Shape
from mjx_like.errors import InputError
from mjx_like.math import vector as v
from mjx_like.types.enums import ObjType
from mjx_like.types.plans import HookedPair, PairGroup
from mjx_like.types.topology import Topology

Array = jax.Array
HOOKED = (-1, -1)  # in place of the types of a pair


def hooked_pairs(t: Topology, geom: np.ndarray) -> dict[int, HookedPair]:
    """Return the user's functions by row of the candidate pairs, shape (n, 2); what no filter leaves has none.

    Raises:
      InputError: a geom that does not exist, a pair that is named twice, or no points.
    """
    if not t.hooks.collision:
        return {}
    rows = {frozenset(pair): row for row, pair in enumerate(geom.tolist())}
    named: set[frozenset[int]] = set()
    found = {}
    for first, second, count, function in t.hooks.collision:
        ids = _geom(t, first), _geom(t, second)
        pair = frozenset(ids)
        if len(pair) < 2 or pair in named:
            raise InputError(f"hook collision of geoms {first!r} and {second!r}: name every pair of two geoms once")
        if count < 1:
            raise InputError(f"hook collision of geoms {first!r} and {second!r}: it must have at least one point")
        named.add(pair)
        if pair in rows:
            found[rows[pair]] = HookedPair(function, count, bool(geom[rows[pair], 0] != ids[0]))
    return found


def _geom(t: Topology, which: int | str) -> int:
    names = t.names.get(ObjType.GEOM, ())
    if isinstance(which, str) and which and which in names:
        return names.index(which)
    if not isinstance(which, str) and 0 <= which < t.ngeom:
        return int(which)
    raise InputError(f"hook collision: there is no geom {which!r}")


def hook_points(group: PairGroup, a: Shape, b: Shape) -> Point:
    """Return what the user's function of a pair finds, components of shape (slots, 1).

    Raises:
      InputError: results of other shapes than the hook promises.
    """
    first, second = (b, a) if group.hook.swapped else (a, b)
    dist, pos, normal = group.hook.function(*_pose(first), *_pose(second))
    count = group.hook.count
    for name, value, shape in (("dist", dist, (count,)), ("pos", pos, (count, 3)), ("normal", normal, (count, 3))):
        if jnp.shape(value) != shape:
            raise InputError(f"hook collision: {name} must have shape {shape}, not {jnp.shape(value)}")
    sign = -1 if group.hook.swapped else 1
    return Point(dist[:, None], v.unpack(pos[:, None]), v.unpack(sign * normal[:, None]))


def _pose(shape: Shape) -> tuple[Array, Array]:
    """Return position and rotation matrix of the only geom of a group."""
    return v.pack(shape.pos)[0], jnp.stack([v.pack(axis)[0] for axis in shape.axes], axis=1)
