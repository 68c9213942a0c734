"""Iterative LQR: feedback from a quadratic model around a trajectory, again and again, for many starts together."""

import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from mjx_like.arguments import whole_number
from mjx_like.control.backward import Expansion, Feedback, backward, linear_states
from mjx_like.control.cost import Cost, check_cost, quadratic
from mjx_like.control.follow import Path, follow, gaps
from mjx_like.control.guess import first_path, start_of
from mjx_like.control.limits import control_limits
from mjx_like.control.linearisation import linearise_at
from mjx_like.control.solution import Solution, check_first
from mjx_like.control.states import before, last, with_state
from mjx_like.errors import InputError, shown
from mjx_like.smoothing import smoothed
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

LENGTHS = 10.0 ** np.linspace(0, -3, 10)  # of the line search
MU_MIN, MU_MAX, MU_FACTOR = 1e-6, 1e6, 1.6  # Source: Tassa, Erez, Todorov (2012), section II.F
PATIENCE = 3  # small improvements in a row that count as the end


class Progress:
    """Regularisation and end of each trajectory: what the loop decides by."""

    def __init__(self, starts: int, regularisation: float, tolerance: float):
        self.mu = np.full(starts, regularisation)
        self.little = max(regularisation, MU_MIN)  # with as much, a step is nearly that of the expansion
        self.factor = np.ones(starts)
        self.small = np.zeros(starts, int)
        self.tolerance = tolerance
        self.iterations = np.zeros(starts, int)
        self.converged, self.done = np.zeros((2, starts), bool)

    def note(self, old: np.ndarray, new: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Note merits before and after an iteration; return which trajectories are new."""
        better = (new < old) & ~self.done
        self.iterations += ~self.done
        least = self.tolerance * (np.abs(old) + self.tolerance)
        self.small = np.where(better & (old - new > least), 0, self.small + better)
        flat = (expected <= least) & (self.mu <= self.little)
        self.converged |= ~self.done & ((self.small >= PATIENCE) | flat)
        less, more = np.minimum(self.factor, 1) / MU_FACTOR, np.maximum(self.factor, 1) * MU_FACTOR
        self.factor = np.where(better, less, more)
        self.mu = np.where(self.done, self.mu, np.maximum(self.mu * self.factor, MU_MIN))
        self.done |= self.converged | (self.mu > MU_MAX)
        return better


def ilqr(
    m: Model,
    d: Data,
    cost: Cost,
    ctrl: Any,
    *,
    segments: int = 1,
    states: Any = None,
    iterations: int = 200,
    tolerance: float | None = None,
    regularisation: float = 1e-3,
    smoothing: float | None = None,
    limits: Any = None,
    progress: bool = True,
) -> Solution:
    """Return the trajectory that iLQR ends at, with the feedback that holds it.

    Each iteration expands cost and dynamics around the trajectory, finds the feedback that minimises the expansion
    within the limits, and takes the best of ten step lengths along it, all rolled out in one batch with that feedback.
    Where none is better the regularisation grows and nothing is expanded anew. Several starts are solved together, each
    with its own regularisation, step length and end; it pays where a problem has many local optima (`best`).

    With `segments`, parts of the trajectory begin at states of their own and are rolled out side by side (multiple
    shooting): long or unstable motions can then begin from guessed states, and the gaps close on the way.

    Args:
      m: the model.
      d: the start, one world or a batch.
      cost: what is minimised.
      ctrl: the controls to begin with, shape (steps, nu), or (starts, steps, nu).
      segments: number of equal parts, which divides the steps.
      states: guess of the states after each step where the parts begin, such as a Trajectory; None for `d`.
      iterations: at most as many.
      tolerance: relative decrease of the cost that counts as small; None for 1e-7, in float32 1e-5.
      regularisation: of the first iteration, in units of the Hessian of the controls.
      smoothing: width of `with_smoothing`, or gap of hard contact, for the expansion alone [m]; rollouts are those of
        `m`.
      limits: of the controls, shape (nu, 2); None for the model's.
      progress: whether to show a bar.

    Returns:
      The solution; `converged` where three decreases in a row were small or no decrease is expected any more, and not
      where the iterations or the regularisation came to their end first, as at a kink of the cost.

    Raises:
      InputError: an argument that does not fit, or a cost that is not finite at the guess; the message names it.
      UnsupportedError: the model has delays or springs that yield, whose state is more than qpos, qvel and act.
    Source: Tassa, Mansard, Todorov, Control-limited differential dynamic programming (2014); segments: Giftthaler et
      al., A family of iterative Gauss-Newton shooting methods for nonlinear optimal control (2018).
    """
    began = time.perf_counter()
    start = start_of("ilqr", m, d, ctrl)
    iterations = whole_number("iterations", iterations, least=0)
    tolerance = (1e-7 if start.ctrl.dtype == jnp.float64 else 1e-5) if tolerance is None else tolerance
    for name, value in (("tolerance", tolerance), ("regularisation", regularisation)):
        if not isinstance(value, int | float) or not 0 <= value < np.inf:
            raise InputError(f"{name}={shown(value)}: must be a number, at least 0")
    cost = check_cost(m, jax.tree.map(lambda x: x[0], start.d), cost)
    limits = control_limits(m, limits)
    path = first_path(m, start, segments, states, limits)
    soft = m if smoothing is None else smoothed(m, smoothing)
    count, dtype = len(path.ctrl), path.ctrl.dtype
    lengths = LENGTHS.astype(dtype)
    feedback, moved = _nothing(m, path)
    path = jax.tree.map(lambda x: x[:, 0], _follow(m, start.d, cost, path, feedback, moved, lengths, limits))
    check_first("ilqr", np.asarray(path.cost))
    known, weight = Progress(count, regularisation, tolerance), np.zeros(count)
    history, fresh = [np.asarray(path.cost)], True
    bar = tqdm(range(iterations), disable=not progress, desc="ilqr")
    for _ in bar:
        if fresh:
            expansion = _expand(soft, start.d, cost, path)
        feedback, moved, bound = _backward(expansion, path, limits, known.mu.astype(dtype))
        weight = np.maximum(weight, 2 * np.asarray(bound))
        found = _follow(m, start.d, cost, path, feedback, moved, lengths, limits)
        old = np.asarray(path.cost + weight * path.defect)
        path, new = _best(path, found, weight.astype(dtype), ~known.done)
        accepted = known.note(old, np.asarray(new), np.asarray(feedback.decrease))
        fresh = bool(accepted.any())
        history.append(np.asarray(path.cost))
        bar.set_postfix(cost=f"{history[-1].min():.6g}", done=f"{known.done.sum()}/{count}")
        if known.done.all():
            break
    if fresh:
        expansion = _expand(soft, start.d, cost, path)
    feedback, _, _ = _backward(expansion, path, limits, np.full(count, MU_MIN, dtype))
    s = path.states
    result = Solution(
        path.ctrl, s.time, s.qpos, s.qvel, s.act, feedback.K, np.asarray(path.cost), np.asarray(path.defect),
        np.stack(history, 1), known.iterations, known.converged, 0.0,
    )  # fmt: skip
    result = result if start.many else jax.tree.map(lambda x: x[0], result._replace(seconds=np.zeros(1)))
    return result._replace(seconds=time.perf_counter() - began)


def expand(m: Model, d: Data, cost: Cost, path: Path) -> Expansion:
    """Return cost and dynamics around a path.  d: one world, for what is not state; path: one too."""
    at, nu = before(path.starts, path.states), m.nu
    A, B = linearise_at(m, d, at, path.ctrl)
    running = jax.vmap(lambda s, u: quadratic(cost.running, m, with_state(d, s, u), nu))(at, path.ctrl)
    final = quadratic(cost.final, m, with_state(d, last(path.states)), 0)
    between = gaps(m, path.starts, path.states)
    ends = _ends(path)
    gap = jnp.zeros((len(path.ctrl), A.shape[-1]), A.dtype).at[ends].set(between)
    return Expansion(A, B, gap, running, final)


def _ends(path: Path) -> np.ndarray:
    """Return the numbers of the steps at which one segment meets the next."""
    segments = path.starts.time.shape[-1]
    return np.arange(1, segments) * (path.ctrl.shape[-2] // segments) - 1


@functools.partial(jax.jit, static_argnums=2)
def _expand(m, d, cost, path):
    return jax.vmap(lambda d, path: expand(m, d, cost, path))(d, path)


@jax.jit
def _backward(e, path, limits, regularisation):
    """Return feedback, how it moves the starts of segments, and a bound on the slopes where segments meet."""
    low, high = (limits[:, k] - path.ctrl for k in (0, 1))
    feedback = jax.vmap(backward)(e, low, high, regularisation)
    moved = jax.vmap(linear_states)(e, feedback)[:, :: path.ctrl.shape[1] // path.starts.time.shape[1]]
    return feedback, moved, jnp.max(jnp.abs(feedback.slope[:, _ends(path)]), axis=(1, 2), initial=0)


_follow = jax.jit(follow, static_argnums=2)


@jax.jit
def _best(path, found, weight, active):
    """Return of each trajectory the best of those found or itself, and its merit."""
    merit = found.cost + weight[:, None] * found.defect
    best = jnp.argmin(jnp.where(jnp.isfinite(merit), merit, jnp.inf), axis=1)
    rows, own = jnp.arange(len(best)), path.cost + weight * path.defect
    better = (merit[rows, best] < own) & active
    chosen = jax.tree.map(lambda x: x[rows, best], found)
    pick = lambda x, y: jnp.where(better.reshape(-1, *(1,) * (x.ndim - 1)), x, y)  # noqa: E731
    return jax.tree.map(pick, chosen, path), jnp.where(better, merit[rows, best], own)


def _nothing(m: Model, path: Path) -> tuple[Feedback, Array]:
    """Return a feedback that changes nothing."""
    (count, steps, nu), nx, dtype = path.ctrl.shape, 2 * m.nv + m.na, path.ctrl.dtype
    k, K, slope = (jnp.zeros((count, steps, *n), dtype) for n in ((nu,), (nu, nx), (nx,)))
    return Feedback(k, K, jnp.zeros(count, dtype), slope), jnp.zeros((*path.starts.time.shape, nx), dtype)
