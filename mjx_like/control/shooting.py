"""Direct shooting: gradients of a plan's cost through its rollout, and any optimiser of optax."""

import functools
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from mjx_like.arguments import whole_number
from mjx_like.control.cost import Cost, check_cost
from mjx_like.control.guess import start_of
from mjx_like.control.limits import control_limits
from mjx_like.control.plan import plan_costs
from mjx_like.control.solution import Solution, check_first
from mjx_like.control.spline import spline_matrix
from mjx_like.math.linalg import matmul
from mjx_like.smoothing import smoothed
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class _Program(NamedTuple):
    """What one compiled program depends on."""

    cost: Cost
    optimizer: optax.GradientTransformation


def shoot(
    m: Model,
    d: Data,
    cost: Cost,
    ctrl: Any,
    *,
    optimizer: optax.GradientTransformation | None = None,
    iterations: int = 200,
    knots: int | None = None,
    kind: str = "linear",
    smoothing: float | None = None,
    limits: Any = None,
    progress: bool = True,
) -> Solution:
    """Return the best plan that gradient descent on its knots comes by.

    Several starts are optimised together, each for itself. Knots are clipped to the limits after each update. A
    gradient that is not finite is not followed. The derivative is that of the whole rollout: over long horizons and
    through many contacts it may be huge (`gradient_report`); `ilqr`, which takes one step at a time, is then the better
    choice.

    Args:
      m: the model.
      d: the start, one world or a batch.
      cost: what a plan costs.
      ctrl: the plan to begin with, shape (steps, nu), or (starts, steps, nu).
      optimizer: None for optax.adam(0.03); compiles anew for each optimiser.
      iterations: updates.
      knots: number of knots, evenly spaced; None for one at each step. `kind`: what is between them.
      smoothing: width of `with_smoothing`, or gap of hard contact, for the descent alone [m]; costs returned are those
        of `m`.
      limits: of the controls, shape (nu, 2); None for the model's.
      progress: whether to show a bar.

    Raises:
      InputError: an argument that does not fit, or a cost that is not finite at the guess; the message names it.
    """
    began = time.perf_counter()
    start = start_of("shoot", m, d, ctrl)
    cost = check_cost(m, jax.tree.map(lambda x: x[0], start.d), cost)
    limits, iterations = control_limits(m, limits), whole_number("iterations", iterations, least=0)
    count, steps = start.ctrl.shape[:2]
    matrix = jnp.asarray(spline_matrix(steps if knots is None else knots, steps, kind), start.ctrl.dtype)
    program = _Program(cost, _default() if optimizer is None else optimizer)
    soft = m if smoothing is None else smoothed(m, smoothing)
    low, high = limits[:, 0], limits[:, 1]
    plan = jnp.clip(matmul(jnp.linalg.pinv(matrix), start.ctrl), low, high)
    memory = jax.vmap(program.optimizer.init)(plan)
    best, least, history = plan, np.full(count, np.inf), []
    bar = tqdm(range(iterations), disable=not progress, desc="shoot")
    for _ in bar:
        new, memory, value = _update(program, soft, start.d, plan, memory, matrix, limits)
        best, least = _keep(best, least, plan, value)
        history.append(np.asarray(value))
        check_first("shoot", history[0])
        bar.set_postfix(cost=f"{np.min(least):.6g}")
        plan = new
    value, _ = _costs(program, soft, start.d, plan, matrix, limits)
    best, _ = _keep(best, least, plan, value)
    value, states = _costs(program, m, start.d, best, matrix, limits)
    check_first("shoot", np.asarray(value))
    zero = np.zeros(count)
    result = Solution(
        _plan(best, matrix, limits), states.time, states.qpos, states.qvel, states.act, None, np.asarray(value), zero,
        np.stack([*history, np.asarray(value)], 1), np.full(count, iterations), np.zeros(count, bool), zero,
    )  # fmt: skip
    result = result if start.many else jax.tree.map(lambda x: x[0], result)
    return result._replace(seconds=time.perf_counter() - began)


@functools.cache
def _default() -> optax.GradientTransformation:
    return optax.adam(0.03)


def _plan(knots: Array, matrix: Array, limits: Array) -> Array:
    return jnp.clip(matmul(matrix, knots), limits[:, 0], limits[:, 1])


def _keep(best: Array, least: np.ndarray, plan: Array, value: Array) -> tuple[Array, np.ndarray]:
    better = np.asarray(value) < least
    return jnp.where(better[:, None, None], plan, best), np.where(better, np.asarray(value), least)


@functools.partial(jax.jit, static_argnums=0)
def _update(program, m, d, knots, memory, matrix, limits):
    """Return the next knots and memory of the optimiser, and what the present knots cost; axes of starts in front."""

    def total(knots: Array) -> tuple[Array, Array]:
        value, _ = plan_costs(m, d, program.cost, _plan(knots, matrix, limits))
        return jnp.sum(jnp.where(jnp.isfinite(value), value, 0)), value

    slope, value = jax.grad(total, has_aux=True)(knots)
    known = jnp.all(jnp.isfinite(slope), axis=(1, 2)) & jnp.isfinite(value)
    change, after = jax.vmap(program.optimizer.update)(jnp.where(known[:, None, None], slope, 0), memory, knots)
    new = jnp.clip(knots + change, limits[:, 0], limits[:, 1])
    return new, after, value


@functools.partial(jax.jit, static_argnums=0)
def _costs(program, m, d, knots, matrix, limits):
    return plan_costs(m, d, program.cost, _plan(knots, matrix, limits))
