"""Impulses of the solve before, for the contacts of the next one: a solve begins where the last one ended."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.newton import Start, without_impulses
from mjx_like.hard.problem import Point, Problem
from mjx_like.types.data import Contact

Array = jax.Array

_SHIFTS = (0, 1, -1, 2, -2)  # places that a contact may have moved from one solve to the next


class Kept(NamedTuple):
    """What a solve found, and the geoms of its contacts."""

    gamma: Array  # of pairs, as in `Point`
    c: Array
    loss_c: Array
    geom: Array  # of contacts, shape (nconmax, 2)


def nothing(p: Problem, contact: Contact) -> Kept:
    """Return what is kept before the first solve; p and contact: of any solve, or their shapes."""
    start = without_impulses(p, p.b)
    return Kept(start.gamma, start.c, start.loss_c, jnp.zeros_like(contact.geom))


def kept(p: Problem, contact: Contact, z: Point) -> Kept:
    """Return what the next solve begins with; contact: those of the problem, z: its solution."""
    return Kept(p.used * z.gamma, z.c, z.loss_c, contact.geom)


def start_from(p: Problem, contact: Contact, nu: Array, before: Kept) -> Start:
    """Return the start of a problem, at a velocity nu, shape (nv,): contacts have the impulses of those of their pair.

    Limits and friction losses have their own.
    """
    count = p.contact.k.shape[0]
    if not count:
        return Start(nu, before.gamma, before.c, before.loss_c)
    plain, gamma = before.gamma[:-count], before.gamma[-count:]
    gamma, c = _shifted(contact, before.geom, [gamma, before.c])
    return Start(nu, jnp.concatenate([plain, gamma]), c, before.loss_c)


def _shifted(contact: Contact, geom: Array, values: list[Array]) -> list[Array]:
    """Return values of contacts, first axis, for other contacts: of those few places away that have their pair, else 0.

    Contacts keep their order, so that few of them came or went before any of them. To compare each with each takes a
    third of a step where there is room for 72.
    """
    known, found = jnp.zeros(contact.geom.shape[0], bool), [jnp.zeros_like(x) for x in values]
    for shift in _SHIFTS:
        same = jnp.roll(geom, shift, axis=0) == contact.geom
        own = same[:, 0] & same[:, 1] & ~known
        moved = [jnp.roll(x, shift, axis=0) for x in values]
        found = [jnp.where(own.reshape(-1, *(1,) * (x.ndim - 1)), y, x) for x, y in zip(found, moved, strict=True)]
        known = known | own
    return found
