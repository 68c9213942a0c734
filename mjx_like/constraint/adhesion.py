"""Adhesion and surface velocity of contacts: what they add to the rows.

Adhesion translates the friction cone down the normal: a constant attraction is a passive force (`passive.adhesion`),
and the reference acceleration of the normal row rises by R times the attraction.
Source: Computation chapter, constraint parameters, adhesion.
"""

import jax
import jax.numpy as jnp

from mjx_like.constraint.contact import edge_count
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType, ConstraintType
from mjx_like.types.model import Model

Array = jax.Array


def adhesive_gap(m: Model, d: Data) -> Data:
    """Return `d` with the adhesive contacts of the gap frictionless: they pull along the normal alone.

    Hard contacts have their friction, for they rest apart.  Reads and writes contact.
    """
    if not m.adhesive or m.hard is not None:
        return d
    c = d.contact
    apart = (c.adhesion != 0) & (c.dist >= c.includemargin)
    return d.replace(contact=c.replace(dim=jnp.where(apart, 1, c.dim)))


def adhesion_bias(m: Model, d: Data) -> Array:
    """Return what adhesion adds to the reference acceleration of each row, shape (njmax,).

    The edges of a pyramid share it evenly.  Reads contact, efc_type, efc_id, efc_R.
    """
    contact, edge, dim = row_owners(m, d)
    attraction = d.contact.adhesion[contact]
    if m.flags.cone == ConeType.PYRAMIDAL:
        attraction = attraction / edge_count(dim)
    else:
        attraction = jnp.where(edge == 0, attraction, 0)
    return jnp.where(edge >= 0, d.efc_R * attraction, 0)


def surface_motion(m: Model, d: Data) -> Array:
    """Return the velocity of the surfaces along each row, shape (njmax,).  Reads contact, efc_type, efc_id."""
    contact, edge, dim = row_owners(m, d)
    pyramidal = m.flags.cone == ConeType.PYRAMIDAL
    tangent = (edge >> 1) if pyramidal else edge - 1  # 0 and 1 slide, 2 spins; rolling surfaces do not move
    velocity, friction = d.contact.surfacevel[contact], d.contact.friction[contact]
    along = [jnp.where(tangent == i, velocity[:, i] * (friction[:, i] if pyramidal else 1), 0) for i in range(3)]
    total = sum(along)
    if pyramidal:
        total = jnp.where(edge & 1 == 0, total, -total)
    return jnp.where((edge >= 0) & (dim > 1), total, 0)


def row_owners(m: Model, d: Data) -> tuple[Array, Array, Array]:
    """Return the contact of each row, the number of the row in its contact, -1 for other rows, and its dimension."""
    mine = d.efc_type >= int(ConstraintType.CONTACT_FRICTIONLESS)
    contact = jnp.where(mine, d.efc_id, 0)
    edge = jnp.arange(m.njmax, dtype=jnp.int32) - d.contact.efc_address[contact]
    return contact, jnp.where(mine, edge, -1), d.contact.dim[contact]
