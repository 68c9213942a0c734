"""Contacts that a solve takes from the one before it, where the search for contacts may not find them again.

The search between convex geoms finds the deepest point, or more where they are flat on each other, and two capsules
have one point but where they are parallel. As bodies turn within a step another point may be the deepest: a solve that
had that one alone would let the first go in, and the next solve the second. A solve therefore keeps the points of the
one before, moved with their geoms, as long as there is room for them in their pair.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.manifold import SLOTS
from mjx_like.collision.table import PAIRS
from mjx_like.math.lists import first_set
from mjx_like.math.select import rows
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

_SAME = 0.05  # of the radius of the smaller geom, within which points of a pair count as one
_ALIKE = 0.95  # cosine between their normals
_MOST = 256  # contacts that are compared with each other


class Seen(NamedTuple):
    """The contacts of a solve, and where its geoms were."""

    contact: Contact
    count: Array
    xpos: Array  # of all geoms, shape (ngeom, 3) [m]
    xmat: Array  # shape (ngeom, 3, 3)


def carries(m: Model) -> bool:
    """Return whether a solve takes contacts from the one before."""
    plan = m.plans.collision
    if not m.hard.refresh or not 1 < m.nconmax <= _MOST or not plan.point_pair.size:
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
    own, old = d.contact, _moved(before, d)
    place = np.arange(m.nconmax)
    wanted = (place < before.count) & _lacking(m, own, place < d.ncon, old)
    total = jnp.cumsum(jnp.concatenate([place < d.ncon, wanted]), dtype=jnp.int32)
    source = jnp.where(place < total[-1], first_set(m.nconmax, total), place)
    both = jax.tree.map(lambda x, y: rows(jnp.concatenate([x, y]), source), own, old)
    return {
        "contact": both,
        "ncon": jnp.minimum(total[-1], m.nconmax),
        "maxuse_con": jnp.maximum(d.maxuse_con, total[-1]),
    }


def _lacking(m: Model, own: Contact, used: Array, old: Contact) -> Array:
    """Return which old contacts are not among the own ones and find room in their pair, shape (nconmax,)."""
    geom = jnp.maximum(old.geom, 0)
    own_pair = jnp.all(old.geom[:, None] == own.geom, axis=2) & used
    gap = old.pos[:, None] - own.pos
    same = _SAME * jnp.min(rows(m.geom_rbound, geom), axis=1)
    alike = jnp.sum(old.frame[:, None, 0] * own.frame[:, 0], axis=2) > _ALIKE
    known = jnp.any(own_pair & alike & (jnp.sum(gap * gap, axis=2) < same[:, None] ** 2), axis=1)
    kind = rows(m.geom_type.astype(np.int32), geom)
    lacking = ~known & jnp.asarray(_KINDS)[kind[:, 0], kind[:, 1]]
    old_pair = jnp.all(old.geom[:, None] == old.geom, axis=2) & lacking
    before = jnp.sum(old_pair & np.tri(m.nconmax, k=-1, dtype=bool), axis=1)
    return lacking & (jnp.sum(own_pair, axis=1) + before < SLOTS)


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


def _kinds() -> np.ndarray:
    """Return the pairs of types, a matrix, of which the search for contacts may find one point and then another."""
    kinds = np.zeros((max(GeomType) + 1,) * 2, bool)
    for pair, row in PAIRS.items():  # of a plane all points are found
        kinds[pair] = pair[0] != GeomType.PLANE and row.slots > 1 and row.hard is None
    return kinds | kinds.T


_KINDS = _kinds()
