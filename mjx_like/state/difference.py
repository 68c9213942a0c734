"""Differences of states on the tangent space, and states moved by them."""

from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.errors import InputError
from mjx_like.integrator.position import differentiate_pos, integrate_pos
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

Array = jax.Array


def state_difference(m: Model, a: Any, b: Any) -> Array:
    """Return the small motion that leads from state `a` to state `b`, shape (..., 2 nv + na).

    Position in the tangent space at `a` (a rotation is a rotation vector in the body's frame), velocity, activation:
    the coordinates of `transition_jacobian`. `a` and `b` are Data, Trajectories or anything with qpos, qvel and act;
    leading axes of worlds or steps are broadcast against each other.

    Raises:
      InputError: `m` has a world axis, or qpos, qvel or act do not have its sizes.
    """
    one_model("state_difference", m)
    for name, size in (("qpos", m.nq), ("qvel", m.nv), ("act", m.na)):
        for x in (a, b):
            shape = jnp.shape(getattr(x, name, 0))
            if shape[-1:] != (size,):
                raise InputError(f"state_difference: {name} has shape {shape}; it must be (..., {size}) for this model")
    position = jnp.vectorize(lambda p, q: differentiate_pos(m, p, q), signature="(n),(n)->(k)")
    return jnp.concatenate([position(a.qpos, b.qpos), b.qvel - a.qvel, b.act - a.act], axis=-1)


def moved_state(m: Model, a: Any, dx: Array) -> dict[str, Array]:
    """Return qpos, qvel and act of the state that a small motion leads to from `a`: `state_difference` the other way.

    dx: shape (..., 2 nv + na); leading axes are broadcast against those of `a`.
    """
    move = jnp.vectorize(lambda q, v: integrate_pos(m, q, v, 1.0), signature="(n),(k)->(n)")
    dq, dv, da = jnp.split(dx, (m.nv, 2 * m.nv), axis=-1)
    return {"qpos": move(a.qpos, dq), "qvel": a.qvel + dv, "act": a.act + da}
