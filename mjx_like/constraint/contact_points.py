"""Where contacts touch their bodies: hard contact finds them where a step ends, and poses are those of its start."""

import jax
import jax.numpy as jnp

from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, rows, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def carried_points(m: Model, d: Data, body: Array) -> Array:
    """Return where points of bodies that contacts touch are at the poses of `d`: for what volumes they lie in.

    Those of soft contact are there already. With hard contact and `refresh` each is moved back over the step with its
    body.

    Args:
      body: shape (nconmax, n); -1 for none.

    Returns:
      Points in the frame of the world [m], shape (nconmax, n, 3), or (nconmax, 1, 3) where bodies make no difference.

    Reads contact, and with hard contact qvel, qacc, cdof, subtree_com, with restitution qvel_mean.
    """
    points = d.contact.pos[:, None]
    if not _ends_elsewhere(m):
        return points
    turn, shift, root = _motion(m, d, body, take(d.subtree_com, m.body_rootid))
    arm = points - root - shift
    return root + arm - cross(turn, arm - 0.5 * cross(turn, arm))


def shifted_points(m: Model, d: Data, body: Array) -> Array:
    """Return the points of contacts, as far from the centres of mass of bodies as where they were found: for levers.

    As `carried_points`, but each point is moved back as its body's centre of mass moves, without a turn, as forces
    keep their directions. Reads xipos as well.
    """
    points = d.contact.pos[:, None]
    if not _ends_elsewhere(m):
        return points
    turn, shift, arm = _motion(m, d, body, d.xipos - take(d.subtree_com, m.body_rootid))
    return points - shift - cross(turn, arm)


def _ends_elsewhere(m: Model) -> bool:
    """Return whether contacts are found at other poses than those of Data."""
    return m.hard is not None and m.hard.refresh > 0 and m.nv > 0


def _motion(m: Model, d: Data, body: Array, other: Array) -> list[Array]:
    """Return how far bodies turn, and their points at the centre of their tree move, over the step, and `other`.

    other: of each body, shape (nbody, 3). All three have shape (nconmax, n, 3).
    """
    h = m.opt_floats.timestep
    over_step = d.qvel_mean if m.hard.rebounds else d.qvel + h * d.qacc
    twist = h * combine(m.plans.tree.body_dof, d.cdof * over_step[:, None])
    return jnp.split(rows(jnp.concatenate([twist, other], axis=1), jnp.maximum(body, 0)), 3, axis=-1)
