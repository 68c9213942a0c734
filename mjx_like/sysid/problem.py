"""The least-squares problem of one stage: residuals and Jacobians of all segments at given parameters and starts."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import numpy as np

from mjx_like.errors import InputError
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.residual import Compared, Noise, compared, measured_numbers, rows, states_at
from mjx_like.sysid.segments import Segments
from mjx_like.sysid.simulate import Path, Simulator, Worlds, moved_starts
from mjx_like.types.model import Model

Starts = dict[str, np.ndarray]

DIFFERENCE = {8: 1e-6, 4: 3e-3}  # step of central differences in the coordinates, by the bytes of the dtype


@jax.jit
def _rows(m: Model, scale: Noise, gap: jax.Array, c: Compared, path: Path) -> jax.Array:
    return jax.vmap(lambda c, path: rows(m, scale, gap, c, path))(c, path)


@jax.jit
def _states(m: Model, path: Path, step: jax.Array, share: jax.Array) -> Path:
    return jax.vmap(lambda path, step, share: states_at(m, path, step, share))(path, step, share)


@jax.jit
def _slopes(
    m: Model, scale: Noise, gap: jax.Array, c: Compared, path: Path, rates: Path
) -> tuple[jax.Array, jax.Array]:
    """Return residuals, and their derivatives with a leading axis of directions."""

    def one(rate: Path) -> tuple[jax.Array, jax.Array]:
        return jax.jvp(lambda p: _rows(m, scale, gap, c, p), (path,), (rate,))

    return jax.vmap(one, out_axes=(None, 0))(rates)


class Point(NamedTuple):
    """Where a problem is evaluated: coordinates of the parameters, and the starts of the segments."""

    theta: np.ndarray
    starts: Starts


class Problem:
    """Residuals of segments, those of the priors last.

    Args:
      m: the model, smoothed or not.
      simulator: made for a model of the same kind, and for at least as many models as `columns` asks for.
      estimated: whether the starts are unknowns too.
      gap: standard deviation, in that of the noise, of the gap between joined segments; None leaves them apart.
      derivative: "forward" or "difference".
      robust: from where a residual counts by its size and not by its square, in units of the noise.
      step: of central differences in the coordinates; None for a small one.
    """

    def __init__(self, m: Model, parameters: Parameters, simulator: Simulator, s: Segments, scale: Noise, *,
                 estimated: bool, gap: float | None, derivative: str, robust: float = math.inf,
                 step: float | None = None) -> None:  # fmt: skip
        self.m, self.parameters, self.simulator, self.segments = m, parameters, simulator, s
        self.robust, self.estimated, self.gap, self.derivative, self.scale = robust, estimated, gap, derivative, scale
        self._gap = np.asarray(1.0 if gap is None else gap, m.qpos0.dtype)
        self.step = DIFFERENCE[np.dtype(m.qpos0.dtype).itemsize] if step is None else step
        self.moves = 2 * m.nv + m.na if estimated else 0
        dtype = np.dtype(m.qpos0.dtype)
        self._cast = lambda tree: jax.tree.map(lambda x: np.asarray(x, dtype if x.dtype.kind == "f" else None), tree)

    def rows(self, c: Compared, path: Path) -> jax.Array:
        """Return the residuals of worlds, shape (W, rows), of paths of theirs."""
        return _rows(self.m, self._cast(self.scale), self._gap, c, path)

    def residuals(self, points: list[Point]) -> np.ndarray:
        """Return residuals without those of the priors, shape (points, segments, rows)."""
        n = len(self.segments)
        worlds = Worlds(
            model=np.repeat(np.arange(len(points)), n),
            segment=np.tile(np.arange(n), len(points)),
            start={name: np.concatenate([p.starts[name] for p in points]) for name in points[0].starts},
        )
        next_starts = [self.compared(p.starts) for p in points]
        both = jax.tree.map(lambda *x: np.concatenate(x), *next_starts)
        found = self._evaluate(
            np.stack([p.theta for p in points]), worlds, lambda i: jax.tree.map(lambda x: x[i], both)
        )
        return found.reshape(len(points), n, -1)

    def states(self, at: Point) -> Path:
        """Return what is compared with the measurements: qpos, qvel, act, sensordata, (segments, frames, size) each."""
        s, parts, n = self.segments, [], len(self.segments)
        worlds = Worlds(np.zeros(n, int), np.arange(n), at.starts)
        for index, path in self.simulator.paths(self.m, at.theta[None], worlds, s.time[:, 0], s.ctrl, s.steps):
            parts.append(_states(self.m, path, s.step[index], s.share[index]))
        return {name: np.concatenate([np.asarray(part[name]) for part in parts])[:n] for name in parts[0]}

    def linearise(self, at: Point) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (segments, rows) and Jacobians (segments, rows, columns).

        Columns are the coordinates of theta and, with estimated starts, the motion of the segment's own start.
        """
        by = self._by_forward_mode if self.derivative == "forward" else self._by_differences
        return by(at)

    def prior(self, theta: np.ndarray) -> np.ndarray:
        """Return the residuals of the priors, shape (n,); 0 where there is none."""
        return (theta - self.parameters.start) / self.parameters.prior

    def moved(self, at: Point, dtheta: np.ndarray, dx: np.ndarray | None) -> Point:
        """Return a point moved; dx: shape (segments, 2 nv + na), or None."""
        starts = at.starts if dx is None else jax.tree.map(np.asarray, moved_starts(self.m, at.starts, dx))
        return Point(at.theta + dtheta, starts)

    def compared(self, starts: Starts) -> Compared:
        """Return what residuals are computed from, with these starts of the segments."""
        c = compared(self.segments, starts=starts, estimated=self.estimated, continuous=self.gap is not None)
        return self._cast(c)

    def _evaluate(self, thetas: np.ndarray, worlds: Worlds, of: Callable[[np.ndarray], Compared]) -> np.ndarray:
        """Return the residuals of worlds, shape (W, rows).  of: numbers of worlds -> what they are compared by."""
        s, parts = self.segments, []
        for index, path in self.simulator.paths(self.m, thetas, worlds, s.time[:, 0], s.ctrl, s.steps):
            parts.append(np.asarray(self.rows(of(index), path)))
        return np.concatenate(parts)[: len(worlds.model)]

    def _by_differences(self, at: Point) -> tuple[np.ndarray, np.ndarray]:
        h, n, p = self.step, len(self.segments), at.theta.size
        thetas = np.concatenate([at.theta[None], *(at.theta + sign * h * np.eye(p) for sign in (1, -1))])
        start = [at.starts] * len(thetas)
        for sign in (1, -1):
            for way in np.eye(self.moves):
                start.append(jax.tree.map(np.asarray, moved_starts(self.m, at.starts, np.tile(sign * h * way, (n, 1)))))
        model = np.concatenate([np.arange(len(thetas)), np.zeros(2 * self.moves, int)])
        worlds = Worlds(
            model=np.repeat(model, n),
            segment=np.tile(np.arange(n), len(model)),
            start={name: np.concatenate([s[name] for s in start]) for name in at.starts},
        )
        base = self.compared(at.starts)
        found = self._evaluate(thetas, worlds, lambda i: jax.tree.map(lambda x: x[i % n], base))
        found = found.reshape(len(model), n, -1)
        halves = (
            found[1 : 2 * p + 1].reshape(2, p, n, -1),
            found[2 * p + 1 :].reshape(2, self.moves, n, found.shape[-1]),
        )
        with np.errstate(invalid="ignore"):  # what is not finite is told by name
            slopes = np.concatenate([(x[0] - x[1]) / (2 * h) for x in halves])
        return found[0], np.moveaxis(slopes, 0, -1)

    def _by_forward_mode(self, at: Point) -> tuple[np.ndarray, np.ndarray]:
        s, base = self.segments, self.compared(at.starts)
        values, slopes, n = [], [], len(self.segments)
        cast = self._cast(at.starts)
        for index, path, rates in self.simulator.tangents(
            self.m, at.theta, cast, self.estimated, s.time[:, 0], s.ctrl, s.steps
        ):
            value, slope = _slopes(
                self.m, self._cast(self.scale), self._gap, jax.tree.map(lambda x, i=index: x[i], base), path, rates
            )
            values.append(np.asarray(value))
            slopes.append(np.moveaxis(np.asarray(slope), 0, -1))
        return np.concatenate(values)[:n], np.concatenate(slopes)[:n]

    def check_finite(self, found: np.ndarray) -> None:
        """Raise InputError where a residual is not finite, naming the first.  found: shape (segments, rows)."""
        bad = np.argwhere(~np.isfinite(found))
        if bad.size:
            raise InputError(self._named(*map(int, bad[0])))

    def _named(self, segment: int, row: int) -> str:
        s = self.segments
        begin = f"the residual of recording {s.recording[segment]}"
        for name, size in self._sizes():
            if row < size * s.time.shape[1]:
                frame, entry = divmod(row, size)
                what = "dof" if name != "sensordata" else "entry"
                place = f"frame {s.first[segment] + frame}, {s.time[segment, frame]:g} s, {name} of {what} {entry}"
                return (
                    f"{begin} at {place}, is not finite with these parameters: start nearer, bound them, or take "
                    "shorter segments (lengths=)"
                )
            row -= size * s.time.shape[1]
        return f"{begin}, the gap to its next segment, is not finite: take shorter segments (lengths=)"

    def _sizes(self) -> Iterator[tuple[str, int]]:
        for name in self.segments.measured:
            yield name, self.m.nsensordata if name == "sensordata" else self.m.nv

    def parts(self, found: np.ndarray) -> dict[str, np.ndarray]:
        """Return residuals by what was measured, (segments, frames, size) each.  found: shape (segments, rows)."""
        frames, begin, named = self.segments.time.shape[1], 0, {}
        for name, size in self._sizes():
            named[name] = found[:, begin : begin + frames * size].reshape(len(found), frames, size)
            begin += frames * size
        return named

    def count(self) -> int:
        """Return how many residuals there are: numbers measured, and gaps between segments."""
        gaps = int(self.segments.joined.sum()) * self.moves if self.gap is not None else 0
        return measured_numbers(self.m, self.compared(self.segments.start), self.scale) + gaps
