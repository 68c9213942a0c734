"""Optimisers: Adam on gradients of bounded norm, with a rate that falls."""

from typing import Any

import jax
import jax.numpy as jnp
import optax

from mjx_like.learning.sharing import mean


def adam(rate: float, steps: int, final_rate: float, most_gradient: float, decays: tuple[float, float] = (0.9, 0.999)):
    """Return an optimiser whose rate falls linearly to a share of what it begins with."""
    schedule = optax.linear_schedule(rate, rate * final_rate, steps)
    return optax.chain(optax.clip_by_global_norm(most_gradient), optax.adam(schedule, *decays))


def descend(optimiser: optax.GradientTransformation, gradient: Any, state: Any, params: Any) -> tuple[Any, Any, Any]:
    """Return parameters after a step along the mean gradient of all devices, the optimiser's state, and its norm.

    A gradient that is not finite changes nothing.
    """
    gradient = mean(gradient)
    norm = jnp.sqrt(sum(jnp.sum(x**2) for x in jax.tree.leaves(gradient)))
    updates, after = optimiser.update(gradient, state, params)
    fine = jnp.isfinite(norm)

    def kept(new: Any, old: Any) -> Any:
        return jax.tree.map(lambda x, y: jnp.where(fine, x, y), new, old)

    return kept(optax.apply_updates(params, updates), params), kept(after, state), norm
