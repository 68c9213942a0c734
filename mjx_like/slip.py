"""Whether contacts hold, creep or slide, and how much of their friction is in use.

Source: "Preventing slip" of the Modeling chapter: contacts slide where what would hold them lies outside the friction
cone, and creep, slowly, within it, because the model of friction is soft.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.constraint.contact_force import contact_wrench
from mjx_like.constraint.contact_points import shifted_points
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, leaf, record
from mjx_like.worlds import one_world

Array = jax.Array


@record
class Slip(Record):
    """How each contact moves across its normal, and what friction does; zero and false for rows not in use."""

    speed: Array = leaf("nconmax", unit="m/s, of the second geom over the first in the tangent plane")
    spin: Array = leaf("nconmax", 3, unit="rad/s, of the second geom on the first in the contact's frame")
    load: Array = leaf("nconmax", unit="share of the friction cone in use: 1 at its surface")
    sliding: Array = leaf("nconmax", unit="moves, with the force at the surface of the cone: more friction would help")
    creeping: Array = leaf("nconmax", unit="moves with the force within the cone: impratio or noslip would help")


def slip(m: Model, d: Data, speed: float = 1e-4, load: float = 0.999) -> Slip:
    """Return the diagnosis of the contacts of `d`, after `forward`.

    speed: at which a contact moves [m/s]; load: from which on the force counts as at the surface of the cone. With a
    pyramidal cone the load is that of the pyramid. Contacts without friction (condim 1) have neither load nor verdict.
    Contacts of flexes are left out.
    Reads contact, efc_force, cvel, subtree_com.

    Raises:
      InputError: `d` is not one world of `m`.
    """
    one_world("slip", m, d, rows=True)
    pair = jnp.maximum(d.contact.geom, 0)
    used = (d.contact.geom >= 0).all(axis=1) & (d.contact.efc_address >= 0)
    body = jnp.asarray(m.geom_bodyid)[pair]
    arm = shifted_points(m, d, body) - d.subtree_com[jnp.asarray(m.body_rootid)[body]]
    rotation, glide = d.cvel[body][..., :3], d.cvel[body][..., 3:]
    velocity = glide + cross(rotation, arm)
    relative, spin = (_local(d.contact.frame, x[:, 1] - x[:, 0]) for x in (velocity, rotation))
    surface, none = d.contact.surfacevel, jnp.zeros_like(spin[:, :1])  # along the tangents, and spin about the normal
    across = relative[:, 1:] + surface[:, :2]
    spin = spin + jnp.concatenate([surface[:, 2:], none, none], axis=1)
    wrench = contact_wrench(m, d)
    dim = np.arange(1, 6) < d.contact.dim[:, None]
    share = jnp.where(dim, safe.divide(wrench[:, 1:], d.contact.friction), 0)
    total = safe.norm(share) if m.flags.cone == ConeType.ELLIPTIC else jnp.sum(jnp.abs(share), axis=1)
    normal = wrench[:, 0] + d.contact.adhesion
    use = jnp.where(used & (normal > MINVAL), safe.divide(total, normal), 0)
    pace = jnp.where(used, safe.norm(across), 0)
    moves = used & (d.contact.dim > 1) & (pace > speed) & (normal > MINVAL)
    return Slip(
        speed=pace,
        spin=jnp.where(used[:, None], spin, 0),
        load=use,
        sliding=moves & (use >= load),
        creeping=moves & (use < load),
    )


def _local(frame: Array, vector: Array) -> Array:
    """Return vectors of the world, shape (n, 3), in frames, shape (n, 3, 3)."""
    return matmul(frame, vector[..., None])[..., 0]
