"""Identification: recordings and parameters in, the model with its standard errors out."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import optax
from tqdm import tqdm

from mjx_like.arguments import truth, whole_number
from mjx_like.errors import InputError, closest, shown
from mjx_like.smoothing import smoothed
from mjx_like.sysid.bound import Parameter
from mjx_like.sysid.gradient import descend
from mjx_like.sysid.least_squares import TRIALS, Progress, solve
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.problem import Point, Problem
from mjx_like.sysid.recording import Recording
from mjx_like.sysid.residual import noise_of
from mjx_like.sysid.result import Fit, Report, result
from mjx_like.sysid.segments import Segments, segments
from mjx_like.sysid.simulate import Simulator, chunk_of
from mjx_like.types.model import Model

METHODS = ("lm", "gauss-newton", "adam")
DERIVATIVES = ("auto", "forward", "difference")
STARTS = ("measured", "estimated")

_BLOCK = 128  # worlds of a call, at most
_MANY = 30  # directions from which forward mode is taken


def fit(
    m: Model,
    recordings: Sequence[Recording],
    parameters: Sequence[Parameter] | Parameters,
    *,
    noise: Mapping[str, Any] | None = None,
    lengths: Sequence[int | None] = (None,),
    starts: str = "measured",
    gap: float | None = 0.1,
    method: str = "lm",
    derivative: str = "auto",
    smoothing: float = 0.0,
    step: float | None = None,
    robust: float = math.inf,
    iterations: int | Sequence[int] = 20,
    tolerance: float = 1e-6,
    optimiser: optax.GradientTransformation | None = None,
    progress: bool = True,
) -> Fit:
    """Return the parameters with which simulations of segments come nearest to what was recorded.

    Args:
      m: the model to start from.
      recordings: experiments.
      parameters: what `positive`, `bounded`, `free`, `scaled` and `inertia` return; or `Parameters(m, ...)` of them,
        with which further fits compile nothing.
      noise: standard deviations by "qpos" (tangent space, nv), "qvel" and "sensordata", infinite for what is not to be
        compared; they are taken as known. None takes them as 1, and a common factor of them from the residuals.
      lengths: frames of the segments in each stage, short to long, None for whole recordings. Through contacts short
        segments come first: over long ones the cost has many minima.
      starts: "measured", as they are (noise in them is taken for none), or "estimated" with the parameters: multiple
        shooting.
      gap: with estimated starts, how far the end of a segment may be from the start of the next, in standard
        deviations of the noise; None leaves the segments apart.
      method: "lm" (Levenberg-Marquardt), "gauss-newton", or "adam", by reverse mode, for many parameters.
      derivative: "difference", central differences in a batch of worlds, which compiles a rollout and no more;
        "forward" mode, exact; "auto" takes differences in float64 for up to 30 unknowns of a segment.
      smoothing: width of `with_smoothing`, or gap of hard contact, while fitting [m]; the model returned has that of
        `m`.
      step: of central differences in the coordinates; None for 1e-6 (float32: 3e-3). Over long horizons with contacts
        a large one, 0.02, sees where the cost goes and not its jumps and cliffs.
      robust: from how many standard deviations of the noise a residual counts by its size and not by its square
        (Huber's loss), for outliers and for recordings that no simulation follows to the end; not of "adam".
      iterations: of each stage, or of every one a number.
      tolerance: share of the cost below which a fall ends a stage; not of "adam".
      optimiser: of optax, for "adam"; None for adam at a rate of 0.03.
      progress: whether to show a bar.

    Raises:
      InputError: what does not fit, by name; a cost that is not finite, with the residual that is not.
    """
    _check_choices({"method": (method, METHODS), "derivative": (derivative, DERIVATIVES), "starts": (starts, STARTS)})
    bound = parameters if isinstance(parameters, Parameters) else Parameters(m, parameters)
    scale, estimated = noise_of(m, noise), starts == "estimated"
    if method == "adam" and estimated:
        raise InputError("method='adam' takes starts='measured': estimate starts by method='lm'")
    if step is not None and not (isinstance(step, int | float) and 0 < step < 1 and derivative != "forward"):
        raise InputError(f"step={shown(step)}: must be a number between 0 and 1, and needs derivative='difference'")
    if not (isinstance(robust, int | float) and robust > 0):
        raise InputError(f"robust={shown(robust)}: must be a positive number of standard deviations")
    stages = [segments(m, recordings, length) for length in _lengths(lengths)]
    counts = _iterations(iterations, len(stages))
    model = _smoothed(m, smoothing)
    columns = bound.start.size + (2 * m.nv + m.na) * estimated
    derivative = _derivative(m, derivative, columns) if step is None else "difference"
    simulator = _simulator(model, bound, stages, derivative, columns)
    gap = _gap(gap) if estimated else None
    history: list[Progress] = []
    at = Point(bound.start, stages[0].start)
    with tqdm(total=sum(counts), disable=not truth("progress", progress), desc="fit") as bar:
        for stage, (s, count) in enumerate(zip(stages, counts, strict=True)):
            problem = Problem(
                model,
                bound,
                simulator,
                s,
                scale,
                estimated=estimated,
                gap=gap,
                derivative=derivative,
                robust=robust,
                step=step,
            )
            report = Report(history, bar)
            at = Point(at.theta, s.start)
            if method == "adam":
                chosen = optax.adam(0.03) if optimiser is None else optimiser
                at = descend(problem, at, optimiser=chosen, iterations=count, stage=stage, report=report)
            else:
                options = {"method": method, "iterations": count, "tolerance": tolerance}
                at = solve(problem, at, stage=stage, report=report, **options)
            bar.update(count - report.count)
    return result(m, problem, at, history, known=noise is not None)


def _simulator(m: Model, bound: Parameters, stages: list[Segments], derivative: str, columns: int) -> Simulator:
    each = 2 * columns + 1 if derivative == "difference" else TRIALS
    most = max(len(s) for s in stages)
    models = max(2 * bound.start.size + 1, TRIALS) if derivative == "difference" else TRIALS
    return Simulator(m, bound, models, min(_BLOCK, most * each), chunk_of([s.steps for s in stages]))


def _derivative(m: Model, derivative: str, columns: int) -> str:
    if derivative != "auto":
        return derivative
    return "difference" if m.qpos0.dtype.itemsize == 8 and columns <= _MANY else "forward"


def _smoothed(m: Model, width: float) -> Model:
    try:
        width = float(width)
    except (TypeError, ValueError):
        raise InputError(f"smoothing={shown(width)}: must be a width [m], 0 for none") from None
    return smoothed(m, width) if width else m


def _lengths(lengths: Any) -> list[int | None]:
    found = list(lengths) if isinstance(lengths, Sequence) and not isinstance(lengths, str) else []
    if not found:
        raise InputError(f"lengths={shown(lengths)}: must be a list of frames, None for whole recordings: (30, None)")
    return found


def _iterations(iterations: Any, stages: int) -> list[int]:
    each = list(iterations) if isinstance(iterations, Sequence) else [iterations] * stages
    if len(each) != stages:
        raise InputError(f"iterations={shown(iterations)}: must be one number, or as many as lengths has, {stages}")
    return [whole_number("iterations", count, least=1) for count in each]


def _gap(gap: Any) -> float | None:
    if gap is None or (isinstance(gap, int | float) and gap > 0):
        return gap
    raise InputError(f"gap={shown(gap)}: must be a positive number of standard deviations, or None")


def _check_choices(given: dict[str, tuple[Any, tuple[str, ...]]]) -> None:
    for name, (value, allowed) in given.items():
        if value not in allowed:
            hint = closest(value, allowed) if isinstance(value, str) else ""
            raise InputError(f"{name}={shown(value)}: must be one of {', '.join(map(repr, allowed))}{hint}")
