"""Spatial vectors: motions (rotation, translation) and forces (torque, force), shape (..., 6).

All stand in world axes at one reference point per kinematic tree: the centre of mass of the tree.
An inertia is packed in ten numbers: xx, yy, zz, xy, xz, yz of the inertia about the reference point, mass times
offset (3), mass.  Source: mju_* of engine_util_spatial, MuJoCo 4.0.0.
"""

import jax
import jax.numpy as jnp

from mjx_like.math.quaternion import cross

Array = jax.Array


def motion_cross(vel: Array, motion: Array) -> Array:
    """Return the time derivative of `motion` carried along by `vel`.  Source: mju_crossMotion."""
    w, v = vel[..., :3], vel[..., 3:]
    return jnp.concatenate([cross(w, motion[..., :3]), cross(w, motion[..., 3:]) + cross(v, motion[..., :3])], axis=-1)


def force_cross(vel: Array, force: Array) -> Array:
    """Return the time derivative of `force` carried along by `vel`.  Source: mju_crossForce."""
    w, v = vel[..., :3], vel[..., 3:]
    return jnp.concatenate([cross(w, force[..., :3]) + cross(v, force[..., 3:]), cross(w, force[..., 3:])], axis=-1)


def inertia_times(inertia: Array, vel: Array) -> Array:
    """Return the momentum, shape (..., 6), of a packed inertia, shape (..., 10).  Source: mju_mulInertVec."""
    xx, yy, zz, xy, xz, yz = (inertia[..., i] for i in range(6))
    offset, mass = inertia[..., 6:9], inertia[..., 9:]
    w, v = vel[..., :3], vel[..., 3:]
    wx, wy, wz = jnp.unstack(w, axis=-1)
    spin = jnp.stack([xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz], axis=-1)
    return jnp.concatenate([spin + cross(offset, v), mass * v - cross(offset, w)], axis=-1)


def pack_inertia(diagonal: Array, rotation: Array, offset: Array, mass: Array) -> Array:
    """Return the packed inertia about a point `offset` [m] away from the centre of mass.

    diagonal: principal inertia, shape (..., 3) [kg m^2]; rotation: of the inertial frame, shape (..., 3, 3);
    offset: centre of mass minus reference point, shape (..., 3); mass: shape (...).  Source: mju_inertCom.
    """
    scaled = rotation * diagonal[..., None, :]
    xx, yy, zz, xy, xz, yz = (
        jnp.sum(scaled[..., i, :] * rotation[..., j, :], axis=-1)
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    )
    x, y, z = jnp.unstack(offset, axis=-1)
    return jnp.stack(
        [
            xx + mass * (y * y + z * z),
            yy + mass * (x * x + z * z),
            zz + mass * (x * x + y * y),
            xy - mass * x * y,
            xz - mass * x * z,
            yz - mass * y * z,
            mass * x,
            mass * y,
            mass * z,
            mass,
        ],
        axis=-1,
    )


def shift_motion(motion: Array, offset: Array) -> Array:
    """Return a motion at a point `offset` away from its reference point, same axes."""
    return jnp.concatenate([motion[..., :3], motion[..., 3:] + cross(motion[..., :3], offset)], axis=-1)


def shift_force(force: Array, offset: Array) -> Array:
    """Return a force about a point `offset` away from its reference point, same axes."""
    return jnp.concatenate([force[..., :3] - cross(offset, force[..., 3:]), force[..., 3:]], axis=-1)


def to_frame(vector: Array, rotation: Array) -> Array:
    """Return a spatial vector in the axes of `rotation`, shape (..., 3, 3) (local to world)."""
    rot = jnp.swapaxes(rotation, -1, -2)
    parts = [jnp.einsum("...ij,...j->...i", rot, vector[..., s], precision="highest") for s in (slice(3), slice(3, 6))]
    return jnp.concatenate(parts, axis=-1)
