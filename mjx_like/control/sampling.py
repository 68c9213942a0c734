"""Plans from samples, without derivatives: predictive sampling and MPPI."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.control.cost import Cost, check_cost
from mjx_like.control.guess import start_of
from mjx_like.control.limits import control_limits
from mjx_like.control.plan import plan_costs
from mjx_like.control.spline import spline_matrix
from mjx_like.errors import InputError, shown
from mjx_like.math.linalg import matmul
from mjx_like.state.batch import batch
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
Rule = Callable[[Array, Array], Array]


class _Draws(NamedTuple):
    """What one compiled program depends on."""

    rule: Rule  # (knots, costs) -> knots
    cost: Cost
    samples: int
    rounds: int


def predictive_sampling(
    m: Model,
    d: Data,
    cost: Cost,
    ctrl: Any,
    key: Array,
    *,
    samples: int = 64,
    rounds: int = 1,
    noise: float = 0.3,
    knots: int = 8,
    kind: str = "linear",
    limits: Any = None,
) -> Array:
    """Return the best of many random changes of a plan, the plan itself among them, shape (steps, nu).

    Args:
      m: the model.
      d: the state to plan from, one world.
      cost: what a plan costs.
      ctrl: the plan to begin with, shape (steps, nu); the spline nearest to it is taken.
      key: of jax.random.
      samples: plans that are rolled out together, in each of the `rounds`.
      noise: standard deviation of the knots, as a share of half the range of a control (of 1 where it has no limits).
      knots: their number, evenly spaced; `kind`: what is between them, "zero", "linear" or "cubic".
      limits: of the controls, shape (nu, 2); None for the model's.

    Raises:
      InputError: an argument that does not fit; the message names it.
    Source: Howell et al., Predictive sampling: real-time behaviour synthesis with MuJoCo (2022), section 3.
    """
    rule = best_sample
    return _sampled("predictive_sampling", rule, m, d, cost, ctrl, key, samples, rounds, noise, knots, kind, limits)


def mppi(
    m: Model,
    d: Data,
    cost: Cost,
    ctrl: Any,
    key: Array,
    *,
    samples: int = 64,
    rounds: int = 1,
    noise: float = 0.3,
    temperature: float = 0.1,
    knots: int = 8,
    kind: str = "linear",
    limits: Any = None,
) -> Array:
    """Return the mean of many random changes of a plan, weighted by their costs, shape (steps, nu).

    The weights are exp(-(cost - least) / (temperature (mean - least))), so that the temperature needs no units; one
    near zero takes the best sample, a large one their mean. Other arguments, and what is raised, as
    `predictive_sampling`.

    Source: Williams, Aldrich, Theodorou, Model predictive path integral control (2017), algorithm 2.
    """
    _check_positive("temperature", temperature)
    rule = _weighted(float(temperature))
    return _sampled("mppi", rule, m, d, cost, ctrl, key, samples, rounds, noise, knots, kind, limits)


def best_sample(knots: Array, costs: Array) -> Array:
    """Return the knots of the least cost.  knots: (samples, knots, nu); costs: (samples,)."""
    return knots[jnp.argmin(costs)]


@functools.cache
def _weighted(temperature: float) -> Rule:
    return functools.partial(weighted_mean, temperature=temperature)


def weighted_mean(knots: Array, costs: Array, temperature: float) -> Array:
    """Return the mean of knots by their costs; samples of infinite cost have no weight."""
    finite = jnp.isfinite(costs)
    above = jnp.where(finite, costs - jnp.min(costs), 0)
    scale = temperature * jnp.sum(above) / jnp.maximum(jnp.sum(finite), 1)
    weights = jnp.where(finite, jnp.exp(-above / jnp.where(scale > 0, scale, 1)), 0)
    mean = jnp.tensordot(weights / jnp.sum(weights), knots, 1)
    return jnp.where(jnp.any(finite), mean, knots[0])


def _check_positive(name: str, value: Any) -> None:
    if not (isinstance(value, int | float) and 0 < value < np.inf):
        raise InputError(f"{name}={shown(value)}: must be positive")


def _sampled(caller, rule, m, d, cost, ctrl, key, samples, rounds, noise, knots, kind, limits) -> Array:
    start = start_of(caller, m, d, ctrl)
    if start.many:
        raise InputError(f"{caller}: plans for one world: map over many with a loop, or jax.vmap inside your own jit")
    _check_positive("noise", noise)
    one = jax.tree.map(lambda x: x[0], start.d)
    samples, rounds = whole_number("samples", samples, least=2), whole_number("rounds", rounds, least=1)
    limits = control_limits(m, limits)
    matrix = spline_matrix(knots, start.ctrl.shape[1], kind)
    half = jnp.where(jnp.isfinite(limits[:, 0] + limits[:, 1]), (limits[:, 1] - limits[:, 0]) / 2, 1)
    draws = _Draws(rule, check_cost(m, one, cost), samples, rounds)
    return _rounds(draws, m, one, start.ctrl[0], key, jnp.asarray(matrix, half.dtype), noise * half, limits)


@functools.partial(jax.jit, static_argnums=0)
def _rounds(draws, m, d, ctrl, key, matrix, scale, limits):
    low, high = limits[:, 0], limits[:, 1]
    worlds = batch(d, draws.samples)

    def one(_: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
        mean, key = state
        key, own = jax.random.split(key)
        change = scale * jax.random.normal(own, (draws.samples, *mean.shape), mean.dtype)
        some = jnp.clip(mean + change.at[0].set(0), low, high)
        costs, _ = plan_costs(m, worlds, draws.cost, jnp.clip(matmul(matrix, some), low, high))
        return draws.rule(some, costs), key

    first = jnp.clip(matmul(jnp.linalg.pinv(matrix), ctrl), low, high)
    mean, _ = jax.lax.fori_loop(0, draws.rounds, one, (first, key))
    return jnp.clip(matmul(matrix, mean), low, high)
