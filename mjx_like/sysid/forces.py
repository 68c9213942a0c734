"""Identification from forces: what moves a known motion, by inverse dynamics. No simulation, no horizon."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from mjx_like.arguments import truth, whole_number
from mjx_like.errors import InputError, shown
from mjx_like.inverse import inverse
from mjx_like.state.initial import make_data
from mjx_like.sysid.bound import Parameter
from mjx_like.sysid.least_squares import Progress, solve
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.problem import Point
from mjx_like.sysid.result import Fit, Report, result
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

_GIVEN = {"qpos": "nq", "qvel": "nv", "qacc": "nv", "force": "nv"}


def fit_forces(
    m: Model,
    parameters: Sequence[Parameter] | Parameters,
    *,
    qpos: Any,
    qvel: Any,
    qacc: Any,
    force: Any,
    noise: Any = None,
    method: str = "lm",
    iterations: int = 30,
    tolerance: float = 1e-9,
    progress: bool = True,
) -> Fit:
    """Return the parameters with which inverse dynamics explains forces that were measured along a known motion.

    The force of a sample is that of `inverse`: what actuators and applied forces exert together, in joint space. For
    inertias of the links of an arm it is the regression of robotics; here it keeps them physical. Positions, velocities
    and accelerations are taken as exact: smooth them before.

    Args:
      m: the model to start from.
      parameters: what `positive`, `bounded`, `free`, `scaled` and `inertia` return, or Parameters of them.
      qpos: shape (samples, nq); qvel, qacc: (samples, nv).
      force: shape (samples, nv) [N or N m], NaN where not measured.
      noise: standard deviation of the force, a number or shape (nv,); None takes it from the residuals.
      method, iterations, tolerance, progress: as in `fit`.

    Raises:
      InputError: arrays that do not fit, or values that are not finite.
    """
    if method not in ("lm", "gauss-newton"):
        raise InputError(f"method={shown(method)}: must be 'lm' or 'gauss-newton'")
    bound = parameters if isinstance(parameters, Parameters) else Parameters(m, parameters)
    problem = ForceProblem(m, bound, {"qpos": qpos, "qvel": qvel, "qacc": qacc, "force": force}, noise)
    history: list[Progress] = []
    count = whole_number("iterations", iterations, least=1)
    with tqdm(total=count, disable=not truth("progress", progress), desc="fit") as bar:
        options = {"method": method, "iterations": count, "tolerance": tolerance}
        at = solve(problem, Point(bound.start, {}), stage=0, report=Report(history, bar), **options)
    return result(m, problem, at, history, known=noise is not None)


class ForceProblem:
    """Residuals of inverse dynamics, with the interface of `problem.Problem`: samples in place of segments."""

    moves, gap, robust = 0, None, math.inf

    def __init__(self, m: Model, parameters: Parameters, given: dict[str, Any], noise: Any) -> None:
        self.m, self.parameters = m, parameters
        self.given = {name: _array(m, name, value) for name, value in given.items()}
        if len({len(x) for x in self.given.values()}) > 1:
            shapes = ", ".join(f"{name} {x.shape}" for name, x in self.given.items())
            raise InputError(f"fit_forces: all arrays need the same number of samples; they are {shapes}")
        scale = np.asarray(1.0 if noise is None else noise, float)
        if scale.shape not in ((), (m.nv,)) or not (scale > 0).all():
            raise InputError(f"noise={shown(noise)}: must be a positive number, or an array of shape ({m.nv},)")
        self._scale = np.broadcast_to(scale, (m.nv,))
        self._data = make_data(m)

    def residuals(self, points: list[Point]) -> np.ndarray:
        """Return residuals, shape (points, samples, nv)."""
        return np.stack([np.asarray(_forces(self.parameters, *self._arguments(p))) for p in points])

    def linearise(self, at: Point) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (samples, nv) and their Jacobian by theta (samples, nv, p)."""
        found, slopes = _slopes(self.parameters, *self._arguments(at))
        return np.asarray(found), np.moveaxis(np.asarray(slopes), 0, -1)

    def _arguments(self, at: Point) -> tuple[Any, ...]:
        dtype = self.m.qpos0.dtype
        arrays = {name: jnp.asarray(x, dtype) for name, x in self.given.items()}
        return self.m, self._data, arrays, jnp.asarray(self._scale, dtype), jnp.asarray(at.theta, dtype)

    def prior(self, theta: np.ndarray) -> np.ndarray:
        """Return the residuals of the priors, shape (n,); 0 where there is none."""
        return (theta - self.parameters.start) / self.parameters.prior

    def moved(self, at: Point, dtheta: np.ndarray, dx: None) -> Point:
        """Return a point moved."""
        return Point(at.theta + dtheta, at.starts)

    def check_finite(self, found: np.ndarray) -> None:
        """Raise InputError where a residual is not finite, naming the first."""
        bad = np.argwhere(~np.isfinite(found))
        if bad.size:
            raise InputError(f"the force of sample {bad[0][0]} at dof {bad[0][1]} is not finite with these parameters")

    def count(self) -> int:
        """Return how many forces were measured."""
        return int(np.isfinite(self.given["force"]).sum())

    def parts(self, found: np.ndarray) -> dict[str, np.ndarray]:
        """Return residuals by what was measured: forces (1, samples, nv)."""
        return {"force": found[None]}


@functools.partial(jax.jit, static_argnums=0)
def _forces(parameters: Parameters, m: Model, d: Data, given: dict[str, Array], scale: Array, theta: Array) -> Array:
    model = parameters.apply(m, theta)

    def one(x: dict[str, Array]) -> Array:
        found = inverse(model, d.replace(qpos=x["qpos"], qvel=x["qvel"], qacc=x["qacc"])).qfrc_inverse
        return jnp.where(jnp.isnan(x["force"]), 0, found - x["force"]) / scale

    return jax.vmap(one)(given)


@functools.partial(jax.jit, static_argnums=0)
def _slopes(
    parameters: Parameters, m: Model, d: Data, given: dict[str, Array], scale: Array, theta: Array
) -> tuple[Array, Array]:
    """Return residuals, and their derivatives with a leading axis of coordinates."""

    def one(way: Array) -> tuple[Array, Array]:
        return jax.jvp(lambda x: _forces(parameters, m, d, given, scale, x), (theta,), (way,))

    return jax.vmap(one, out_axes=(None, 0))(jnp.eye(theta.size, dtype=theta.dtype))


def _array(m: Model, name: str, value: Any) -> np.ndarray:
    size = getattr(m, _GIVEN[name])
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"fit_forces: {name}={shown(value)}: must be an array of numbers") from None
    if array.ndim != 2 or array.shape[1] != size:
        raise InputError(f"fit_forces: {name} has shape {array.shape}; it must be (samples, {size})")
    if name != "force" and not np.isfinite(array).all():
        raise InputError(f"fit_forces: {name} has values that are not finite; only force may miss some")
    return array
