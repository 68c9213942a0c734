"""How far a step of the search can go until a pair or a cone is at its boundary."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.problem import Cones, Point, Problem, contact_bound, times
from mjx_like.math import safe

Array = jax.Array

_FAR = 1e6  # of a step, in its own length
_NOISE = 16  # rounding errors


class Room(NamedTuple):
    """How far a step can go, in its own length, at most 1e6."""

    contacts: Array  # (ncone,), until the friction cone of each contact is at its boundary
    others: Array  # (), until the first pair or friction loss is

    def all(self) -> Array:
        """Return how far the whole step can go, shape ()."""
        return jnp.min(self.contacts, initial=self.others)


def room(p: Problem, z: Point, d: Point) -> Room:
    """Return how far a step d from z can go."""
    none = jnp.zeros_like(p.bound)
    slides, changes = ([times(cones.J, x) for cones in (p.contact, p.loss)] for x in (z.nu, d.nu))
    others = (
        _to_zero(p.used, z.s, d.s),
        _to_zero(p.used, z.gamma, d.gamma),
        _to_surface(p.loss, p.bound, z.loss_c, none, d.loss_c),
        _to_surface(p.loss, z.loss_eta, slides[1], d.loss_eta, changes[1]),
    )
    contacts = jnp.minimum(
        _to_surface(p.contact, contact_bound(p, z.gamma), z.c, contact_bound(p, d.gamma), d.c),
        _to_surface(p.contact, z.eta, slides[0], d.eta, changes[0]),
    )
    return Room(contacts, functools.reduce(jnp.minimum, [jnp.min(x, initial=_FAR) for x in others]))


def _to_zero(used: Array, x: Array, d: Array) -> Array:
    falls = (used > 0) & (d < 0)
    return jnp.where(falls, -x / jnp.where(falls, d, -1), _FAR)


def _to_surface(cones: Cones, x: Array, rest: Array, d: Array, drest: Array) -> Array:
    """Return the least positive root of the determinant along a step, shape (ncone,)."""
    size = safe.norm(rest)
    constant = jnp.maximum((x - size) * (x + size), 0)
    half, square = x * d - jnp.sum(rest * drest, axis=-1), d * d - jnp.sum(drest * drest, axis=-1)
    discriminant = half * half - square * constant
    noise = _NOISE * jnp.finfo(x.dtype).eps * half * half  # where nothing slides there is one double root
    below = jnp.sqrt(jnp.maximum(discriminant, 0)) - half
    hits = (cones.used > 0) & (discriminant >= -noise) & (below > 0)
    return jnp.where(hits, constant / jnp.where(hits, below, 1), _FAR)
