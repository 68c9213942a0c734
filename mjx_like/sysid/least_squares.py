"""Gauss-Newton and Levenberg-Marquardt on the normal equations of parameters and starts."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg

from mjx_like.sysid.problem import Point

_SHARES = (1.0, 0.5, 0.25, 0.1)  # of a Gauss-Newton step, tried together
_FACTORS = (0.1, 1.0, 10.0, 100.0)  # on the damping of the last step, tried together
TRIALS = 4
_LEAST_DAMPING, _MOST_DAMPING = 1e-9, 1e9
_FLOOR = 1e-10  # of the diagonal that damping scales, of its largest entry


class Problem(Protocol):
    """What is minimised: `problem.Problem` of recordings, `forces.ForceProblem` of inverse dynamics."""

    m: Any
    parameters: Any
    segments: Any
    scale: Any
    moves: int  # coordinates of the start of a segment that are unknown
    gap: float | None
    robust: float  # from where a residual counts by its size and not by its square, in units of the noise

    def residuals(self, points: list[Point]) -> np.ndarray: ...
    def linearise(self, at: Point) -> tuple[np.ndarray, np.ndarray]: ...
    def prior(self, theta: np.ndarray) -> np.ndarray: ...
    def moved(self, at: Point, dtheta: np.ndarray, dx: np.ndarray | None) -> Point: ...
    def check_finite(self, found: np.ndarray) -> None: ...


class Normal(NamedTuple):
    """The linearised problem: minimise half the squared norm of r + J z, z the parameters and then the starts."""

    hessian: np.ndarray  # (n, n) J'J
    gradient: np.ndarray  # (n,) J'r
    cost: float  # half the squared norm


class Progress(NamedTuple):
    """One iteration, for the history."""

    stage: int
    iteration: int
    cost: float
    damping: float
    step: float  # largest change of a coordinate


def normal_equations(problem: Problem, at: Point) -> tuple[Normal, np.ndarray]:
    """Return the normal equations at a point, with the residuals of the segments.

    Residuals beyond the bend of the robust loss have less weight in the equations.

    Raises:
      InputError: a residual or a derivative that is not finite.
    """
    found, J = problem.linearise(at)
    problem.check_finite(found)
    problem.check_finite(J.sum(axis=-1))
    cost = float(_loss(found, problem.robust).sum())
    weight = np.sqrt(np.minimum(1, problem.robust / np.maximum(np.abs(found), 1e-300)))
    r, J = weight * found, weight[..., None] * J
    p, n, k = at.theta.size, len(r), problem.moves
    hessian, gradient = np.zeros((p + n * k,) * 2), np.zeros(p + n * k)
    shared = J[..., :p]
    hessian[:p, :p], gradient[:p] = np.einsum("sra,srb->ab", shared, shared), np.einsum("sra,sr->a", shared, r)
    for s in range(n if k else 0):
        own = slice(p + s * k, p + (s + 1) * k)
        hessian[own, own] += J[s, :, p:].T @ J[s, :, p:]
        gradient[own] += J[s, :, p:].T @ r[s]
        hessian[:p, own] += shared[s].T @ J[s, :, p:]
        if problem.gap is not None and problem.segments.joined[s]:
            _add_gap(hessian, gradient, J[s, -k:], r[s, -k:], p, own, slice(own.stop, own.stop + k), problem)
    hessian[p:, :p] = hessian[:p, p:].T
    prior = problem.prior(at.theta)
    hessian[:p, :p] += np.diag(problem.parameters.prior**-2.0)
    gradient[:p] += prior / problem.parameters.prior
    return Normal(hessian, gradient, cost + 0.5 * float((prior**2).sum())), found


def _loss(r: np.ndarray, bend: float) -> np.ndarray:
    """Return half the square of residuals, beyond `bend` a line (Huber's loss)."""
    inner = np.minimum(np.abs(r), bend)
    return inner * (np.abs(r) - 0.5 * inner)


def _add_gap(hessian: np.ndarray, gradient: np.ndarray, J: np.ndarray, r: np.ndarray, p: int, own: slice, after: slice,
             problem: Problem) -> None:  # fmt: skip
    """Add the terms of the next segment's start in the gap before it, whose derivative is minus one over its scale.

    For rotations that is exact where the gap is closed; solutions close it.
    """
    scale = 1 / (problem.gap * np.concatenate([problem.scale.qpos, problem.scale.qvel, np.ones(problem.m.na)]))
    hessian[after, after] += np.diag(scale**2)
    gradient[after] -= scale * r
    hessian[:p, after] -= J[:, :p].T * scale
    cross = J[:, p:].T * scale
    hessian[own, after] -= cross
    hessian[after, own] -= cross.T


def solve(
    problem: Problem,
    at: Point,
    *,
    method: str,
    iterations: int,
    tolerance: float,
    stage: int,
    report: Callable[[Progress], None],
) -> Point:
    """Return the point where the cost is least, by Levenberg-Marquardt ("lm") or Gauss-Newton.

    Several lengths of step, or dampings, are tried together, and the best is taken; an iteration without a better one
    is tried again with more damping, or ends it. It ends where the cost falls by less than a share `tolerance`.

    Source: Marquardt (1963), damping scaled by the diagonal of J'J.
    """
    damping = 1e-3
    for iteration in range(iterations):
        system, _ = normal_equations(problem, at)
        found = None
        while found is None and damping <= _MOST_DAMPING:
            steps, dampings = _candidates(system, method, damping)
            points = [_moved(problem, at, step) for step in steps]
            costs = _costs(problem, points)
            best = int(np.argmin(costs))
            if costs[best] < system.cost:
                found, damping = points[best], max(dampings[best], _LEAST_DAMPING)
            elif method == "gauss-newton":
                break
            else:
                damping *= 1e4
        if found is None:
            report(Progress(stage, iteration, system.cost, damping, 0.0))
            return at
        at = found
        report(Progress(stage, iteration, float(costs[best]), damping, float(np.abs(steps[best]).max(initial=0))))
        if system.cost - costs[best] < tolerance * system.cost:
            return at
    return at


def _candidates(system: Normal, method: str, damping: float) -> tuple[list[np.ndarray], list[float]]:
    if method == "gauss-newton":
        step = -np.linalg.lstsq(system.hessian, system.gradient, rcond=1e-12)[0]
        return [share * step for share in _SHARES], [damping] * len(_SHARES)
    diagonal = np.diag(system.hessian)
    scale = np.maximum(diagonal, _FLOOR * diagonal.max(initial=1e-300))
    dampings = [factor * damping for factor in _FACTORS]
    return [_damped(system, d * scale) for d in dampings], dampings


def _damped(system: Normal, extra: np.ndarray) -> np.ndarray:
    matrix = system.hessian + np.diag(extra)
    try:
        return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), system.gradient)
    except np.linalg.LinAlgError:
        return -np.linalg.lstsq(matrix, system.gradient, rcond=None)[0]


def _moved(problem: Problem, at: Point, step: np.ndarray) -> Point:
    p = at.theta.size
    return problem.moved(at, step[:p], step[p:].reshape(-1, problem.moves) if problem.moves else None)


def _costs(problem: Problem, points: list[Point]) -> np.ndarray:
    """Return the cost of each point, infinite where a residual is not finite."""
    found = problem.residuals(points)
    with np.errstate(over="ignore", invalid="ignore"):
        costs = _loss(found, problem.robust).sum(axis=(1, 2)) + [
            0.5 * (problem.prior(x.theta) ** 2).sum() for x in points
        ]
    return np.where(np.isfinite(costs), costs, np.inf)
