"""Simulations of segments, many models and starts at once, in blocks of one shape so that one program serves all.

A block has so many worlds and a chunk so many time steps: more worlds are more blocks, a longer horizon is more chunks,
and neither compiles anew.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.rollout.rollout import CARRIED, rollout
from mjx_like.state.batch import batch
from mjx_like.state.difference import moved_state
from mjx_like.state.initial import make_data
from mjx_like.sysid.parameters import Parameters
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
Tree = Any
Path = dict[str, Array]

_CALL = 4  # time steps that a further chunk costs, about


class Worlds(NamedTuple):
    """Which worlds to run: W of them, each with a model and a start.  NumPy arrays."""

    model: np.ndarray  # (W,) row of thetas
    segment: np.ndarray  # (W,)
    start: dict[str, np.ndarray]  # qpos (W, nq), qvel (W, nv), act (W, na)


def record(d: Data) -> dict[str, Array]:
    """Return what a segment is compared by."""
    return {name: getattr(d, name) for name in ("qpos", "qvel", "act", "sensordata")}


def chunk_of(steps: list[int], least: int = 16) -> int:
    """Return a number of time steps of which every horizon is nearly a multiple: little is simulated in vain."""

    def cost(chunk: int) -> int:
        return sum(-(-n // chunk) * (chunk + _CALL) for n in steps)

    return min(range(min(least, *steps), min(steps) + 1), key=cost) if len(steps) > 1 else steps[0]


class Simulator:
    """Runs worlds of a model with other parameters.

    Args:
      m: the model, smoothed or not.
      parameters: what differs between its worlds.
      models: how many rows thetas may have.
      block: worlds of a call; chunk: time steps of a call.
    """

    def __init__(self, m: Model, parameters: Parameters, models: int, block: int, chunk: int) -> None:
        self.m, self.parameters, self.models, self.block, self.chunk = m, parameters, models, block, chunk
        self._data = make_data(m)
        self._own = _replaced(parameters, m)

    def paths(self, m: Model, thetas: np.ndarray, worlds: Worlds, time: np.ndarray, ctrl: np.ndarray | None, steps: int
              ) -> Iterator[tuple[np.ndarray, Path]]:  # fmt: skip
        """Yield block by block the numbers of its worlds, the last repeated to fill it, and their paths.

        Args:
          m: the model of the constructor, or one with other values of smoothing.
          thetas: shape (models or fewer, n).
          worlds: which to run.
          time: of the start of each segment; ctrl: of the steps of each, shape (n, steps, nu), or None.
          steps: time steps to run, at least.
        Yields paths with qpos (block, N + 1, nq), qvel, act, the start included, and sensordata (block, N, .) of the
        start of each step; N is the least multiple of the chunk that is not below `steps`.
        """
        rows = np.minimum(np.arange(self.models), len(thetas) - 1)
        leaves = _leaves(self.parameters, m, jnp.asarray(thetas[rows], m.qpos0.dtype))
        flat, tree = jax.tree.flatten(m)
        chunks = -(-steps // self.chunk)
        for first in range(0, len(worlds.model), self.block):
            index = np.minimum(first + np.arange(self.block), len(worlds.model) - 1)
            own = iter([x[worlds.model[index]] for x in leaves])
            models = jax.tree.unflatten(
                tree, [next(own) if mine else x for x, mine in zip(flat, self._own, strict=True)]
            )
            start = {name: value[index] for name, value in worlds.start.items()}
            d = batch(self._data, time=time[worlds.segment[index]], **start)
            given = self._chunks(ctrl, worlds.segment[index], chunks)
            parts = []
            for u in given:
                part, d = rollout(models, d, u, steps=self.chunk, record=record, block=self.block, return_data=True)
                parts.append(part)
            yield index, _joined(start, parts)

    def _chunks(self, ctrl: np.ndarray | None, segment: np.ndarray, chunks: int) -> list[Array | None]:
        """Return the controls of each chunk; the last are held where there are none."""
        if ctrl is None:
            return [None] * chunks
        step = np.minimum(np.arange(chunks * self.chunk), ctrl.shape[1] - 1)
        dtype = self.m.qpos0.dtype
        return [jnp.asarray(ctrl[segment][:, part], dtype) for part in np.split(step, chunks)]

    def tangents(self, m: Model, theta: np.ndarray, starts: dict[str, np.ndarray], estimated: bool, time: np.ndarray,
                 ctrl: np.ndarray | None, steps: int) -> Iterator[tuple[np.ndarray, Path, Path]]:  # fmt: skip
        """Yield block by block the numbers of its segments, their paths, and the paths' derivatives.

        The derivatives, with a leading axis of directions, are by the coordinates of theta and, where starts are
        `estimated`, by the motion of the start on the tangent space (2 nv + na).
        """
        theta = jnp.asarray(theta, m.qpos0.dtype)
        chunks, number = -(-steps // self.chunk), len(time)
        moves = 2 * m.nv + m.na if estimated else 0
        directions = jnp.eye(theta.size + moves, dtype=theta.dtype)
        for first in range(0, number, self.block):
            index = np.minimum(first + np.arange(self.block), number - 1)
            start = {name: value[index] for name, value in starts.items()}
            d = batch(self._data, time=time[index], **start)
            state = _floats(d)
            rates = {name: jnp.zeros((len(directions), *x.shape), x.dtype) for name, x in state.items()}
            if moves:
                rates |= _start_rates(m, {n: state[n] for n in starts}, directions[:, theta.size :])
            parts, slopes = [], []
            begin = {name: rates[name] for name in starts}
            for u in self._chunks(ctrl, index, chunks):
                ways = directions[:, : theta.size]
                part, slope, d, rates = _tangents(self.parameters, self.chunk, self.block, m, theta, ways, d, rates, u)
                parts.append(part)
                slopes.append(slope)
            yield index, _joined(start, parts), _joined(begin, slopes, axis=2)


def _replaced(parameters: Parameters, m: Model) -> list[bool]:
    """Return which leaves of the model the parameters replace, in the order of `jax.tree.leaves`."""
    found: list[bool] = []

    def note(theta: Array) -> None:
        pairs = zip(jax.tree.leaves(m), jax.tree.leaves(parameters.apply(m, theta)), strict=True)
        found.extend(old is not new for old, new in pairs)

    jax.eval_shape(note, jnp.asarray(parameters.start, m.qpos0.dtype))
    return found


@functools.partial(jax.jit, static_argnums=0)
def _leaves(parameters: Parameters, m: Model, thetas: Array) -> list[Array]:
    """Return the leaves that the parameters replace, with a leading axis of models."""

    def one(theta: Array) -> list[Array]:
        pairs = zip(jax.tree.leaves(m), jax.tree.leaves(parameters.apply(m, theta)), strict=True)
        return [new for old, new in pairs if old is not new]

    return jax.vmap(one)(thetas)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _tangents(
    parameters: Parameters,
    steps: int,
    block: int,
    m: Model,
    theta: Array,
    directions: Array,
    d: Data,
    rates: Tree,
    u: Any,
) -> Tree:
    """Return the path of a chunk and its derivatives, its end and the derivatives of that."""

    def run(theta: Array, state: dict[str, Array]) -> Tree:
        model, begin = parameters.apply(m, theta), d.replace(**state)
        part, end = rollout(model, begin, u, steps=steps, record=record, block=block, return_data=True)
        return (part, _floats(end)), end

    def one(direction: Array, rate: Tree) -> Tree:
        values, slopes, end = jax.jvp(run, (theta, _floats(d)), (direction, rate), has_aux=True)
        return values[0], slopes[0], end, slopes[1]

    return jax.vmap(one, out_axes=(None, 0, None, 0))(directions, rates)


def _floats(d: Data) -> dict[str, Array]:
    """Return what a step hands to the next and has a derivative."""
    return {n: getattr(d, n) for n in CARRIED if jnp.issubdtype(getattr(d, n).dtype, jnp.floating)}


@jax.jit
def _start_rates(m: Model, start: dict[str, Array], directions: Array) -> dict[str, Array]:
    """Return derivatives of the start by its motion, with axes (directions, worlds, ...)."""

    def moved(dx: Array) -> dict[str, Array]:
        return moved_state(m, _State(**start), dx)

    zero = jnp.zeros((start["qpos"].shape[0], directions.shape[1]), directions.dtype)
    return jax.vmap(lambda way: jax.jvp(moved, (zero,), (jnp.broadcast_to(way, zero.shape),))[1])(directions)


class _State(NamedTuple):
    qpos: Array
    qvel: Array
    act: Array


@jax.jit
def moved_starts(m: Model, start: dict[str, Array], dx: Array) -> dict[str, Array]:
    """Return starts moved on the tangent space.  dx: shape (worlds, 2 nv + na)."""
    return moved_state(m, _State(**start), dx)


def _joined(start: dict[str, Any], parts: list[dict[str, Array]], axis: int = 1) -> dict[str, Array]:
    """Return a path of its chunks, the start before the first of its states."""
    path: dict[str, Array] = {}
    for name in parts[0]:
        begin = [jnp.expand_dims(jnp.asarray(start[name], parts[0][name].dtype), axis)] if name in start else []
        path[name] = jnp.concatenate([*begin, *(part[name] for part in parts)], axis=axis)
    return path
