"""The contact buffer: the kept points in MuJoCo's order, with their frames and the parameters of their pairs."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import mixing
from mjx_like.collision.candidate_points import Candidates
from mjx_like.collision.mixing import PairParameters
from mjx_like.collision.surface_velocity import surface_velocity
from mjx_like.math import vector as v
from mjx_like.math.lists import at_need, keep_lowest, lengths, positions
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows, rows_or_zero
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import CollisionPlan

Array = jax.Array


def without_contacts(m: Model, d: Data) -> Data:
    contact = d.contact.replace(
        dist=jnp.ones_like(d.contact.dist),
        includemargin=jnp.zeros_like(d.contact.includemargin),
        geom=jnp.full_like(d.contact.geom, -1),
        exclude=jnp.ones_like(d.contact.exclude),
        efc_address=jnp.full_like(d.contact.efc_address, -1),
    )
    return d.replace(contact=contact, ncon=jnp.zeros_like(d.ncon))


class Kept(NamedTuple):
    """Where each contact of the buffer comes from; shapes (nconmax,)."""

    row: Array  # in the layout of the candidates, whose size stands beyond the contacts
    pair: Array
    used: Array
    ahead: Array | None  # whether it is speculative; None where none is


def keep(plan: CollisionPlan, points: Candidates, capacity: int, discrete: int) -> Kept:
    """Return the deepest points, in MuJoCo's order.

    discrete: how many candidates are not speculative; those that are come after them.
    """
    lowest = keep_lowest(points.active, points.dist, capacity)
    row, pair = _rows(plan, points, lowest, capacity)
    used = jnp.arange(capacity) < jnp.sum(points.active, dtype=jnp.int32)
    return Kept(row, pair, used, None if plan.speculative is None else row >= discrete)


def _rows(plan: CollisionPlan, points: Candidates, kept: Array, capacity: int) -> tuple[Array, Array]:
    """Return where the kept points stand in the layout, in MuJoCo's order, and their pairs, both shape (capacity,).

    Beyond the kept ones stands the size of the layout.
    """
    if points.rank is not None:
        return _ranked_rows(points, kept, capacity)
    size = plan.point_row.size
    first = jnp.sort(jnp.where(kept, plan.point_rank, size))[:capacity]
    first = jnp.concatenate([first, jnp.full(max(capacity - size, 0), size, jnp.int32)])
    row = jnp.asarray(np.append(plan.point_row, size).astype(np.int32))[first]
    pair_of_row = np.zeros(size + 1, np.int32)
    pair_of_row[plan.point_row] = plan.point_pair
    return row, jnp.asarray(pair_of_row)[row]


def _ranked_rows(points: Candidates, kept: Array, capacity: int) -> tuple[Array, Array]:
    """Return what `_rows` does, where bounds chose the candidates at run time."""
    last, beyond = np.iinfo(np.int32).max, kept.size
    found = positions(kept, capacity)

    def in_order(size: int, found: Array, rank: Array) -> Array:
        rank = rank.at[found[:size]].get(mode="fill", fill_value=last)
        row = lax.sort((rank, found[:size]), num_keys=1)[1]
        return jnp.pad(row, (0, capacity - size), constant_values=beyond)

    row = at_need(in_order, lengths(capacity), jnp.sum(kept, dtype=jnp.int32), found, points.rank)
    return row, points.pair.at[row].get(mode="fill", fill_value=0)


def contacts(
    m: Model,
    geom_xpos: Array,
    geom_xmat: Array,
    points: Candidates,
    parameters: PairParameters,
    kept: Kept,
) -> Contact:
    """Return the contacts of the points that are kept."""
    row, pair, used, ahead = kept
    plan = m.plans.collision
    table = jnp.concatenate([points.dist[None], points.pos, points.normal])
    table = table.at[:, row].get(mode="fill", fill_value=0) if on_cpu() else rows_or_zero(table.T, row).T
    dist, pos, normal = table[0], tuple(table[1:4]), tuple(table[4:7])
    normal = (jnp.where(used, normal[0], 1), normal[1], normal[2])
    own = mixing.of_pairs(parameters, pair)
    ids = jnp.asarray(np.concatenate([plan.geom, plan.dim[:, None]], axis=1))[pair]
    point, frame = v.pack(pos), frame_of(normal, _tangent(m, geom_xmat, pair, ahead))
    pushes = dist < own.margin
    surfacevel = jnp.zeros_like(point)
    if m.has["geom_surfacevel"].any():
        surfacevel = surface_velocity(m, geom_xpos, geom_xmat, jnp.where(used[:, None], ids[:, :2], 0), point, frame)
    return Contact(
        dist=jnp.where(used, dist, 1),
        pos=point,
        frame=frame,
        includemargin=jnp.where(used, own.margin, 0),
        friction=own.friction,
        solref=own.solref,
        solreffriction=own.solreffriction,
        solimp=own.solimp,
        adhesion=jnp.zeros_like(dist) if own.adhesion is None else jnp.where(used, own.adhesion, 0),
        surfacevel=jnp.where(used[:, None], surfacevel, 0),
        dim=jnp.where(used, ids[:, 2], 0),
        exclude=jnp.where(used & (pushes if ahead is None else pushes | ahead), 0, 1).astype(jnp.int32),
        geom=jnp.where(used[:, None], ids[:, :2], -1),
        efc_address=jnp.full(m.nconmax, -1, jnp.int32),
    )


def _tangent(m: Model, geom_xmat: Array, pair: Array, ahead: Array | None) -> v.Vector | None:
    """Return the direction that the first tangent follows: the axis of a capsule on a plane, else zero."""
    plan = m.plans.collision
    special = np.all(m.geom_type[plan.geom] == (GeomType.PLANE, GeomType.CAPSULE), axis=1)
    if not special.any():
        return None
    axis = rows(geom_xmat[..., 2], jnp.asarray(plan.geom[:, 1])[pair])
    follows = jnp.asarray(special)[pair] if ahead is None else jnp.asarray(special)[pair] & ~ahead
    return v.unpack(jnp.where(follows[:, None], axis, 0))


def frame_of(normal: v.Vector, tangent: v.Vector | None = None) -> Array:
    """Return the frame of rows (normal, tangents), shape (n, 3, 3); the first tangent follows `tangent` unless short.

    Else it follows the y axis, or z where the normal is within 60 degrees of y.  Source: mju_makeFrame.
    """
    flat = jnp.abs(normal[1]) < 0.5
    zero, one = jnp.zeros_like(normal[0]), jnp.ones_like(normal[0])
    guess = (zero, jnp.where(flat, one, zero), jnp.where(flat, zero, one))
    if tangent is not None:
        guess = v.select(v.dot(tangent, tangent) < 0.25, guess, tangent)
    first, _ = v.normalize(v.along(guess, normal, -v.dot(guess, normal)))
    return jnp.stack([v.pack(normal), v.pack(first), v.pack(v.cross(normal, first))], axis=-2)
