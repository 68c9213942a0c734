"""Jacobians of bodies, geoms, sites, subtrees, and points that carry an axis."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.tree.jacobian import jac
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def jac_body(m: Model, d: Data, body: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of the origin of a body's frame.  Source: mj_jacBody."""
    return jac(m, d, d.xpos[body], body)


def jac_body_com(m: Model, d: Data, body: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a body's centre of mass.  Source: mj_jacBodyCom."""
    return jac(m, d, d.xipos[body], body)


def jac_geom(m: Model, d: Data, geom: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a geom's centre.  Source: mj_jacGeom."""
    return jac(m, d, d.geom_xpos[geom], int(m.geom_bodyid[geom]))


def jac_site(m: Model, d: Data, site: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a site.  Source: mj_jacSite."""
    return jac(m, d, d.site_xpos[site], int(m.site_bodyid[site]))


def jac_subtree_com(m: Model, d: Data, body: int) -> Array:
    """Return the translation Jacobian, shape (nv, 3), of the centre of mass of a subtree.  Source: mj_jacSubtreeCom."""
    weight = m.body_mass * m.plans.tree.body_ancestor[:, body]
    rows, _ = jac(m, d, d.xipos, np.arange(m.nbody))
    return jnp.einsum("b,bvi->vi", safe.divide(weight, jnp.sum(weight)), rows, precision="highest")


def jac_point_axis(m: Model, d: Data, point: Array, axis: Array, body: int) -> tuple[Array, Array]:
    """Return the Jacobians, each (nv, 3), of a point and of a unit vector, both carried by a body.

    point, axis: shape (3,), world.  Source: mj_jacPointAxis.
    """
    jacp, jacr = jac(m, d, point, body)
    return jacp, cross(jacr, jnp.broadcast_to(axis, jacr.shape))
