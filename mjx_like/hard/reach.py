"""How far contacts and limits are looked for: as far as bodies can come in one step, and as gaps are felt."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.softening import felt
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def geom_reach(m: Model, d: Data) -> Array:
    """Return the distance from which each geom can meet another in this step, shape (ngeom,) [m].

    Reads cdof, qvel, subtree_com, geom_xpos.
    """
    velocity = combine(m.plans.smooth.velocity_mask, d.cdof * d.qvel[:, None])[: m.nbody]
    own = take(velocity, m.geom_bodyid)
    arm = d.geom_xpos - take(d.subtree_com, np.asarray(m.body_rootid)[m.geom_bodyid])
    speed = safe.norm(own[:, 3:] + cross(own[:, :3], arm)) + safe.norm(own[:, :3]) * m.geom_rbound
    return 0.5 * felt(m) + m.opt_floats.timestep * speed


def reaching(m: Model, d: Data, ahead: Array | None = None) -> Model:
    """Return the model whose contacts are found where they can act within the step.

    ahead: a velocity, shape (nv,), that led to the pose in a step. What it took apart, faster than bodies were at the
    start, may come together again.
    """
    if not m.nv or not m.ngeom:
        return m
    reach = geom_reach(m, d)
    return _with_reach(m, reach if ahead is None else jnp.maximum(reach, geom_reach(m, d.replace(qvel=ahead))))


def touching(m: Model) -> Model:
    """Return the model whose contacts are found where they push at rest."""
    return _with_reach(m, jnp.broadcast_to(0.5 * felt(m), (m.ngeom,)))


def _with_reach(m: Model, reach: Array) -> Model:
    """Return the model whose geoms are found from further away, each by its own reach, shape (ngeom,)."""
    changes = {"geom_gap": m.geom_gap + reach}
    if m.npair:
        changes["pair_gap"] = m.pair_gap + take(reach, m.pair_geom1) + take(reach, m.pair_geom2)
    return m.replace(**changes)
