"""Residuals: what was measured against paths of the simulation, on the tangent space, in units of the noise."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.integrator.position import differentiate_pos, integrate_pos
from mjx_like.sysid.segments import Segments
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model

Array = jax.Array

NOISY = {"qpos": "nv", "qvel": "nv", "sensordata": "nsensordata"}  # of positions on the tangent space


class Noise(NamedTuple):
    """Standard deviations of what was measured: of positions on the tangent space (nv,), velocities, sensors."""

    qpos: np.ndarray
    qvel: np.ndarray
    sensordata: np.ndarray


def noise_of(m: Model, given: Mapping[str, Any] | None) -> Noise:
    """Return standard deviations, 1 for what is not given.

    Raises:
      InputError: another name, a shape that is not that of the tangent space, or a value that is not positive.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping) or set(given) - set(NOISY):
        raise InputError(f"noise={shown(given)}: must be a mapping from {', '.join(NOISY)} to standard deviations")
    found = {}
    for name, size in NOISY.items():
        value, need = np.asarray(given.get(name, 1.0), float), (getattr(m, size),)
        if value.shape not in ((), need) or not (value > 0).all():
            raise InputError(
                f"noise['{name}'] must be positive, a number or an array of shape {need}; it is {shown(given[name])}"
            )
        found[name] = np.broadcast_to(value, need)
    return Noise(**found)


class Compared(NamedTuple):
    """What residuals of a segment are computed from, arrays with a leading axis of segments; frames as in Segments."""

    step: Array
    share: Array
    last: Array  # (n,) the last frame that is no padding
    measured: dict[str, Array]  # NaN where missing
    next: dict[str, Array]  # qpos, qvel, act at which the next segment begins
    pull: Array  # (n,) 1 where it is the continuation, else 0


def compared(s: Segments, *, starts: dict[str, np.ndarray], estimated: bool, continuous: bool) -> Compared:
    """Return what the residuals of segments are computed from.

    starts: of all segments. A frame at which a segment starts counts where its start is estimated; a frame that two
    segments share counts once where they are held together.
    """
    last = np.where(np.isnan(s.time), -1, np.arange(s.time.shape[1])).max(axis=1)
    measured = {name: value.copy() for name, value in s.measured.items()}
    for name in measured:
        if not estimated and name != "sensordata":
            measured[name][:, 0] = np.nan
        if continuous:
            joined = np.flatnonzero(s.joined)
            measured[name][joined, last[joined]] = np.nan
    follow = np.where(s.joined, np.arange(len(s)) + 1, np.arange(len(s)))
    pull = (s.joined & continuous).astype(float)
    return Compared(s.step, s.share, last, measured, {name: value[follow] for name, value in starts.items()}, pull)


def rows(m: Model, scale: Noise, gap: float, c: Compared, path: dict[str, Array]) -> Array:
    """Return the residuals of one segment over their standard deviations, flat, 0 where nothing was measured.

    Frames times (qpos nv, qvel nv, sensordata), as far as measured, then the gap to the next segment (2 nv + na), whose
    standard deviation is that of the measurement times `gap`.
    """
    states = states_at(m, path, c.step, c.share)
    parts = []
    for name, value in c.measured.items():
        if name == "qpos":
            difference, missing = _position_difference(m, value, states["qpos"])
        else:
            missing = jnp.isnan(value)
            difference = states[name] - jnp.where(missing, states[name], value)
        parts.append(jnp.where(missing, 0, difference / getattr(scale, name)))
    end = {name: states[name][c.last] for name in ("qpos", "qvel", "act")}
    moves = (
        differentiate_pos(m, c.next["qpos"], end["qpos"]) / scale.qpos,
        (end["qvel"] - c.next["qvel"]) / scale.qvel,
    )
    tail = c.pull / gap * jnp.concatenate([*moves, end["act"] - c.next["act"]])
    return jnp.concatenate([*(part.ravel() for part in parts), tail])


def _position_difference(m: Model, measured: Array, qpos: Array) -> tuple[Array, Array]:
    """Return how far simulated positions are from measured ones, shape (frames, nv), and which dofs were not measured.

    A rotation of which one number is missing is missing.
    """
    source = _sources(m)
    missing = (jnp.isnan(measured).astype(qpos.dtype) @ source.T) > 0
    unknown = (missing.astype(qpos.dtype) @ source) > 0
    difference = jax.vmap(lambda a, b: differentiate_pos(m, a, b))(jnp.where(unknown, qpos, measured), qpos)
    return difference, missing


def measured_numbers(m: Model, c: Compared, scale: Noise) -> int:
    """Return how many numbers are compared: of positions as many as dofs, none of infinite noise."""
    count = 0
    for name, value in c.measured.items():
        missing = np.isnan(value)
        missing = (missing.astype(float) @ _sources(m).T) > 0 if name == "qpos" else missing
        count += int((~missing & np.isfinite(getattr(scale, name))).sum())
    return count


def _sources(m: Model) -> np.ndarray:
    """Return which positions each dof follows from, shape (nv, nq)."""
    table = np.zeros((m.nv, m.nq))
    for kind, q, v in zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True):
        if kind == JointType.FREE:
            table[v + np.arange(3), q + np.arange(3)] = 1
            q, v = q + 3, v + 3
        if kind in (JointType.FREE, JointType.BALL):
            table[v : v + 3, q : q + 4] = 1
        else:
            table[v, q] = 1
    return table


def states_at(m: Model, path: dict[str, Array], step: Array, share: Array) -> dict[str, Array]:
    """Return states and sensors of frames, (frames, size) each, from a path; frames as in Segments."""
    return jax.vmap(lambda k, part: _state_at(m, path, k, part))(step, share)


def _state_at(m: Model, path: dict[str, Array], step: Array, share: Array) -> dict[str, Array]:
    """Return state and sensors a share of a time step after a step: linear, positions on the tangent space."""

    def at(name: str, k: Array) -> Array:
        return path[name][jnp.minimum(k, len(path[name]) - 1)]

    found = {name: at(name, step) + share * (at(name, step + 1) - at(name, step)) for name in path if name != "qpos"}
    move = differentiate_pos(m, at("qpos", step), at("qpos", step + 1))
    return found | {"qpos": integrate_pos(m, at("qpos", step), move, share)}
