"""Sensors of the distance between geoms, or between the geoms of bodies."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.distance import distances, unbuilt
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup
from mjx_like.types.topology import Topology

Array = jax.Array


def geomdist(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return signed distances [m], at most the cutoff, shape (n,)."""
    return _nearest(m, d, group)[0]


def geomnormal(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return unit vectors along the segments of `geomfromto`, zero for none, shape (n, 3).

    In penetration they lead from the second object to the first.
    """
    dist, normal, _, near = _nearest(m, d, group)
    return jnp.where(near, jnp.sign(dist)[:, None] * normal, 0)


def geomfromto(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the segments from the first object to the second, shape (n, 6) [m, world]; zero beyond the cutoff."""
    dist, normal, middle, near = _nearest(m, d, group)
    half = 0.5 * dist[:, None] * normal
    return jnp.where(near, jnp.concatenate([middle - half, middle + half], axis=1), 0)


def _nearest(m: Model, d: Data, group: SensorGroup) -> tuple[Array, Array, Array, Array]:
    """Return distance, normal and point midway of each sensor's nearest pair, and whether it is below the cutoff.

    Of pairs that are equally near, the first counts.
    """
    table = m.plans.sensor.distance
    own = [table[table[:, 0] == sensor, 1:] for sensor in group.sensor]
    # what is found on a height field, or by the older search, depends on the cutoff of the sensor
    owner = np.repeat(np.arange(len(own)), [len(pair) for pair in own])
    rough = (m.geom_type[np.concatenate(own)] == GeomType.HFIELD).any(axis=1) | m.disabled(DisableBit.NATIVECCD)
    rows = np.column_stack([np.concatenate(own), np.where(rough, owner, -1)])
    pairs, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    most = max(map(len, own))
    row = np.full((len(own), most), -1)
    ends = np.cumsum([0, *map(len, own)])
    for i, pair in enumerate(own):
        row[i, : len(pair)] = index.ravel()[ends[i] : ends[i + 1]]
    cutoff = take(m.sensor_cutoff, group.sensor)
    if not len(pairs):
        zero = jnp.zeros((len(own), 3), cutoff.dtype)
        return cutoff, zero, zero, jnp.zeros(cutoff.shape + (1,), bool)
    dist, normal, middle = distances(m, d, pairs[:, :2], take(cutoff, owner[first]))
    dist = jnp.where(row >= 0, take(dist, np.maximum(row, 0).ravel()).reshape(row.shape), jnp.inf)
    chosen = (np.arange(most) == jnp.argmin(dist, axis=1)[:, None])[..., None]
    normal, middle = (
        jnp.sum(jnp.where(chosen, take(x, np.maximum(row, 0).ravel()).reshape(*row.shape, 3), 0), axis=1)
        for x in (normal, middle)
    )
    least = jnp.min(dist, axis=1)
    near = least < cutoff
    return jnp.where(near, least, cutoff), normal, middle, near[:, None]


def distance_pairs(t: Topology, sensor: int) -> np.ndarray:
    """Return the geoms of the first and of the second object for all pairs that a sensor measures, shape (n, 2)."""
    sides = (t.sensor_objtype[sensor], t.sensor_objid[sensor]), (t.sensor_reftype[sensor], t.sensor_refid[sensor])
    geoms = [[j] if kind == ObjType.GEOM else np.flatnonzero(t.geom_bodyid == j) for kind, j in sides]
    return np.array([(a, b) for a in geoms[0] for b in geoms[1]], np.int32).reshape(-1, 2)


def lacks(t: Topology, sensor: int) -> tuple[str, ...]:
    """Return what of a distance sensor the engine cannot run: pairs of geoms without a distance."""
    return unbuilt(t, distance_pairs(t, sensor))
