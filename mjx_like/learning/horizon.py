"""How large gradients become over the horizon: whether a gradient through so many steps is of use."""

import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from matplotlib.figure import Figure

from mjx_like.learning.worlds import many_worlds

Array = jax.Array


class GradientNorms(NamedTuple):
    """Norms by horizon, shape (horizon, worlds): of the derivative of the sum of the rewards of the first k + 1 steps.

    first_action: by the first action; reward: of the last of these rewards alone, by the first action.
    """

    first_action: Array
    reward: Array


def gradient_norms(
    env: Any, policy: Callable[[Array], Array], rng: Array, *, horizon: int = 64, worlds: int = 64, warm_up: int = 0
) -> GradientNorms:
    """Return how large the gradient of the return is, for each horizon up to the one given.

    The policy acts in all steps and reacts to what the first action changes. One forward pass gives all horizons.
    Automatic resets cut the gradient, so that worlds that fall stop growing.

    Args:
      policy: of observations, actions.
      warm_up: steps before the first, for states that are not those of a start.
    """
    env = many_worlds(env)

    def act(state: Any) -> Any:
        return env.step(state, policy(state.obs))

    def rewards(start: Any, first: Array) -> Array:
        state = env.step(start, first)
        return jnp.concatenate(
            [state.reward[None], lax.scan(lambda s, _: ((s := act(s)), s.reward), state, length=horizon - 1)[1]]
        )

    def derivative(start: Any, first: Array, direction: Array) -> Array:
        return jax.jvp(lambda u: rewards(start, u), (first,), (direction,))[1]

    @jax.jit
    def norms(rng: Array) -> GradientNorms:
        start = lax.fori_loop(0, warm_up, lambda _, state: act(state), env.reset(rng, worlds))
        first = policy(start.obs)
        directions = jnp.broadcast_to(
            jnp.eye(env.action_size, dtype=first.dtype)[:, None], (env.action_size, *first.shape)
        )
        by_entry = lax.map(lambda direction: derivative(start, first, direction), directions)
        totals = jnp.cumsum(by_entry, axis=1)
        return GradientNorms(*(jnp.sqrt(jnp.sum(x**2, axis=0)) for x in (totals, by_entry)))

    return norms(rng)


def plot_gradient_norms(path: pathlib.Path, norms: Mapping[str, Mapping[str, GradientNorms]]) -> None:
    """Write a picture of norms over the horizon: medians, and bands from 5 % to 95 % of the worlds.

    norms: by task, and by what is compared.
    """
    figure = Figure(figsize=(4.2 * len(norms), 3.4), layout="constrained")
    for axis, (task, by_name) in zip(figure.subplots(1, len(norms), squeeze=False)[0], norms.items(), strict=True):
        for name, found in by_name.items():
            low, middle, high = np.quantile(np.asarray(found.first_action), (0.05, 0.5, 0.95), axis=1)
            steps = np.arange(1, len(middle) + 1)
            (line,) = axis.plot(steps, middle, label=name)
            axis.fill_between(steps, low, high, alpha=0.2, linewidth=0, color=line.get_color())
        axis.set_title(task)
        axis.set_yscale("log")
        axis.set_xlabel("horizon [steps]")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.axes[0].set_ylabel("norm of d(return) / d(first action)")
    figure.savefig(path, dpi=120)
