"""What plans cost: controls of each step, rolled out from a state."""

from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.control.cost import Cost, trajectory_cost
from mjx_like.control.states import States, before, last, states_of
from mjx_like.rollout.rollout import rollout
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def plan_costs(m: Model, d: Data, cost: Cost, ctrl: Any) -> tuple[Array, States]:
    """Return what plans cost, shape (plans,), and the states after each step, arrays of shape (plans, steps, ...).

    A cost that is not finite, or that of a world which blew up, is infinite.  Differentiable.

    Args:
      d: a batch of worlds, one for each plan.
      ctrl: controls of each step, shape (plans, steps, nu).
    """
    states, end = rollout(m, d, ctrl, record=states_of, return_data=True)
    starts = jax.tree.map(lambda x: x[:, None], states_of(d))

    def one(d: Data, start: States, states: States, ctrl: Array) -> Array:
        return trajectory_cost(cost, m, d, before(start, states), last(states), ctrl)

    value = jax.vmap(one)(d, starts, states, ctrl)
    fell = jnp.any((end.warning > d.warning).reshape(len(value), -1), axis=1)
    return jnp.where(jnp.isfinite(value) & ~fell, value, jnp.inf), states
