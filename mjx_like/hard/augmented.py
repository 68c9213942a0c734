"""Linear systems in which the impulses of the stiffest contacts are unknowns, beside the velocity.

A contact that is eliminated adds its stiffness to the system in the velocity, up to 1e10 times what light bodies add:
in single precision, what is rounded there is more than their masses. Explicit contacts, whose impulses are unknowns,
have rows of their own, scaled so that no entry is larger than those of J: one of no stiffness says that its impulse is
given, one of infinite stiffness that its velocity is. Impulses are over the masses that the rows feel.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.hard.components import scaled
from mjx_like.hard.elimination import Free, Linear, System
from mjx_like.hard.problem import Cones, Point, Problem, Rates, contact_bound, joined
from mjx_like.math.lots import SMALL
from mjx_like.math.select import rows

Array = jax.Array

# dofs for each explicit contact: in a search factors of more contacts cost more than the steps that they spare,
# while a derivative is one system, and what is lost in it shows
_SEARCH_DOFS, _DERIVATIVE_DOFS = 20, 12
_LEAST_OF_DERIVATIVE = 4


def explicit_in_search(p: Problem) -> int:
    """Return how many contacts are explicit in a search; none of a small model."""
    nv = p.b.shape[0]
    return max(1, nv // _SEARCH_DOFS) if nv > SMALL else 0


def explicit_in_derivative(p: Problem) -> int:
    """Return how many contacts are explicit in the derivative of a solution."""
    return max(_LEAST_OF_DERIVATIVE, math.ceil(p.b.shape[0] / _DERIVATIVE_DOFS))


def system_of(p: Problem, z: Point, contact: Linear, loss: Linear, count: int) -> System:
    """Return the linear system of a problem with masses; in single precision so many contacts are explicit."""
    count = min(count, p.contact.k.shape[0])
    single = jnp.finfo(p.b.dtype).bits <= 32
    return AugmentedSystem(p, z, contact, loss, count) if count and single else System(p, z, contact, loss)


class _Explicit(NamedTuple):
    """The explicit contacts."""

    place: Array  # 1 where a contact, by row, is one of them, by column, else 0
    among: Array  # 1 where a contact is one of them, shape (ncone,)
    normal: Array  # J of their pairs, shape (k, nv)
    used: Array  # of the pairs
    mass: Array
    loose: Array  # 1 where there is no stiffness, 0 where it is infinite
    cones: Cones
    linear: Linear
    scale: Array  # one over mass and stiffness of friction

    def of(self, x: Array) -> Array:
        """Return what is theirs of values of all contacts, shape (ncone,); by sums: products call a library."""
        return jnp.sum(x[:, None] * self.place, axis=0)

    def spread(self, x: Array) -> Array:
        """Return their values at their places among all contacts, shape (ncone,), 0 elsewhere."""
        return jnp.sum(self.place * x, axis=1)


class AugmentedSystem(System):
    """The linear system at a point, of a problem with masses.

    The unknowns are the velocity, the impulses along the normals of the explicit contacts, and then those of their
    friction, one component after the other.
    """

    def __init__(self, p: Problem, z: Point, contact: Linear, loss: Linear, count: int):
        """Make so many contacts explicit."""
        super().__init__(p, z, contact, loss)
        self._explicit = _explicit(p, z, contact, count)
        self._others = System(_without(p, self._explicit.among), z, contact, loss)

    def matrix(self) -> Array:
        """Return the matrix, shape (n, n)."""
        own, cones = self._explicit, self._explicit.cones
        ndim, rubs = cones.J.shape[1], cones.used * own.scale
        J = jnp.concatenate([own.normal, *(cones.J[:, i] for i in range(ndim))])
        mass = jnp.concatenate([own.mass, *[cones.mass] * ndim])
        slide = [-sum((rubs * w)[:, None] * cones.J[:, j] for j, w in enumerate(row)) for row in own.linear.W]
        velocity = jnp.concatenate([(1 - own.loose)[:, None] * own.normal, *slide])
        diagonal = jnp.concatenate([own.loose, *[cones.mass * own.scale] * ndim])
        bound = jnp.concatenate([jnp.zeros_like(rubs), *(-rubs * w * own.mass for w in own.linear.w)])
        n = mass.shape[0]
        first = np.tile(np.eye(n // (1 + ndim), n, dtype=mass.dtype), (1 + ndim, 1))
        impulse = np.eye(n, dtype=mass.dtype) * diagonal[:, None] + first * bound[:, None]
        above = jnp.concatenate([self._others.matrix(), -(J * mass[:, None]).T], axis=1)
        return jnp.concatenate([above, jnp.concatenate([velocity, impulse], axis=1)])

    def side(self, motion: Array, f: Free) -> Array:
        """Return the right-hand side, shape (n,); motion: the residual."""
        own = self._explicit
        gamma, *c = (own.of(x) for x in (contact_bound(self._p, f.gamma), *f.c))
        friction = scaled(own.cones.used * own.scale, tuple(c))
        return jnp.concatenate([self._others.side(motion, f), own.used * own.loose * gamma / own.mass, *friction])

    def step(self, f: Free, nu: Array, change: Rates) -> Point:
        """Return the whole step that goes with a solution `nu`, shape (n,); change: `rates` of its velocity."""
        p, own = self._p, self._explicit
        nv, count = p.b.shape[0], own.mass.shape[0]
        normal, *friction = nu[nv:].reshape(-1, count)
        pushed = own.spread(own.used * own.mass * normal)
        gamma = self._others.impulses(f, change) + jnp.pad(pushed, (p.used.shape[0] - pushed.shape[0], 0))
        step = self.step_with(gamma, f, nu[:nv], change)
        c = joined(p.contact, tuple(own.spread(own.cones.mass * x) for x in friction))
        return step.replace(c=jnp.where(own.among[:, None] > 0, c, step.c))


def _explicit(p: Problem, z: Point, contact: Linear, count: int) -> _Explicit:
    """Return the stiffest contacts, so many."""
    ncone = p.contact.k.shape[0]
    order = lax.top_k(contact_bound(p, p.used * z.gamma / (z.s * p.mass)), count)[1]
    pair = p.used.shape[0] - ncone + order
    used, mass, s, gamma = (rows(x, pair) for x in (p.used, p.mass, z.s, z.gamma))
    held = s * mass / p.h
    cones, linear = jax.tree.map(lambda x: rows(x, order), (p.contact, contact))
    place = (jnp.arange(ncone)[:, None] == order).astype(p.b.dtype)
    return _Explicit(
        place=place,
        among=jnp.sum(place, axis=1),
        normal=rows(p.J.rest, pair - p.J.nlimit),
        used=used,
        mass=mass,
        loose=held / (held + gamma),
        cones=cones,
        linear=linear,
        scale=1 / (cones.mass + sum(sum(jnp.abs(x) for x in row) for row in linear.W)),
    )


def _without(p: Problem, which: Array) -> Problem:
    """Return the problem without contacts for which `which`, shape (ncone,), is 1."""
    left = 1 - which
    used = p.used * jnp.pad(left, (p.used.shape[0] - left.shape[0], 0), constant_values=1)
    return p.replace(used=used, contact=p.contact.replace(used=left * p.contact.used))
