"""Linear velocity and angular momentum of subtrees."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, take
from mjx_like.tree.jacobian import jac
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def subtree_vel(m: Model, d: Data) -> Data:
    """Return d with the velocity of each subtree's centre of mass and its angular momentum about it.

    Reads cvel, xipos, ximat, subtree_com. Writes subtree_linvel, subtree_angmom.  Source: mj_subtreeVel.
    """
    omega = d.cvel[:, :3]
    linear = d.cvel[:, 3:] + cross(omega, d.xipos - take(d.subtree_com, m.body_rootid))
    subtree = m.plans.tree.body_ancestor.T
    mass = m.body_mass[:, None]
    total = combine(subtree, jnp.concatenate([mass * linear, mass], axis=-1))
    heavy = total[:, 3:] >= MINVAL
    velocity = safe.divide(total[:, :3], total[:, 3:], where=heavy)
    momentum = _angular_momentum(m, d, omega, linear, subtree)
    moved = momentum - cross(d.subtree_com, total[:, :3])
    return d.replace(subtree_linvel=velocity, subtree_angmom=moved)


def _angular_momentum(m: Model, d: Data, omega: Array, linear: Array, subtree) -> Array:
    """Return the angular momentum of each subtree about the world's origin, shape (nbody, 3) [kg m^2/s]."""
    local = jnp.sum(d.ximat * omega[:, :, None], axis=1)
    spin = jnp.sum(d.ximat * (m.body_inertia * local)[:, None, :], axis=2)
    return combine(subtree, spin + cross(d.xipos, m.body_mass[:, None] * linear))


def angmom_mat(m: Model, d: Data, body: int) -> Array:
    """Return the matrix, shape (3, nv), from qvel to the angular momentum of a subtree about its centre of mass.

    Source: mj_angmomMat.
    """
    inside = m.plans.tree.body_ancestor[:, body]
    jacp, jacr = jac(m, d, d.xipos, np.arange(m.nbody))
    local = jnp.einsum("bji,bvj->bvi", d.ximat, jacr, precision="highest") * m.body_inertia[:, None, :]
    spin = jnp.einsum("bij,bvj->bvi", d.ximat, local, precision="highest")
    arm = (d.xipos - d.subtree_com[body])[:, None, :]
    orbit = cross(jnp.broadcast_to(arm, jacp.shape), m.body_mass[:, None, None] * jacp)
    return combine(inside[None, :], spin + orbit)[0].T
