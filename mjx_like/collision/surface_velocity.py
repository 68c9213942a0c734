"""Velocity of moving surfaces at contacts: conveyor belts and turntables."""

import jax
import jax.numpy as jnp

from mjx_like.math.quaternion import cross
from mjx_like.types.model import Model

Array = jax.Array


def surface_velocity(m: Model, geom_xpos: Array, geom_xmat: Array, geom: Array, point: Array, frame: Array) -> Array:
    """Return the velocity of the second geom's surface less the first's along the tangents, and their spin, (n, 3).

    The velocity field of a surface, v + omega x (point - geom), is given in the frame of the geom.

    Args:
      geom_xpos, geom_xmat: shapes (ngeom, 3) [m, world] and (ngeom, 3, 3).
      geom: ids, shape (n, 2).
      point: shape (n, 3) [m, world].
      frame: rows normal and tangents, shape (n, 3, 3).

    Source: Computation chapter, constraint parameters; geom surfacevel of the XML reference.
    """
    linear, spin = (jnp.sum(geom_xmat * part[:, None], axis=-1) for part in jnp.split(m.geom_surfacevel, 2, axis=1))
    fields = jnp.concatenate([geom_xpos, linear, spin], axis=1)[geom]
    center, linear, spin = fields[..., :3], fields[..., 3:6], fields[..., 6:]
    velocity = linear + cross(spin, point[:, None] - center)
    relative, rotation = velocity[:, 1] - velocity[:, 0], spin[:, 1] - spin[:, 0]
    along = jnp.sum(frame[:, 1:] * relative[:, None], axis=-1)
    return jnp.concatenate([along, jnp.sum(frame[:, 0] * rotation, axis=-1, keepdims=True)], axis=1)
