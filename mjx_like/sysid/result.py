"""What an identification found."""

from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from mjx_like.sysid.identifiability import least_identifiable, uncertainty, value_errors
from mjx_like.sysid.least_squares import Progress, normal_equations
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.problem import Point
from mjx_like.types.model import Model


class Fit(NamedTuple):
    """What an identification found.

    Attributes:
      model: the model with the parameters found.
      values: in the user's units, in the order of `labels`; standard_errors: of them, by the delta method, infinite
        where the data do not determine a value.
      theta, covariance, singular_values: of the coordinates, whose names are `coordinates`.
      directions: rows, unit vectors of the coordinates that go with the singular values, the least identifiable last.
      least_identifiable: the direction that the data determine least, in words.
      noise_scale: root mean square of the residuals in units of the noise, 1 where model and noise are right.
      history: iterations; residuals: by qpos, qvel and sensordata, of shapes (segments, frames, size), in units of the
        noise, 0 where nothing was measured; problem: that of the last stage, and `at` where it ended.
    """

    model: Model
    labels: tuple[str, ...]
    values: np.ndarray
    standard_errors: np.ndarray
    coordinates: tuple[str, ...]
    theta: np.ndarray
    covariance: np.ndarray
    singular_values: np.ndarray
    directions: np.ndarray
    least_identifiable: str
    noise_scale: float
    history: list[Progress]
    residuals: dict[str, np.ndarray]
    problem: Any
    at: Point

    def __str__(self) -> str:
        width = max(map(len, self.labels))
        lines = [
            f"{n:{width}}  {v: .5g} +- {e:.2g}"
            for n, v, e in zip(self.labels, self.values, self.standard_errors, strict=True)
        ]
        scale = f"residuals {self.noise_scale:.3g} times the noise, {len(self.history)} iterations"
        return "\n".join([*lines, self.least_identifiable, scale])

    __repr__ = __str__


def result(m: Model, problem: Any, at: Point, history: list[Progress], *, known: bool) -> Fit:
    """Return what was found where a problem ended.

    known: whether the noise is; else its size is taken from the residuals.
    """
    bound: Parameters = problem.parameters
    system, r = normal_equations(problem, at)
    p = at.theta.size
    unknowns = len(system.gradient) - int(np.isfinite(bound.prior).sum())
    free = max(problem.count() - unknowns, 1)
    spread = 2 * system.cost / free
    found = uncertainty(system.hessian, p, 1.0 if known else spread)
    model, values, slopes = bound.found(m, at.theta)
    return Fit(
        model=model,
        labels=bound.labels,
        values=values,
        standard_errors=value_errors(slopes, found.covariance),
        coordinates=bound.coordinates,
        theta=at.theta,
        covariance=found.covariance,
        singular_values=found.singular_values,
        directions=found.directions,
        least_identifiable=least_identifiable(found, bound.coordinates),
        noise_scale=float(np.sqrt(spread)),
        history=history,
        residuals=problem.parts(r),
        problem=problem,
        at=at,
    )


class Report:
    """Keeps the history of iterations and moves a bar."""

    def __init__(self, history: list[Progress], bar: tqdm) -> None:
        self.history, self.bar, self.count = history, bar, 0

    def __call__(self, at: Progress) -> None:
        self.history.append(at)
        self.count += 1
        self.bar.update()
        self.bar.set_postfix(cost=f"{at.cost:.4g}")
