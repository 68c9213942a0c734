"""The touch sensor: normal contact forces in the volume of a site."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.geometry.ray import RAY
from mjx_like.math.select import take
from mjx_like.sensor.contact_wrench import contact_bodies, contact_wrench
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def touch(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the normal forces of the contacts of a site's body whose normal ray meets the site, summed, (n,) [N]."""
    if not m.nconmax:
        return jnp.zeros(group.objid.size, d.qpos.dtype)
    normal_force = contact_wrench(m, d)[:, 0]
    bodies, mine = contact_bodies(m, d), m.site_bodyid[group.objid][:, None]
    second = bodies[:, 1] == mine
    counts = (normal_force > 0) & (second | (bodies[:, 0] == mine))
    direction = jnp.where(second[..., None], -1, 1) * d.contact.frame[:, 0]
    counts &= _meets(m, d, group.objid, d.contact.pos, direction)
    return jnp.sum(jnp.where(counts, normal_force, 0), axis=1)


def _meets(m: Model, d: Data, site: np.ndarray, point: Array, direction: Array) -> Array:
    """Return whether rays from points, (k, 3), along directions, (n, k, 3), meet each site, shape (n, k)."""
    rotation = take(d.site_xmat, site)[:, None]
    start = jnp.sum(rotation * (point - take(d.site_xpos, site)[:, None])[..., None], axis=-2)
    along = jnp.sum(rotation * direction[..., None], axis=-2)
    size, kinds = take(m.site_size, site)[:, None], m.site_type[site]
    met = jnp.zeros(direction.shape[:2], bool)
    for kind in np.unique(kinds):
        dist, _ = RAY[GeomType(kind)](start, along, size)
        met = jnp.where((kinds == kind)[:, None], dist >= 0, met)
    return met
