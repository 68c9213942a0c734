"""Contacts that a solve takes from the one before it, where the search for contacts may not find them again.

The search between convex geoms finds the deepest point, or more where they are flat on each other, and two capsules
have the nearest points and one end of the stretch where they are side by side. As bodies turn within a step another
point may be the deepest: a solve that had those alone would let the first go in, and the next solve the second. A solve
therefore keeps the points of the one before, moved with their geoms, as long as there is room for them in their pair.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.buffer import frame_of
from mjx_like.collision.closed import capsule
from mjx_like.collision.shape import Shape
from mjx_like.collision.surface_velocity import surface_velocity
from mjx_like.collision.table import KEPT, PARTIAL
from mjx_like.hard.components import added, dot, parts, scaled
from mjx_like.math import vector as v
from mjx_like.math.batching import of_worlds
from mjx_like.math.lists import sorted_with_places
from mjx_like.math.select import rows
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

_CAPSULES = (GeomType.CAPSULE, GeomType.CAPSULE)
_SAME = 0.05  # of the radius of the smaller geom, within which points of a pair count as one
_ALIKE = 0.95  # cosine between their normals
_SHARE = 1 / 3  # of the way from the nearest point of two capsules to that of the solve before


class Seen(NamedTuple):
    """The contacts of a solve, and where its geoms were."""

    contact: Contact
    count: Array
    xpos: Array  # of all geoms, shape (ngeom, 3) [m]
    xmat: Array  # shape (ngeom, 3, 3)


def carries(m: Model) -> bool:
    """Return whether a solve takes contacts from the one before."""
    plan = m.plans.collision
    if not m.hard.refresh or m.nconmax < 2 or not plan.point_pair.size:
        return False
    return bool(_KINDS[tuple(m.geom_type[plan.geom].T)].any())


def seen(m: Model, d: Data) -> Seen | None:
    """Return the contacts of `d` for the next solve; None where it carries none."""
    return Seen(d.contact, d.ncon, d.geom_xpos, d.geom_xmat) if carries(m) else None


def with_carried(m: Model, d: Data, before: Seen, first: Array | bool = False) -> Data:
    """Return `d` with those contacts of the solve before that it lacks, after its own, as far as there is room.

    first: whether this is the first solve, of all worlds, and has none before it.
    Reads contact, ncon, geom_xpos, geom_xmat, maxuse_con. Writes contact, ncon, maxuse_con.
    """
    if first is False:
        return d.replace(**_carried(m, d, before))
    own = {"contact": d.contact, "ncon": d.ncon, "maxuse_con": d.maxuse_con}
    return d.replace(**lax.cond(first, lambda: own, lambda: _carried(m, d, before)))


def _carried(m: Model, d: Data, before: Seen) -> dict[str, Any]:
    """Return the fields that `with_carried` writes, of any solve but the first."""
    own, place = d.contact, np.arange(m.nconmax, dtype=np.int32)
    old, old_used = _with_points_between(m, d, _moved(before, d), place < before.count)
    chosen, count = _chosen(m, own, place < d.ncon, old, old_used)
    source = jnp.where(place < count, chosen, place)
    both = jax.tree.map(lambda x, y: rows(jnp.concatenate([x, y]), source), own, old)
    return {
        "contact": both,
        "ncon": jnp.minimum(count, m.nconmax),
        "maxuse_con": jnp.maximum(d.maxuse_con, count),
    }


def _chosen(m: Model, own: Contact, used: Array, old: Contact, old_used: Array) -> tuple[Array, Array]:
    """Return the places of the contacts in use, shape (nconmax,), old ones after all own, and how many those are.

    Of old ones those that are not among the own and find room in their pair. Contacts are sorted by pair, own ones
    first, so that each has those of its pair few places before it.
    """
    size, npair = 2 * m.nconmax, m.ngeom**2
    geom, points = (jnp.concatenate([x, y]) for x, y in ((own.geom, old.geom), (_points(m, own), _points(m, old))))
    kind = rows(m.geom_type.astype(np.int32), jnp.maximum(old.geom, 0))
    there = jnp.concatenate([used, old_used & jnp.asarray(_KINDS)[kind[:, 0], kind[:, 1]]])
    pair, order = sorted_with_places(jnp.where(there, geom[:, 0] * m.ngeom + geom[:, 1], npair), npair + 1)
    is_own, (*points, near) = order < m.nconmax, parts(rows(points, order))
    known, count = jnp.zeros(size, bool), jnp.zeros(size, jnp.int32)
    before = [_before(x) for x in (pair, is_own, *points)]
    for their_pair, their_own, *theirs in zip(*before, strict=True):
        same = (their_pair == pair) & their_own
        apart, alike = added(points[:3], scaled(-1, theirs[:3])), dot(points[3:], theirs[3:])
        known |= same & (alike > _ALIKE) & (dot(apart, apart) < near * near)
        count += same
    lacking = ~known & ~is_own
    for their_pair, they_lack in zip(before[0][: KEPT - 1], _before(lacking), strict=False):
        count += (their_pair == pair) & they_lack
    kept = (pair < npair) & (is_own | (lacking & (count < KEPT)))
    return jnp.sort(jnp.where(kept, order, size))[: m.nconmax], jnp.sum(kept, dtype=jnp.int32)


def _before(x: Array) -> list[Array]:
    """Return the entry one place before each, shape (n,), then two, as far as those of one pair can stand apart."""
    most = 2 * KEPT - 1
    padded = jnp.pad(x, (most, 0))
    return [padded[most - places : most - places + x.size] for places in range(1, most + 1)]


def _points(m: Model, contact: Contact) -> Array:
    """Return positions, normals, and within which distance points count as one, shape (nconmax, 7)."""
    near = _SAME * jnp.min(rows(m.geom_rbound, jnp.maximum(contact.geom, 0)), axis=1)
    return jnp.concatenate([contact.pos, contact.frame[:, 0], near[:, None]], axis=1)


def _moved(before: Seen, d: Data) -> Contact:
    """Return the contacts of a solve where the geoms of `d` take them; the normal stays."""
    c = before.contact
    geom, normal = jnp.maximum(c.geom, 0), c.frame[:, 0]
    half = 0.5 * c.dist[:, None] * normal

    def follow(point: Array, own: Array) -> Array:
        old_pos, old_mat, pos, mat = (rows(x, own) for x in (before.xpos, before.xmat, d.geom_xpos, d.geom_xmat))
        local = jnp.sum(old_mat * (point - old_pos)[:, :, None], axis=1)
        return pos + jnp.sum(mat * local[:, None], axis=2)

    first, second = follow(c.pos - half, geom[:, 0]), follow(c.pos + half, geom[:, 1])
    return c.replace(dist=jnp.sum((second - first) * normal, axis=1), pos=0.5 * (first + second))


def _with_points_between(m: Model, d: Data, old: Contact, used: Array) -> tuple[Contact, Array]:
    """Return contacts of the solve before, and which are in use, with one more between capsules that cross.

    As these turn, their distance along them is a valley whose lowest point moves: it was at the point of the solve
    before, is now where they are nearest, and with both kept apart will be between. Where the capsules turn about the
    old point it will be half way, where they only part it will be at the new one: a point at a third is never far.
    It takes the row of the old one, which goes to a row that is free, if there is one. Where a function of the user
    finds contacts there is none, for these need not be of capsules.
    """
    groups = m.plans.collision.groups
    if any(g.hook is not None for g in groups) or not any(g.types == _CAPSULES for g in groups):
        return old, used
    capsules = m.geom_type == GeomType.CAPSULE
    geom = jnp.maximum(old.geom, 0)
    point, parallel = capsule.towards(*(_capsules(m, d, x) for x in geom.T), v.unpack(old.pos), _SHARE)
    first = jnp.any(geom != jnp.roll(geom, 1, axis=0), axis=1) | (np.arange(m.nconmax) == 0)
    crossing = used & first & ~parallel & jnp.all(rows(capsules, geom), axis=1)
    between = old.replace(dist=point.dist, pos=v.pack(point.pos), frame=frame_of(point.normal))
    if m.has["geom_surfacevel"].any():
        velocity = surface_velocity(m, d.geom_xpos, d.geom_xmat, geom, between.pos, between.frame)
        between = between.replace(surfacevel=velocity)
    free = crossing[::-1] & ~used
    both = of_worlds(free, jax.tree.map(lambda x: x[::-1], old), of_worlds(crossing, between, old))
    return both, used | free


def _capsules(m: Model, d: Data, own: Array) -> Shape:
    """Return capsules by their ids, of which no axis but z matters."""
    pos, axis, size = (v.unpack(rows(x, own)) for x in (d.geom_xpos, d.geom_xmat[..., 2], m.geom_size))
    return Shape(pos, (axis, axis, axis), size)


def _kinds() -> np.ndarray:
    """Return the pairs of types, a matrix, of which the search for contacts may find one point and then another."""
    kinds = np.zeros((max(GeomType) + 1,) * 2, bool)
    kinds[tuple(np.array(PARTIAL).T)] = True
    return kinds | kinds.T


_KINDS = _kinds()
