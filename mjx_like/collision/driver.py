"""The collision stage: all candidate pairs by type, then the touching points compacted into the contact buffer."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import buffer, mixing
from mjx_like.collision.candidate_points import Candidates, candidates
from mjx_like.collision.mixing import PairParameters
from mjx_like.collision.speculative import speculative_contact
from mjx_like.types.data import Data
from mjx_like.types.enums import WarningType
from mjx_like.types.model import Model

Array = jax.Array


def collision(m: Model, d: Data) -> Data:
    """Return `d` with its contacts: the deepest `nconmax` of them, in MuJoCo's order.

    Reads geom_xpos, geom_xmat; with the flag `speculative` also subtree_com, cdof, qvel.
    Writes contact, ncon, maxuse_con, warning[CONTACTFULL].  Source: mj_collision.
    """
    plan = m.plans.collision
    if plan.point_pair.size == 0 or m.nconmax == 0:
        return buffer.without_contacts(m, d)
    parameters = mixing.pair_parameters(m)
    points = candidates(m, d.geom_xpos, d.geom_xmat, parameters.detect)
    discrete = points.active.size
    if plan.speculative is not None:
        points = _with_speculation(m, d, points, parameters)
    kept = buffer.keep(plan, points, m.nconmax, discrete)
    contact = buffer.contacts(m, d.geom_xpos, d.geom_xmat, points, parameters, kept)
    detected = jnp.sum(points.active, dtype=jnp.int32)
    full = ((detected > m.nconmax) | points.crowded).astype(d.warning.dtype)
    return d.replace(
        contact=contact,
        ncon=jnp.minimum(detected, m.nconmax),
        maxuse_con=jnp.maximum(d.maxuse_con, detected),
        warning=d.warning + full * _one_hot(WarningType.CONTACTFULL, d.warning),
    )


def _with_speculation(m: Model, d: Data, points: Candidates, parameters: PairParameters) -> Candidates:
    """Return the candidates with the contacts before an impact after them, for pairs that do not touch."""
    plan = m.plans.collision
    if points.rank is None:
        order = plan.point_rank
        points = points.replace(rank=jnp.asarray(order), pair=jnp.asarray(plan.point_pair[order].astype(np.int32)))
    touches = points.active & (points.dist < parameters.margin[points.pair])
    count = parameters.margin.size
    touching = jnp.zeros(count, bool).at[points.pair].max(touches)
    found = speculative_contact.speculate(m, d, plan.speculative, parameters, lax.stop_gradient(touching))
    replaced = jnp.zeros(count, bool).at[plan.speculative.pair].max(found.active.any(axis=1))
    slots, pair = found.active.shape[1], plan.speculative.pair.astype(np.int32)
    # between the first discrete point of their pair and the second
    start = np.searchsorted(plan.point_pair, pair)[:, None] * 2 * slots + 1 + np.arange(slots)
    return points.replace(
        active=jnp.concatenate([points.active & ~replaced[points.pair], found.active.ravel()]),
        dist=jnp.concatenate([points.dist, jnp.repeat(found.dist, slots)]),
        pos=jnp.concatenate([points.pos, found.pos.reshape(-1, 3).T], axis=1),
        normal=jnp.concatenate([points.normal, jnp.repeat(found.normal, slots, axis=0).T], axis=1),
        rank=jnp.concatenate([2 * slots * points.rank, jnp.asarray(start.ravel().astype(np.int32))]),
        pair=jnp.concatenate([points.pair, jnp.asarray(np.repeat(pair, slots))]),
    )


def _one_hot(index: int, like: Array) -> Array:
    return jnp.asarray(np.arange(like.shape[0]) == index, like.dtype)
