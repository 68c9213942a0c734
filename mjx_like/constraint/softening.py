"""Activation of one-sided rows before the touch: with smoothing forces begin gradually, hard contact is felt nearby."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.types.data import Contact
from mjx_like.types.model import Model
from mjx_like.types.smoothing import Smoothing

Array = jax.Array

_LEAST_IMPEDANCE = 1e-6  # of a row that is as good as absent
_GAPS = 100  # of rest, within which an impulse of hard contact is felt
_LEAST_GRAVITY = 9.81  # m/s^2, where a model has none


def active_from(s: Smoothing | None) -> Array | float:
    """Return the distance above its margin below which a row exists [m or rad]."""
    return 0.0 if s is None else jnp.maximum(s.width, s.reach)


def acts_from(m: Model, smooth: bool = True) -> Array | float:
    """Return the distance above its margin below which a row exists: with hard contact all that was found.

    smooth: whether smoothing moves it.
    """
    if m.hard is not None:
        return jnp.inf
    return active_from(m.smoothing if smooth else None)


def gravity(m: Model) -> Array:
    """Return the size of the gravity that impulses are measured by, shape () [m/s^2]; 9.81 where there is none."""
    size = safe.norm(m.opt_floats.gravity)
    return jnp.where(size > 0, size, _LEAST_GRAVITY)


def felt(m: Model) -> Array:
    """Return the distance within which a hard contact at rest pushes, shape () [m]."""
    h = m.opt_floats.timestep
    return _GAPS * m.hard.gap + h * h * gravity(m)


def finds_more(m: Model) -> bool:
    """Return whether contacts are found that do not touch: where smoothing acts, or hard contact can come in a step."""
    return m.hard is not None or m.smoothing is not None


def touches(m: Model, c: Contact) -> Array:
    """Return which contacts touch, shape (nconmax,): closer than margin and gap, or felt in hard contact."""
    exists = c.geom[:, 0] >= 0
    if not finds_more(m):
        return exists
    beyond = 0.0 if m.hard is None else felt(m)
    return exists & (c.dist < c.includemargin + _gap(m, c) + beyond)


def _gap(m: Model, c: Contact) -> Array:
    """Return the gap of each contact, shape (nconmax,): that of its pair, or both of its geoms.

    Of a pair that is listed more than once the largest counts.
    """
    gap = jnp.sum(m.geom_gap[jnp.maximum(c.geom, 0)], axis=1)
    if not m.npair:
        return gap
    pair = np.stack([m.pair_geom1, m.pair_geom2], axis=1)
    own = jnp.any(jnp.all(c.geom[:, None, None] == np.stack([pair, pair[:, ::-1]], axis=1), axis=3), axis=2)
    return jnp.where(jnp.any(own, axis=1), jnp.max(jnp.where(own, m.pair_gap, -jnp.inf), axis=1), gap)


def softened(s: Smoothing, violation: Array) -> tuple[Array, Array]:
    """Return the violation and the share of the impedance that a row has, each with a continuous derivative.

    violation: position less margin, shape (...). Below -width both are those of MuJoCo: the violation itself, and 1;
    above width there is only what acts from a distance, 0 at `reach` and beyond: a share of the impedance, `strength`
    at the touch, and as much of `reach` for a depth, so that a contact without damping pushes as well.
    """
    x = safe.clip(safe.divide(violation, s.width, otherwise=jnp.sign(violation)), -1.0, 1.0)
    soft = jnp.where(violation < -s.width, violation, -s.width * (1 - x) ** 2 / 4)
    rise = 0.5 * (1 - x)
    share = rise * rise * (3 - 2 * rise)
    near = safe.clip(1 - safe.divide(violation, s.reach, otherwise=1.0), 0.0, 1.0)
    apart = (1 - share) * s.strength * near * near
    return soft - apart * s.reach, share + apart


def softened_impedance(impedance: Array, share: Array) -> Array:
    """Return the impedance of rows that have a share of it."""
    return jnp.maximum(impedance * share, _LEAST_IMPEDANCE)
