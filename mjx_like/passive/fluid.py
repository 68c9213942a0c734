"""Forces of the surrounding fluid: the inertia-box model by body and the ellipsoid model by geom.

Source: fluid chapter of the Computation documents; mj_inertiaBoxFluidModel, mj_ellipsoidFluidModel.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.math.select import segment_sum, take
from mjx_like.passive.ellipsoid import ellipsoid_wrench, semiaxes
from mjx_like.tree.jacobian import joint_force, spatial_force
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def in_fluid(m: Model) -> bool:
    """Return whether the fluid acts on any body."""
    return bool(m.plans.passive.box_body.size or m.plans.passive.ellipsoid_geom.size)


def fluid_force(m: Model, d: Data) -> Array:
    """Return the joint forces of the fluid, shape (nv,) [N or N m].

    Reads xipos, ximat, geom_xpos, geom_xmat, cvel, subtree_com, cdof.
    """
    plan = m.plans.passive
    force = jnp.zeros((m.nbody, 6), d.qvel.dtype)
    if plan.box_body.size:
        force = force + _boxes(m, d, plan.box_body)
    if plan.ellipsoid_geom.size:
        force = force + _ellipsoids(m, d, plan.ellipsoid_geom)
    return joint_force(m, d, force)


def _boxes(m: Model, d: Data, body: np.ndarray) -> Array:
    """Return the spatial force on each body, shape (nbody, 6), of those in the inertia-box model."""
    pos, rotation = take(d.xipos, body), take(d.ximat, body)
    mass = take(m.body_mass, body)
    omega, velocity = relative_velocity(m, d, body, pos, rotation)
    torque, force = box_wrench(
        omega, velocity, boxes_of(mass, take(m.body_inertia, body)), m.opt.density, m.opt.viscosity
    )
    heavy = (mass >= MINVAL)[:, None]
    return _on_bodies(m, d, body, pos, rotation, jnp.where(heavy, force, 0), jnp.where(heavy, torque, 0))


def _ellipsoids(m: Model, d: Data, geom: np.ndarray) -> Array:
    """Return the spatial force on each body, shape (nbody, 6), of geoms in the ellipsoid model."""
    body, pos, rotation = m.geom_bodyid[geom], take(d.geom_xpos, geom), take(d.geom_xmat, geom)
    omega, velocity = relative_velocity(m, d, body, pos, rotation)
    size = semiaxes(m.geom_type[geom], take(m.geom_size, geom))
    coefficients = take(m.geom_fluid, geom)
    torque, force = ellipsoid_wrench(omega, velocity, size, coefficients, m.opt.density, m.opt.viscosity)
    heavy = (take(m.body_mass, body) >= MINVAL)[:, None] * coefficients[:, :1]
    return _on_bodies(m, d, body, pos, rotation, heavy * force, heavy * torque)


def box_wrench(omega: Array, velocity: Array, box: Array, density: Array, viscosity: Array) -> tuple[Array, Array]:
    """Return torque and force, shapes (k, 3), on boxes that move through a fluid, in their own axes.

    omega, velocity: relative to the fluid, shapes (k, 3) [rad/s, m/s]; box: full sizes, shape (k, 3) [m].
    """
    diameter = jnp.mean(box, axis=-1, keepdims=True)
    other, third = jnp.roll(box, -1, axis=-1), jnp.roll(box, -2, axis=-1)
    force = -3 * np.pi * diameter * viscosity * velocity
    force = force - 0.5 * density * other * third * jnp.abs(velocity) * velocity
    torque = -np.pi * diameter**3 * viscosity * omega
    torque = torque - density * box * (other**4 + third**4) * jnp.abs(omega) * omega / 64
    return torque, force


def boxes_of(mass: Array, inertia: Array) -> Array:
    """Return the full sizes, shape (k, 3) [m], of the boxes of given masses and principal inertias."""
    others = jnp.sum(inertia, axis=-1, keepdims=True) - 2 * inertia
    return safe.sqrt(safe.divide(jnp.maximum(MINVAL, others), mass[:, None]) * 6)


def relative_velocity(m: Model, d: Data, body: np.ndarray, pos: Array, rotation: Array) -> tuple[Array, Array]:
    """Return angular and linear velocity relative to the wind at points of bodies, in local axes, shapes (k, 3)."""
    motion = take(d.cvel, body)
    offset = pos - take(d.subtree_com, m.body_rootid[body])
    velocity = motion[:, 3:] + cross(motion[:, :3], offset) - m.opt.wind
    return tuple(jnp.sum(rotation * x[:, :, None], axis=1) for x in (motion[:, :3], velocity))


def _on_bodies(m: Model, d: Data, body: np.ndarray, pos: Array, rotation: Array, force: Array, torque: Array) -> Array:
    """Return the spatial force on each body, shape (nbody, 6), of forces and torques in local axes at points."""
    force, torque = (jnp.sum(rotation * x[:, None, :], axis=2) for x in (force, torque))
    return segment_sum(spatial_force(m, d, body, pos, force, torque), body, m.nbody)
