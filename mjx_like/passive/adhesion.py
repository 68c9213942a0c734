"""The attraction of adhesive contacts."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.tree.jacobian import joint_force
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def adhesion_force(m: Model, d: Data) -> Array:
    """Return the joint forces, shape (nv,), that pull the bodies of adhesive contacts together along the normals.

    Contacts in the gap pull as well.  Reads contact, subtree_com, cdof.  Source: Computation chapter, adhesion.
    """
    c, total = d.contact, jnp.zeros((m.nbody, 6), d.qpos.dtype)
    pull = jnp.where(c.geom[:, 0] >= 0, c.adhesion, 0)[:, None] * c.frame[:, 0]
    for end, force in ((0, pull), (1, -pull)):
        body = jnp.asarray(m.geom_bodyid)[jnp.maximum(c.geom[:, end], 0)]
        offset = c.pos - d.subtree_com[jnp.asarray(m.body_rootid)[body]]
        wrench = jnp.concatenate([cross(offset, force), force], axis=1)
        mine = body == np.arange(m.nbody)[:, None]
        total = total + matmul(mine.astype(wrench.dtype), wrench)
    return joint_force(m, d, total)
