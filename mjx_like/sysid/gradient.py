"""Many parameters by reverse mode and a method of optax: one gradient costs a few rollouts, whatever their number."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mjx_like.errors import InputError
from mjx_like.rollout.rollout import rollout
from mjx_like.state.batch import batch
from mjx_like.state.initial import make_data
from mjx_like.sysid.least_squares import Progress
from mjx_like.sysid.problem import Point, Problem
from mjx_like.sysid.simulate import record

Array = jax.Array


def cost_function(problem: Problem, starts: dict[str, np.ndarray]) -> Callable[[Array], Array]:
    """Return the cost of coordinates theta, shape (n,), as one differentiable function: half the sum of squares."""
    m, s, parameters = problem.m, problem.segments, problem.parameters
    dtype = m.qpos0.dtype
    target = problem.compared(starts)
    d = batch(make_data(m), time=s.time[:, 0], **starts)
    ctrl = None if s.ctrl is None else jnp.asarray(s.ctrl, dtype)
    begin = {name: jnp.asarray(value, dtype)[:, None] for name, value in starts.items()}
    start, prior = jnp.asarray(parameters.start, dtype), jnp.asarray(parameters.prior, dtype)

    def cost(theta: Array) -> Array:
        path = rollout(parameters.apply(m, theta), d, ctrl, steps=s.steps, record=record)
        path |= {name: jnp.concatenate([first, path[name]], axis=1) for name, first in begin.items()}
        found = problem.rows(target, path)
        return 0.5 * (jnp.sum(found**2) + jnp.sum(((theta - start) / prior) ** 2))

    return cost


def descend(problem: Problem, at: Point, *, optimiser: optax.GradientTransformation, iterations: int, stage: int,
            report: Callable[[Progress], None]) -> Point:  # fmt: skip
    """Return the point of least cost that a method of optax came through.

    Raises:
      InputError: a cost or a gradient that is not finite.
    """
    slope = jax.jit(jax.value_and_grad(cost_function(problem, at.starts)))
    theta = jnp.asarray(at.theta, problem.m.qpos0.dtype)
    state = optimiser.init(theta)
    best, least = theta, np.inf
    for iteration in range(iterations):
        cost, gradient = slope(theta)
        if not (np.isfinite(cost) and np.isfinite(gradient).all()):
            problem.check_finite(problem.residuals([Point(np.asarray(theta), at.starts)])[0])
            raise InputError(f"the gradient is not finite in iteration {iteration}: take shorter segments (lengths=)")
        if cost < least:
            best, least = theta, float(cost)
        update, state = optimiser.update(gradient, state, theta)
        theta = optax.apply_updates(theta, update)
        report(Progress(stage, iteration, float(cost), 0.0, float(jnp.abs(update).max())))
    return Point(np.asarray(best), at.starts)
