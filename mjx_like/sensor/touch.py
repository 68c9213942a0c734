"""The touch sensor: normal contact forces in the volume of a site."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.contact_force import contact_bodies, contact_wrench
from mjx_like.constraint.contact_points import carried_points
from mjx_like.geometry.ray import RAY
from mjx_like.math.batching import capacities, mapped_batch, with_capacity
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup
from mjx_like.types.topology import Topology

Array = jax.Array

_FEW_CONTACTS = 16  # the least capacity; most worlds have no more


def touch(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the normal forces of the contacts of a site's body whose normal ray meets the site, summed, (n,) [N].

    The ray decides whether a contact counts; no derivative flows through it.
    """
    if not m.nconmax:
        return jnp.zeros(group.objid.size, d.qpos.dtype)
    force = contact_wrench(m, d)[:, 0]
    bodies = contact_bodies(m, d)
    sensor = _rows_at(jnp.asarray(m.plans.sensor.touch), bodies)
    contact = (carried_points(m, d, bodies), d.contact.frame[:, 0])
    site = (d.site_xpos[group.objid], d.site_xmat[group.objid], m.site_size[group.objid])
    inputs = jax.lax.stop_gradient((sensor, *contact, *site))
    met = _met(m.nconmax, m.site_type[group.objid], d.ncon, inputs)
    counts = met & (force > 0)[:, None, None]
    mine = jnp.any(counts & (sensor == np.arange(group.objid.size)[:, None, None, None]), axis=(2, 3))
    return jnp.sum(jnp.where(mine, force, 0), axis=1)


def _met(nconmax: int, kinds: np.ndarray, ncon: Array, inputs: tuple[Array, ...]) -> Array:
    """Return whether the normal of each contact meets the sites of its bodies, shape (nconmax, 2, most sites)."""

    def kernel(axes, ncon, inputs):
        def sized(size, inputs):
            met = jax.vmap(functools.partial(_rays, size, kinds), in_axes=axes[1:])(inputs)
            return jnp.pad(met, ((0, 0), (0, nconmax - size), (0, 0), (0, 0)))

        return with_capacity(capacities(nconmax, _FEW_CONTACTS), ncon, sized, inputs)

    return mapped_batch(kernel)(ncon, inputs)


def _rays(size: int, kinds: np.ndarray, inputs: tuple[Array, ...]) -> Array:
    """Return what `_met` does, for the first `size` contacts of one world."""
    sensor, point, normal, site_pos, site_mat, site_size = inputs
    sensor, point, normal = sensor[:size], point[:size, :, None], normal[:size, None]
    site = jnp.maximum(sensor, 0)
    rotation = _rows_at(site_mat, site)
    direction = (np.array([1.0, -1.0])[:, None] * normal)[:, :, None]
    start = jnp.sum(rotation * (point - _rows_at(site_pos, site))[..., None], axis=-2)
    along = jnp.sum(rotation * direction.astype(point.dtype)[..., None], axis=-2)
    extent, kind = _rows_at(site_size, site), _rows_at(jnp.asarray(kinds), site)
    met = jnp.zeros(site.shape, bool)
    for k in np.unique(kinds):
        dist, _ = RAY[GeomType(k)](start, along, extent)
        met = jnp.where(kind == k, dist >= 0, met)
    return met & (sensor >= 0)


def _rows_at(x: Array, index: Array) -> Array:
    return x.at[index].get(mode="promise_in_bounds")


def lacks(t: Topology, sensor: int) -> tuple[str, ...]:
    """Return what of a touch sensor the engine cannot run: a site without a test by a ray."""
    shape = GeomType(t.site_type[t.sensor_objid[sensor]])
    return () if shape in RAY else (f"touch in a site of type {shape.name.lower()}, on which MuJoCo stops",)
