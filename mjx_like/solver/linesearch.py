"""What share of a Newton step is taken: all of it, or what an exact line search finds where that goes too far."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.select import total
from mjx_like.solver.law import Law, cost_change, curvature, force, zones
from mjx_like.solver.problem import Settings

Array = jax.Array

REDUCTION = 0.01  # of the derivative: the default of ls_tolerance
_NOISE = 8  # rounding errors of a cost, in units of its terms
_LONGEST = 16


class Bracket(NamedTuple):
    """Steps between which the derivative passes zero."""

    low: Array  # derivative below 0
    high: Array  # derivative at least 0, or infinite


class _Search(NamedTuple):
    alpha: Array
    bracket: Bracket
    done: Array
    count: Array


Derivatives = Callable[[Array], tuple[Array, Array]]


def derivatives_along(law: Law, jar: Array, slope: Array, bend: Array, direction: Array) -> Derivatives:
    """Return the function of the step that gives the first two derivatives of the cost along a direction.

    Args:
      jar: residuals at step 0, shape (..., nrow).
      slope, bend: first and second derivative of the Gauss cost along the direction at step 0, shape (...).
      direction: change of the residuals with the step, shape (..., nrow).
    """

    def derivatives(alpha: Array) -> tuple[Array, Array]:
        here = jar + alpha[..., None] * direction
        weight, K = curvature(law, zones(law, here), here, direction[..., None])
        first = slope + alpha * bend - total(force(law, here) * direction)
        return first, bend + total(weight * K[..., 0] ** 2)

    return derivatives


def next_step(alpha: Array, bracket: Bracket, first: Array, second: Array) -> tuple[Array, Bracket]:
    """Return the step to try after `alpha`, where the derivatives are known, and what is left of the bracket."""
    low, high = jnp.where(first < 0, alpha, bracket.low), jnp.where(first < 0, bracket.high, alpha)
    newton = alpha - first / jnp.maximum(second, MINVAL)
    other = jnp.where(jnp.isinf(high), 2 * jnp.maximum(alpha, 0.5), 0.5 * (low + high))
    return jnp.where((newton > low) & (newton < high), newton, other), Bracket(low, high)


def step_length(derivatives: Derivatives, one: Array, wanted: Array, iterations: int) -> Array:
    """Return the step along a descent direction that minimises the cost, shape (...); 1 where none is wanted.

    Newton's method on the derivative, which rises with the step, inside a bracket that shrinks; where a Newton step
    leaves the bracket, it is bisected, or doubled while no upper end is known. It ends when every derivative has
    fallen to a hundredth of that at step 0: the next Newton step of the solver does the rest.

    Args:
      derivatives: first and second derivative of the cost at a step, shapes (...).
      one: ones, shape (...).
      wanted: which worlds search, shape (...).
      iterations: most derivatives that are taken beyond step 0.
    """
    zero = jnp.zeros_like(one)
    target = REDUCTION * jnp.abs(derivatives(zero)[0])

    def improve(carry: _Search) -> _Search:
        first, second = derivatives(carry.alpha)
        following, bracket = next_step(carry.alpha, carry.bracket, first, second)
        done = carry.done | (jnp.abs(first) <= target)
        return _Search(jnp.where(done, carry.alpha, following), bracket, done, carry.count + 1)

    def goes_on(s: _Search) -> Array:
        return (s.count < iterations) & ~jnp.all(s.done)

    first = _Search(one, Bracket(zero, jnp.full_like(one, jnp.inf)), ~wanted, jnp.int32(0))
    return lax.while_loop(goes_on, improve, first).alpha


class Line(NamedTuple):
    """The line of a Newton step; arrays have the batch axis first."""

    jar: Array  # residuals at its start, shape (batch, nrow)
    along: Array  # their change with the full step
    slope: Array  # first derivative of the Gauss cost at its start, shape (batch,)
    bend: Array  # second


def share_taken(settings: Settings, law: Law, line: Line, moving: Array) -> tuple[Array, Array]:
    """Return the share of the full step that each world takes, and how much that changes its cost, shapes (batch,).

    It is 1 where the full step does not raise the cost, and where a world is not `moving`.
    """

    def change(alpha: Array) -> Array:
        smooth = alpha * line.slope + 0.5 * alpha * alpha * line.bend
        return smooth + cost_change(law, line.jar, line.jar + alpha[:, None] * line.along)

    one = jnp.ones_like(line.slope)
    full = change(one)
    trips = overshoots(full, line.slope, line.bend) & moving

    def search() -> tuple[Array, Array]:
        derivatives = derivatives_along(law, line.jar, line.slope, line.bend, line.along)
        alpha = step_length(derivatives, one, trips, longest_search(settings))
        return alpha, change(alpha)

    return lax.cond(jnp.any(trips), search, lambda: (one, full))


def longest_search(settings: Settings) -> int:
    """Return the most derivatives that a line search takes beyond the first."""
    return min(settings.ls_iterations, _LONGEST)


def overshoots(full: Array, slope: Array, bend: Array) -> Array:
    """Return whether a full step raises the cost, by more than rounding; full: change of the cost."""
    noise = _NOISE * jnp.finfo(full.dtype).eps * (jnp.abs(slope) + bend)
    return ~(full <= noise)
