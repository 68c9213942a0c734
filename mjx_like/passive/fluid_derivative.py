"""Derivative of the forces of the fluid in the joint velocities."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math.linalg import matmul
from mjx_like.math.select import combine, segment_sum, take
from mjx_like.passive.ellipsoid import ellipsoid_drag, ellipsoid_wrench, semiaxes
from mjx_like.passive.fluid import box_wrench, boxes_of, relative_velocity
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def fluid_damping(m: Model, d: Data, exact: bool = False) -> Array:
    """Return minus the derivative of the fluid's forces in qvel, shape (nv, nv).

    exact: all of it, as `implicit` needs; else its symmetric part, geom by geom, except for bodies that float alone.
    Reads xipos, ximat, geom_xpos, geom_xmat, cvel, subtree_com, cdof.
    Source: mjd_inertiaBoxFluid, mjd_ellipsoidFluid.
    """
    plan = m.plans.passive
    asymmetric = np.ones(m.nbody, bool) if exact else _floats_alone(m, np.arange(m.nbody))
    own, below = _below(m, d, ellipsoid_wrench, asymmetric)
    above = below
    if asymmetric[m.geom_bodyid[plan.ellipsoid_geom]].any():
        above = matmul(jnp.sum(own * d.cdof[:, None, :], axis=2), d.cdof.T)
    ancestor = m.plans.tree.dof_ancestor
    strict = (ancestor - np.eye(m.nv)) > 0
    return jnp.where(ancestor > 0, below, jnp.where(strict.T, above.T, 0))


def fluid_drag(m: Model, d: Data) -> Array:
    """Return minus the symmetric part of the derivative of the fluid's drag in qvel, shape (nv, nv).

    Lift and added mass stay out; of simple bodies, whose inertia is diagonal, only the diagonal counts.
    Reads what `fluid_damping` reads.  Source: mjd_effBuild of MuJoCo 4.0.0, by experiment.
    """
    below = _below(m, d, ellipsoid_drag, np.zeros(m.nbody, bool))[1]
    ancestor = m.plans.tree.dof_ancestor
    simple = m.body_simple[m.dof_bodyid] > 0
    strict = (ancestor - np.eye(m.nv) > 0) & ~simple
    return jnp.where(strict | np.eye(m.nv, dtype=bool), below, jnp.where(strict.T, below.T, 0))


def _below(m: Model, d: Data, law: Callable[..., tuple[Array, Array]], asymmetric: np.ndarray) -> tuple[Array, Array]:
    """Return the drag of the subtree of each dof, (nv, 6, 6), and its rows against the dofs above, (nv, nv).

    law: of the ellipsoid model: torque and force by motion; asymmetric: see `_ellipsoids`.
    """
    plan = m.plans.passive
    drag = jnp.zeros((m.nbody, 6, 6), d.qvel.dtype)
    if plan.box_body.size:
        drag = drag + _boxes(m, d, plan.box_body)
    if plan.ellipsoid_geom.size:
        drag = drag + _ellipsoids(m, d, plan.ellipsoid_geom, law, asymmetric)
    own = take(combine(m.plans.tree.body_ancestor.T, drag), m.dof_bodyid)
    return own, matmul(jnp.sum(own * d.cdof[:, :, None], axis=1), d.cdof.T)


def _floats_alone(m: Model, body: np.ndarray) -> np.ndarray:
    """Return which bodies belong to a tree whose only joint is a free one."""
    return np.isin(m.body_treeid[body], m.body_treeid[m.plans.integrator.free_body])


def _boxes(m: Model, d: Data, body: np.ndarray) -> Array:
    """Return the drag of the bodies in the inertia-box model in tree frames, shape (nbody, 6, 6)."""
    pos, rotation, mass = take(d.xipos, body), take(d.ximat, body), take(m.body_mass, body)
    box = boxes_of(mass, take(m.body_inertia, body))

    def wrench(motion: Array) -> Array:
        return jnp.concatenate(box_wrench(motion[:, :3], motion[:, 3:], box, m.opt.density, m.opt.viscosity), axis=1)

    motion = jnp.concatenate(relative_velocity(m, d, body, pos, rotation), axis=1)
    _, slope = jax.jvp(wrench, (motion,), (jnp.ones_like(motion),))
    local = jnp.eye(6, dtype=slope.dtype) * jnp.where(mass >= MINVAL, 1.0, 0.0)[:, None, None] * slope[:, None, :]
    return _in_tree_frames(m, d, body, pos, rotation, local)


def _ellipsoids(m: Model, d: Data, geom: np.ndarray, law, asymmetric: np.ndarray) -> Array:
    """Return the drag of the geoms in the ellipsoid model in tree frames, shape (nbody, 6, 6).

    law: torque and force by motion; asymmetric: static mask of bodies of which it is not made symmetric, (nbody,).
    """
    body, pos, rotation = m.geom_bodyid[geom], take(d.geom_xpos, geom), take(d.geom_xmat, geom)
    size, coefficients = semiaxes(m.geom_type[geom], take(m.geom_size, geom)), take(m.geom_fluid, geom)

    def wrench(motion: Array) -> Array:
        pair = law(motion[:, :3], motion[:, 3:], size, coefficients, m.opt.density, m.opt.viscosity)
        return jnp.concatenate(pair, axis=1)

    local = _jacobian(wrench, jnp.concatenate(relative_velocity(m, d, body, pos, rotation), axis=1))
    scale = jnp.where(take(m.body_mass, body) >= MINVAL, coefficients[:, 0], 0)
    kept = jnp.where(asymmetric[body, None, None], local, 0.5 * (local + jnp.swapaxes(local, 1, 2)))
    return _in_tree_frames(m, d, body, pos, rotation, kept * scale[:, None, None])


def _jacobian(function: Callable[[Array], Array], x: Array) -> Array:
    """Return the Jacobian, row by row, of a function of rows of six, shape (k, 6, 6)."""
    seeds = jnp.eye(6, dtype=x.dtype)[:, None, :] * jnp.ones_like(x)
    columns = jax.vmap(lambda seed: jax.jvp(function, (x,), (seed,))[1])(seeds)
    return jnp.moveaxis(columns, 0, -1)


def _in_tree_frames(m: Model, d: Data, body: np.ndarray, pos: Array, rotation: Array, local: Array) -> Array:
    """Return minus the sum over each body of force derivatives in local axes at points, shape (nbody, 6, 6)."""
    offset = pos - take(d.subtree_com, m.body_rootid[body])
    x, y, z = offset[:, 0], offset[:, 1], offset[:, 2]
    zero = jnp.zeros_like(x)
    lever = jnp.stack([zero, z, -y, -z, zero, x, y, -x, zero], axis=-1).reshape(-1, 3, 3)
    rot = jnp.swapaxes(rotation, 1, 2)
    top = jnp.concatenate([rot, jnp.zeros_like(rot)], axis=2)
    bottom = jnp.concatenate([matmul(rot, lever), rot], axis=2)
    to_local = jnp.concatenate([top, bottom], axis=1)
    moved = matmul(jnp.swapaxes(to_local, 1, 2), matmul(local, to_local))
    return segment_sum(-moved, body, m.nbody)
