"""The contact sensor: contacts that match, some of them in an order or all as one wrench, and what is asked of them."""

from enum import IntEnum

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.constraint.contact_force import contact_bodies, contact_wrench
from mjx_like.constraint.contact_points import carried_points, shifted_points
from mjx_like.constraint.softening import touches
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import take
from mjx_like.sensor.volume import in_sites
from mjx_like.types.data import Data
from mjx_like.types.enums import ConDataField, ObjType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


class Reduce(IntEnum):
    """How the contacts that match become the slots of a sensor."""

    NONE = 0
    MINDIST = 1
    MAXFORCE = 2
    NETFORCE = 3


SIZE = {field: 1 if field in (ConDataField.FOUND, ConDataField.DIST) else 3 for field in ConDataField}
# a contact seen from its second geom: axes 1 and 2 turn round, axis 3 stays, and the other body acts
_TURNED = {
    ConDataField.FORCE: (1, 1, -1),
    ConDataField.TORQUE: (1, 1, -1),
    ConDataField.NORMAL: (-1, -1, -1),
    ConDataField.TANGENT: (-1, -1, -1),
    ConDataField.LINVEL: (1, 1, -1),
    ConDataField.ANGVEL: (1, 1, -1),
}


def contact(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the data of matching contacts, shape (n, slots, size of the fields); slots without contact are zero.

    Which contacts match, and their order, has no derivative.  Source: the contact sensor of mj_sensor.
    """
    fields = [field for field in ConDataField if group.intprm[0] >> field & 1]
    slots = group.dim // sum(SIZE[field] for field in fields)
    if not m.nconmax:
        return jnp.zeros((group.sensor.size, group.dim), d.qpos.dtype)
    matches, rotated = _match(m, d, group)
    if group.intprm[1] == Reduce.NETFORCE:
        values = _net(m, d, fields, matches, rotated)
        return jnp.pad(values[:, None], ((0, 0), (0, slots - 1), (0, 0)))
    order = _order(m, d, group.intprm[1], matches)
    chosen = jnp.stack([matches & (order == slot) for slot in range(slots)], axis=1)
    count = jnp.sum(matches, axis=1, dtype=d.qpos.dtype)[:, None, None]
    table = _table(m, d, fields)
    picked = matmul(chosen.astype(table.dtype), table)
    flip = jnp.any(chosen & rotated[:, None], axis=2)[..., None]
    signs = np.concatenate([np.broadcast_to(_TURNED.get(field, 1), SIZE[field]) for field in fields])
    picked = jnp.where(flip, picked * signs, picked)
    if fields[0] == ConDataField.FOUND:
        picked = jnp.concatenate([picked[..., :1] * count, picked[..., 1:]], axis=-1)
    return picked


def _match(m: Model, d: Data, group: SensorGroup) -> tuple[Array, Array]:
    """Return which contacts match each sensor, and which of them point from its second object, shapes (n, nconmax).

    A contact matches if one geom is of the first object and the other of the second. Its normal counts as turned where
    it leads from the second object to the first, and not from the first to the second as well.
    """
    least, most = np.moveaxis(m.plans.sensor.contact_geoms[group.sensor], 2, 0)[:, :, :, None, None]
    geom = jax.lax.stop_gradient(d.contact.geom)
    of = (geom >= least) & (geom <= most)
    of1, of2 = of[:, 0], of[:, 1]
    regular, reverse = of1[..., 0] & of2[..., 1], of1[..., 1] & of2[..., 0]
    matches = (regular | reverse) & touches(m, d.contact)
    if group.objtype == ObjType.SITE:
        matches &= _in_site(m, d, group.objid)
    return matches, reverse & ~regular


def _in_site(m: Model, d: Data, site: np.ndarray) -> Array:
    """Return which contacts lie in each site, shape (n, nconmax)."""
    bodies = np.broadcast_to(m.site_bodyid[site], (m.nconmax, site.size))
    offset = jnp.moveaxis(carried_points(m, d, jnp.asarray(bodies)), 0, 1) - take(d.site_xpos, site)[:, None]
    local = jnp.sum(take(d.site_xmat, site)[:, None] * offset[..., None], axis=2)
    return in_sites(m, site, local)


def _order(m: Model, d: Data, reduce: int, matches: Array) -> Array:
    """Return the rank of each matching contact among those of its sensor, shape (n, nconmax)."""
    if reduce == Reduce.NONE:
        return jnp.cumsum(matches, axis=1) - 1
    if reduce == Reduce.MINDIST:
        key = d.contact.dist
    else:
        force = contact_wrench(m, d)[:, :3]
        key = -jnp.sum(force * force, axis=1)
    key = jnp.where(matches, jax.lax.stop_gradient(key), jnp.inf)
    before = (key[:, None] < key[..., None]) | (
        (key[:, None] == key[..., None]) & (np.arange(m.nconmax) < np.arange(m.nconmax)[:, None])
    )
    return jnp.sum(before & matches[:, None], axis=2)


def _table(m: Model, d: Data, fields: list[ConDataField]) -> Array:
    """Return the fields of all contacts, shape (nconmax, size)."""
    used = (np.arange(m.nconmax) < d.ncon)[:, None]
    wrench = contact_wrench(m, d) if {ConDataField.FORCE, ConDataField.TORQUE} & set(fields) else None
    moving = {ConDataField.LINVEL, ConDataField.ANGVEL} & set(fields)
    velocity = _relative_velocity(m, d) if moving else None
    columns = {
        ConDataField.FOUND: lambda: jnp.ones_like(d.contact.dist)[:, None],
        ConDataField.FORCE: lambda: wrench[:, :3],
        ConDataField.TORQUE: lambda: wrench[:, 3:],
        ConDataField.DIST: lambda: d.contact.dist[:, None],
        ConDataField.POS: lambda: d.contact.pos,
        ConDataField.NORMAL: lambda: d.contact.frame[:, 0],
        ConDataField.TANGENT: lambda: d.contact.frame[:, 1],
        ConDataField.LINVEL: lambda: velocity[:, 3:],
        ConDataField.ANGVEL: lambda: velocity[:, :3],
    }
    return jnp.where(used, jnp.concatenate([columns[field]() for field in fields], axis=1), 0)


def _relative_velocity(m: Model, d: Data) -> Array:
    """Return the velocity of the second body against the first at each contact, in its frame, shape (nconmax, 6)."""
    body = jnp.maximum(contact_bodies(m, d), 0)
    motion = jnp.concatenate([d.cvel, take(d.subtree_com, m.body_rootid)], axis=1)
    motion = motion.at[body].get(mode="promise_in_bounds")
    rotation, shift, centre = motion[..., :3], motion[..., 3:6], motion[..., 6:]
    shift = shift + cross(rotation, shifted_points(m, d, body) - centre)
    world = jnp.concatenate([rotation[:, 1] - rotation[:, 0], shift[:, 1] - shift[:, 0]], axis=1)
    return jnp.concatenate(
        [jnp.sum(d.contact.frame * part[:, None], axis=2) for part in (world[:, :3], world[:, 3:])], 1
    )


def _net(m: Model, d: Data, fields: list[ConDataField], matches: Array, rotated: Array) -> Array:
    """Return the fields of one contact, in the axes of the world, that stands for all that match, shape (n, size).

    It is at the mean of their points, weighed by their forces; zero where none matches.
    """
    wrench = contact_wrench(m, d)
    force, torque = (jnp.sum(d.contact.frame * part[:, :, None], axis=1) for part in (wrench[:, :3], wrench[:, 3:]))
    weight = jnp.where(matches, safe.norm(wrench[:, :3]), 0)
    point = jnp.sum(weight[..., None] * d.contact.pos, axis=1)
    point = safe.ratio(point, jnp.maximum(jnp.sum(weight, axis=1, keepdims=True), MINVAL))
    sign = jnp.where(matches, jnp.where(rotated, -1.0, 1.0), 0)[..., None]
    arm = d.contact.pos - point[:, None]
    zero, axes = jnp.zeros_like(point[:, :1]), np.broadcast_to(np.eye(3)[:2, None], (2, *point.shape))
    columns = {
        ConDataField.FOUND: jnp.sum(matches, axis=1, keepdims=True, dtype=point.dtype),
        ConDataField.FORCE: jnp.sum(sign * force, axis=1),
        ConDataField.TORQUE: jnp.sum(sign * (torque + cross(arm, jnp.broadcast_to(force, arm.shape))), axis=1),
        ConDataField.DIST: zero,
        ConDataField.POS: point,
        ConDataField.NORMAL: jnp.asarray(axes[0], point.dtype),
        ConDataField.TANGENT: jnp.asarray(axes[1], point.dtype),
    }
    return jnp.where(
        jnp.any(matches, axis=1)[:, None], jnp.concatenate([columns[field] for field in fields], axis=1), 0
    )
