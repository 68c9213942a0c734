"""Force and torque of contacts, decoded from their constraint rows."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.contact import edge_count
from mjx_like.math.linalg import matmul
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType
from mjx_like.types.model import Model

Array = jax.Array


def contact_bodies(m: Model, d: Data) -> Array:
    """Return the bodies of the geoms of each contact, shape (nconmax, 2); -1 where there is none."""
    body = jnp.asarray(np.append(m.geom_bodyid, -1).astype(np.int32))
    return body[jnp.where(d.contact.geom >= 0, d.contact.geom, m.ngeom)]


def contact_wrench(m: Model, d: Data) -> Array:
    """Return force [N] and torque [N m] of each contact in its frame, shape (nconmax, 6); zero where it has no rows.

    The force acts on the second geom, its negative on the first; adhesion is taken off the normal.
    Reads contact, efc_force.  Source: mj_contactForce.
    """
    rows = np.arange(6 if m.flags.cone == ConeType.ELLIPTIC else 10)
    address, dim = d.contact.efc_address[:, None], d.contact.dim[:, None]
    pyramidal = m.flags.cone != ConeType.ELLIPTIC
    count = edge_count(dim) if pyramidal else dim
    used = (address >= 0) & (rows < count)
    if not m.njmax:
        return jnp.zeros((m.nconmax, 6), d.qpos.dtype)
    force = jnp.where(used, d.efc_force[jnp.where(used, address + rows, 0)], 0)
    if pyramidal:
        tangent = (force[:, 0::2] - force[:, 1::2]) * d.contact.friction
        normal = jnp.sum(force, axis=1, keepdims=True)
        force = jnp.concatenate([normal, jnp.where(dim > 1, tangent, 0)], axis=1)
    if not m.adhesive:
        return force
    attraction = jnp.where(d.contact.efc_address >= 0, d.contact.adhesion, 0)[:, None]
    return force - jnp.where(np.arange(6) == 0, attraction, 0)


def contact_force(m: Model, d: Data, contact_id: Array | int, to_world_frame: bool = False) -> Array:
    """Return force [N] and torque [N m] of a contact, shape (6,), in its frame or in world axes.

    Source: mj_contactForce.
    """
    wrench = contact_wrench(m, d)[contact_id]
    if not to_world_frame:
        return wrench
    frame = d.contact.frame[contact_id]
    return jnp.concatenate([matmul(wrench[:3], frame), matmul(wrench[3:], frame)])
