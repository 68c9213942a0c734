"""Contacts before an impact, of geoms that move farther in a step than they are thick.

Both geoms move at their velocity; conservative advancement finds when they are nearly at their margin. What is nearest
there, put back to where it is now, is the contact; its distance is such that the solver leaves the rest of the way.
Source: Computation chapter, Speculative contacts; where it is silent, MuJoCo 4.0.0 decides.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.mixing import PairParameters
from mjx_like.collision.speculative import advancement
from mjx_like.constants import MAXIMP, MINIMP, MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import dot
from mjx_like.math.select import take
from mjx_like.ray.stage import cast
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model
from mjx_like.types.plans import SpeculativePlan

Array = jax.Array

_SOFT = 1e-3  # depth of a contact without stiffness [m]


class Speculation(NamedTuple):
    """The contacts of all pairs of a plan, up to `manifold.SLOTS` each."""

    active: Array  # shape (n, slots)
    dist: Array  # shape (n,) [m]
    pos: Array  # shape (n, slots, 3) [m], world
    normal: Array  # shape (n, 3), world


def speculate(m: Model, d: Data, plan: SpeculativePlan, parameters: PairParameters, touching: Array) -> Speculation:
    """Return the speculative contacts of all pairs of a plan.

    Args:
      parameters: of all candidate pairs.
      touching: which candidate pairs have a contact below their margin, shape (npair,).

    Derivatives are those of a straight way to the impact, with what is nearest there held.
    Reads geom_xpos, geom_xmat, subtree_com, cdof, qvel.
    """
    first, second = (advancement.motion(m, d, plan.geom[:, k]) for k in (0, 1))
    margin = take(parameters.margin, plan.pair)
    reach = margin + take(parameters.detect - parameters.margin, plan.pair)
    near = (first.fast | second.fast) & ~take(touching, plan.pair) & advancement.meet(m, d, plan, first, second, reach)
    stopped = lax.stop_gradient((m, d, first, second, margin))
    impact = advancement.impacts(stopped[0], stopped[1], plan, *stopped[2:], lax.stop_gradient(near))
    impact = lax.stop_gradient(impact)
    hits = near & impact.hits & _in_sight(m, d, plan, impact.middle)

    position = [take(d.geom_xpos, plan.geom[:, k]) for k in (0, 1)]
    frame = [take(d.geom_xmat, plan.geom[:, k]) for k in (0, 1)]
    rigid = [_carried(position[k], frame[k], impact.ends[:, k]) for k in (0, 1)]
    middle = [_carried(position[k], frame[k], impact.middle[:, k : k + 1])[:, 0] for k in (0, 1)]
    share = lax.stop_gradient(safe.ratio(first.sweep, jnp.maximum(first.sweep + second.sweep, MINVAL)))[:, None, None]
    pos = share * rigid[0] + (1 - share) * rigid[1]

    speeds = [v.shift + jnp.cross(v.angular, x - c) for v, x, c in zip((first, second), middle, position, strict=True)]
    gap = dot(impact.normal, middle[1] - middle[0])
    speed = dot(impact.normal, speeds[0] - speeds[1])
    gap, speed = (x - lax.stop_gradient(x) for x in (gap, speed))
    left = 1 - safe.divide(impact.dist, impact.start, where=hits)
    time = impact.time + safe.divide(left * gap - impact.time * speed, impact.speed, where=hits)
    dist = margin - _depth(
        m, *(take(x, plan.pair) for x in (parameters.solref, parameters.solimp[:, 1])), time, impact.speed + speed
    )
    return Speculation(
        impact.used & hits[:, None],
        jnp.where(hits, dist, 0),
        jnp.where(hits[:, None, None], pos, 0),
        jnp.where(hits[:, None], impact.normal, np.arange(3) == 0),
    )


def _carried(position: Array, frame: Array, local: Array) -> Array:
    """Return points of geoms in the world, shape (n, k, 3)."""
    return position[:, None] + jnp.sum(frame[:, None] * local[:, :, None, :], axis=3)


def _in_sight(m: Model, d: Data, plan: SpeculativePlan, middle: Array) -> Array:
    """Return whether no other geom that both can touch stands between the nearest points of pairs."""
    if not plan.blocks.any():
        return jnp.ones(plan.pair.size, bool)
    one, two = (
        _carried(take(d.geom_xpos, plan.geom[:, k]), take(d.geom_xmat, plan.geom[:, k]), middle[:, k : k + 1])[:, 0]
        for k in (0, 1)
    )
    dist, _, _ = lax.stop_gradient(cast(m, d, one, two - one, plan.blocks))
    return (dist < 0) | (dist > 1)


def _depth(m: Model, solref: Array, largest: Array, time: Array, speed: Array) -> Array:
    """Return how deep contacts must count, shape (n,) [m], for the solver to leave `time` of their speed.

    largest: impedance, shape (n,). The discrete integrator keeps springs no stiffer than one step resolves.
    """
    step = m.opt.timestep
    ratio, lag = solref[:, 1], solref[:, 0]
    standard = lag > 0
    discrete = m.plans.integrator.in_step
    lag = lag if discrete or m.disabled(DisableBit.REFSAFE) else jnp.maximum(lag, 2 * step)
    lag = jnp.where(standard, lag, 1)
    damp = jnp.where(standard, safe.ratio(2 * step, lag), -ratio * step)
    stiff = safe.ratio(step, lag * jnp.where(standard, ratio, 1)) ** 2
    stiff = jnp.where(standard, stiff, -solref[:, 0] * step * step)
    if discrete and not m.disabled(DisableBit.REFSAFE):
        excess = safe.ratio(stiff, jnp.clip(largest, MINIMP, MAXIMP))
        excess = jnp.where(standard & (excess > 1), excess, 1)
        damp, stiff = safe.ratio(damp, jnp.sqrt(excess)), safe.ratio(stiff, excess)
    rest = 1 - time - (time * (damp + stiff) if discrete else damp)
    soft = stiff <= MINVAL
    return jnp.where(soft, _SOFT, safe.ratio(rest, jnp.where(soft, 1, stiff)) * speed)
