"""MuJoCo's line search, for all islands of a world at once: Newton's method on the derivative, then a bracket."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.linalg import matmul
from mjx_like.solver.law import Law, cost_changes, curvature, force, zones
from mjx_like.solver.problem import transposed_times

Array = jax.Array


class Line(NamedTuple):
    """The cost along a direction; shapes (nisland,) and (nrow,)."""

    law: Law
    row: Array  # island of each row, 0 or 1, shape (nisland, nrow)
    jar: Array  # residuals at step 0
    along: Array  # their change with the step
    slope: Array  # first and second derivative of the Gauss cost at step 0
    bend: Array


class Point(NamedTuple):
    """Step, cost less that at step 0, and its derivatives, shapes (nisland,)."""

    alpha: Array
    cost: Array
    first: Array
    second: Array


class _Search(NamedTuple):
    low: Point  # the two ends of the bracket: the current point and the one before
    high: Point
    count: Array  # evaluations
    done: Array
    result: Point


class _Bracket(NamedTuple):
    a: Point
    b: Point
    next_a: Point
    next_b: Point
    count: Array
    done: Array
    result: Point


def evaluate(line: Line, alpha: Array) -> Point:
    """Return the points at steps of shape (nisland,)."""
    here = line.jar + transposed_times(line.row, alpha) * line.along
    weight, K = curvature(line.law, zones(line.law, here), here, line.along[:, None])
    by_row = (
        cost_changes(line.law, line.jar, here),
        -force(line.law, here) * line.along,
        weight * K[:, 0] ** 2,
    )
    cost, first, second = matmul(jnp.stack(by_row), line.row.T)
    return Point(
        alpha=alpha,
        cost=cost + alpha * (line.slope + 0.5 * alpha * line.bend),
        first=first + line.slope + alpha * line.bend,
        second=jnp.maximum(second + line.bend, MINVAL),
    )


def best_step(line: Line, wanted: Array, tolerance: Array, iterations: int) -> tuple[Array, Array]:
    """Return the step of each island and the cost that it saves, shapes (nisland,); 0 where none is found.

    It ends where the derivative falls below the tolerance, at most `iterations` evaluations after the start: Newton
    steps until the derivative changes sign, then the two Newton steps from the ends of the bracket and its middle.

    Args:
      wanted: which islands search, shape (nisland,).
      tolerance: of the derivative, shape (nisland,).

    Source: PrimalSearch of engine_solver.
    """
    start = evaluate(line, jnp.zeros_like(line.slope))
    point = evaluate(line, _newton(start))
    found = (jnp.abs(point.first) < tolerance) & ((point.alpha == 0) | (point.cost < 0))
    sign = jnp.where(point.first < 0, 1, -1)
    count = jnp.full(point.alpha.shape, 2)

    def goes(s: _Search) -> Array:
        return ~s.done & (s.low.first * sign <= -tolerance) & (s.count < iterations)

    def advance(s: _Search) -> _Search:
        go, new = goes(s), evaluate(line, _newton(s.low))
        end = go & (jnp.abs(new.first) < tolerance) & (new.cost < 0)
        low = _where(go, new, s.low)
        return _Search(low, _where(go, s.low, s.high), s.count + go, s.done | end, _where(end, new, s.result))

    s = lax.while_loop(lambda s: jnp.any(goes(s)), advance, _Search(point, start, count, found | ~wanted, point))
    open_ended = ~s.done & (s.count >= iterations)
    done, result = s.done | open_ended, _where(open_ended, s.low, s.result)
    result = _bracketed(line, s, done, result, tolerance, iterations)
    return jnp.where(wanted, result.alpha, 0), jnp.where(wanted, -result.cost, 0)


def _bracketed(line: Line, s: _Search, done: Array, result: Point, tolerance: Array, iterations: int) -> Point:
    """Return the results with those of the islands that are not done searched for in their brackets."""

    def advance(c: _Bracket) -> _Bracket:
        go = ~c.done & (c.count < iterations)
        middle = evaluate(line, 0.5 * (c.a.alpha + c.b.alpha))
        candidates = (c.next_a, c.next_b, middle)
        converged = [jnp.abs(x.first) < tolerance for x in candidates]
        best, found = candidates[0], converged[0]
        for point, ok in zip(candidates[1:], converged[1:], strict=True):
            better = ok & (~found | (point.cost < best.cost))
            best, found = _where(better, point, best), found | ok
        a, moved_a = _closer(c.a, candidates)
        b, moved_b = _closer(c.b, candidates)
        new = jax.vmap(evaluate, (None, 0))(line, jnp.stack([_newton(a), _newton(b)]))
        next_a, next_b = (jax.tree.map(lambda x, i=i: x[i], new) for i in range(2))
        stuck = ~found & ~moved_a & ~moved_b
        return _Bracket(
            a=_where(go, a, c.a),
            b=_where(go, b, c.b),
            next_a=_where(go & moved_a, next_a, c.next_a),
            next_b=_where(go & moved_b, next_b, c.next_b),
            count=c.count + jnp.where(go, 1 + moved_a + moved_b, 0),
            done=c.done | (go & (found | stuck)),
            result=_where(go & found, best, _where(go & stuck, middle, c.result)),
        )

    following = evaluate(line, _newton(s.low))
    c = _Bracket(s.low, s.high, following, s.low, s.count + 1, done, result)
    c = lax.while_loop(lambda c: jnp.any(~c.done & (c.count < iterations)), advance, c)
    cheaper = _where(c.a.cost <= c.b.cost, c.a, c.b)
    none = jax.tree.map(jnp.zeros_like, cheaper)
    return _where(c.done, c.result, _where(cheaper.cost < 0, cheaper, none))


def _closer(point: Point, candidates: tuple[Point, ...]) -> tuple[Point, Array]:
    """Return the end of a bracket moved to the candidate on its side with the smallest derivative, and whether so."""
    moved = jnp.zeros(point.alpha.shape, bool)
    for x in candidates:
        better = (point.first < 0) & (x.first < 0) & (point.first < x.first)
        better = better | ((point.first > 0) & (x.first > 0) & (point.first > x.first))
        point, moved = _where(better, x, point), moved | better
    return point, moved


def _newton(point: Point) -> Array:
    return point.alpha - point.first / point.second


def _where(mask: Array, a: Point, b: Point) -> Point:
    return jax.tree.map(lambda x, y: jnp.where(mask, x, y), a, b)
