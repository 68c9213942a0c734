"""How far a step of the search can go until a pair or a cone is at its boundary."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.components import Parts, dot, parts
from mjx_like.hard.problem import Point, Problem, Rates, contact_bound

Array = jax.Array

FAR = 1e6  # of a step, in its own length
_NOISE = 16  # rounding errors


class Room(NamedTuple):
    """How far a step can go, in its own length, at most 1e6."""

    contacts: Array  # (ncone,), until the friction cone of each contact is at its boundary
    others: Array  # (), until the first pair or friction loss is

    def all(self) -> Array:
        """Return how far the whole step can go, shape ()."""
        return jnp.min(self.contacts, initial=self.others)


def room(p: Problem, z: Point, d: Point, at: Rates, change: Rates) -> Room:
    """Return how far a step d from z can go; at, change: `rates` of both."""
    none = jnp.zeros_like(p.bound)
    others = (
        to_zero(p.used, z.s, d.s),
        to_zero(p.used, z.gamma, d.gamma),
        to_surface(p.loss.used, p.bound, parts(z.loss_c), none, parts(d.loss_c)),
        to_surface(p.loss.used, z.loss_eta, at.loss, d.loss_eta, change.loss),
    )
    bound, growth, used = contact_bound(p, z.gamma), contact_bound(p, d.gamma), p.contact.used
    contacts = jnp.minimum(
        to_surface(used, bound, parts(z.c), growth, parts(d.c)),
        to_surface(used, z.eta, at.contact, d.eta, change.contact),
    )
    return Room(contacts, functools.reduce(jnp.minimum, [jnp.min(x, initial=FAR) for x in others]))


def to_zero(used: Array, x: Array, d: Array) -> Array:
    """Return how far slacks or impulses x can go along d until they are 0; used: 1 or 0."""
    falls = (used > 0) & (d < 0)
    return jnp.where(falls, -x / jnp.where(falls, d, -1), FAR)


def to_surface(used: Array, x: Array, rest: Parts, d: Array, drest: Parts) -> Array:
    """Return how far vectors (x, rest) can go along (d, drest): the least positive root of their determinant."""
    size = jnp.sqrt(dot(rest, rest))
    constant = jnp.maximum((x - size) * (x + size), 0)
    half, square = x * d - dot(rest, drest), d * d - dot(drest, drest)
    discriminant = half * half - square * constant
    noise = _NOISE * jnp.finfo(x.dtype).eps * half * half  # where nothing slides there is one double root
    below = jnp.sqrt(jnp.maximum(discriminant, 0)) - half
    hits = (used > 0) & (discriminant >= -noise) & (below > 0)
    return jnp.where(hits, constant / jnp.where(hits, below, 1), FAR)
