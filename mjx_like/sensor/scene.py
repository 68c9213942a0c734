"""Sensors of subtrees, energy and time, of what lies inside a site, and of the user."""

import jax
import jax.numpy as jnp

from mjx_like.math.select import take
from mjx_like.sensor.enclosure import enclosed
from mjx_like.sensor.volume import in_sites
from mjx_like.smooth.object_motion import object_position
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def subtreecom(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return centres of mass of subtrees, shape (n, 3) [m, world]."""
    return take(d.subtree_com, group.objid)


def subtreelinvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return velocities of the centres of mass of subtrees, shape (n, 3) [m/s, world]."""
    return take(d.subtree_linvel, group.objid)


def subtreeangmom(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return angular momenta of subtrees about their centres of mass, shape (n, 3) [kg m^2/s, world]."""
    return take(d.subtree_angmom, group.objid)


def e_potential(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the potential energy [J]."""
    return jnp.broadcast_to(d.energy[0], group.objid.shape)


def e_kinetic(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the kinetic energy [J]."""
    return jnp.broadcast_to(d.energy[1], group.objid.shape)


def clock(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the time [s]."""
    return jnp.broadcast_to(d.time, group.objid.shape)


def user(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the values of the user's hook, shape (n, dim)."""
    values = [jnp.reshape(jnp.asarray(m.hooks.sensor(m, d, int(i)), d.qpos.dtype), group.dim) for i in group.sensor]
    return jnp.stack(values)


def insidesite(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return 1 where the origin of an object is inside its site, else 0 (no derivative); or what `enclosed` does."""
    if group.intprm[0]:
        return enclosed(m, d, group)
    offset = object_position(d, group.objtype, group.objid) - take(d.site_xpos, group.refid)
    local = jnp.sum(take(d.site_xmat, group.refid) * offset[:, :, None], axis=1)
    return in_sites(m, group.refid, local).astype(d.qpos.dtype)
