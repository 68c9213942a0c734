"""The conditions of some rows of a world within the kernel of the search, and their linear system.

A row is a contact: a pair and its friction. Others are written as such: a pair without friction has none in use, and a
friction loss has no pair in use, but an impulse there that stays what it is, its bound. What stands in each row is an
array, vectors are tuples of them, and J has a column for each row. The formulas are those of `elimination`, `boundary`
and `interior_point`, which have all rows at once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.boundary import FAR, to_surface
from mjx_like.hard.components import Parts, added, dot, scaled
from mjx_like.hard.elimination import answer
from mjx_like.hard.kernel_pairs import Pairs, finite, powers
from mjx_like.hard.problem import friction
from mjx_like.hard.scaling import Scaling
from mjx_like.math.kernel import outer

Array = jax.Array


class Values(NamedTuple):
    """Slacks and impulses of a block, or their changes."""

    s: Array
    gamma: Array
    eta: Array
    c: Parts


class Condition(NamedTuple):
    """What is given of a block."""

    distance: Array
    k: Array
    used: Array
    cone_k: Array
    cone_used: Array
    short: Array  # 1 where friction may be left behind by a step, as of contacts, else 0
    J: Array  # of pairs, shape (size, rows)
    cone_J: tuple[Array, ...]  # of friction, by axis


class Free(NamedTuple):
    """What impulses and eta would do at a velocity that is held, but for the answer of c to gamma."""

    gamma: Array
    eta: Array
    c: Parts

    def combined(self, factor: Array, other: "Free") -> "Free":
        """Return this one and a multiple of another."""
        return jax.tree.map(lambda a, b: a + factor * b, self, other)


class Block:
    """The conditions of a block at a point."""

    def __init__(self, given: Condition, z: Values, h: Array, nu: Array):
        self.given, self.z = given, z
        self.slide = self.along(nu)
        self.pairs, self._rate = Pairs(given.distance, given.k, given.used, z.s, z.gamma, h), _along(given.J, nu)

    def along(self, step: Array) -> Parts:
        """Return the change of the sliding velocity that goes with a step of the velocity."""
        return tuple(_along(J, step) for J in self.given.cone_J)

    def impulse(self) -> Array:
        """Return J' impulse, by row: shape (size, rows), to be summed over its rows."""
        return self._push(self.z.gamma, self.z.c)

    def error(self, nu: Array, noise: float, looser: float) -> tuple[Array, Array]:
        """Return the largest residual over its natural size, but that of the motion, and the largest impulse."""
        given, z = self.given, self.z
        worst = self.pairs.error(self._rate, jnp.sum(jnp.abs(given.J * nu[:, None]), axis=0), noise)
        least = noise * z.gamma * z.eta
        off = [z.gamma * z.eta + dot(z.c, self.slide) - given.cone_k]
        off += [z.gamma * u + z.eta * c for u, c in zip(self.slide, z.c, strict=True)]
        for x in off:
            share = jnp.maximum(given.cone_used * jnp.abs(x) - least, 0) / (looser * given.cone_k)
            worst = jnp.maximum(worst, finite(share))
        return jnp.max(worst), jnp.max(given.used * jnp.abs(z.gamma))

    def count(self) -> Array:
        """Return how many products there are, as a float."""
        return jnp.sum(self.given.used + self.given.cone_used)

    def products(self, d: Values, slide: Parts) -> Parts:
        """Return the sum of products over their targets where a share x of the changes is made, by powers of x.

        slide: change of the sliding velocity.
        """
        given, z = self.given, self.z
        parts = zip((z.gamma, *z.c), (d.gamma, *d.c), (z.eta, *self.slide), (d.eta, *slide), strict=True)
        cone = tuple(sum(x) for x in zip(*(powers(*part) for part in parts), strict=True))
        total = added(self.pairs.products(d.s, d.gamma), scaled(given.cone_used / given.cone_k, cone))
        return tuple(jnp.sum(x) for x in total)

    def room(self, d: Values, slide: Parts) -> tuple[Array, Array]:
        """Return how far all rows can go, and how far those can that are not cones of contacts."""
        pairs, cones = self.pairs.room(d.s, d.gamma), self._cone_room(d, slide)
        others = jnp.minimum(pairs, jnp.where(self.given.short > 0, FAR, cones))
        return jnp.min(jnp.minimum(pairs, cones)), jnp.min(others)

    def moved(self, d: Values, slide: Parts, length: Array, longest: float, target: Array) -> Values:
        """Return slacks and impulses after a share `length` of the changes.

        Contacts whose cone would be beyond a share `longest` of its room take the friction that goes with the velocity
        there, at products of `target`.
        """
        z, given = self.z, self.given
        gamma = z.gamma + length * d.gamma
        c, eta = added(z.c, scaled(length, d.c)), z.eta + length * d.eta
        own, own_eta = friction(gamma, added(self.slide, scaled(length, slide)), target * given.cone_k)
        stops = (longest * self._cone_room(d, slide) < length) & (given.short > 0)
        c = tuple(jnp.where(stops, given.cone_used * a, b) for a, b in zip(own, c, strict=True))
        return Values(z.s + length * d.s, gamma, jnp.where(stops, own_eta, eta), c)

    def _cone_room(self, d: Values, slide: Parts) -> Array:
        z, used = self.z, self.given.cone_used
        return jnp.minimum(
            to_surface(used, z.gamma, z.c, d.gamma, d.c), to_surface(used, z.eta, self.slide, d.eta, slide)
        )

    def _push(self, gamma: Array, c: Parts) -> Array:
        given = self.given
        total = given.J * (given.used * gamma)[None, :]
        return sum((J * (given.cone_used * x)[None, :] for J, x in zip(given.cone_J, c, strict=True)), total)


class System(Block):
    """The linear system of a block at a point."""

    def __init__(self, given: Condition, z: Values, h: Array, nu: Array):
        super().__init__(given, z, h, nu)
        self._scaling = Scaling(z.gamma, z.c, z.eta, self.slide)

    def bend(self) -> Array:
        """Return the transposed part of the system, shape (size, size)."""
        given, linear = self.given, self._scaling.linear
        own = self.pairs.stiff()[None, :] * given.J
        total = outer(own, given.J)
        for w, row, J in zip(linear.w, linear.W, given.cone_J, strict=True):
            turned = sum(x[None, :] * other for x, other in zip(row, given.cone_J, strict=True))
            total = total + outer(given.cone_used[None, :] * (w[None, :] * own - turned), J)
        return total

    def away(self) -> Free:
        """Return what impulses do toward products of zero."""
        return self._free(self.pairs.away(self._rate), self._scaling.toward_zero)

    def back(self) -> Free:
        """Return what impulses do for products at their targets beyond those for zero."""
        return self._free(self.pairs.back(), scaled(self.given.cone_k, self._scaling.inverse))

    def bent(self, d: Values, slide: Parts) -> Free:
        """Return what impulses do for what the product of changes adds to the conditions."""
        second = self._scaling.second_order(d.gamma, d.c, d.eta, slide)
        return self._free(self.pairs.bent(d.s, d.gamma), scaled(-1, second))

    def _free(self, gamma: Array, side: Parts) -> Free:
        c, eta = self._scaling.remainder(side)
        return Free(gamma, eta, c)

    def push(self, f: Free, impulse: bool = False) -> Array:
        """Return J' f by row, shape (size, rows); impulse: of the impulse as well."""
        gamma, c = f.gamma, added(f.c, scaled(self.given.used * f.gamma, self._scaling.linear.w))
        if impulse:
            gamma, c = self.z.gamma + gamma, added(self.z.c, c)
        return self._push(gamma, c)

    def change(self, f: Free, step: Array) -> tuple[Values, Parts]:
        """Return the changes that go with a step of the velocity, and that of the sliding velocity."""
        given, slide = self.given, self.along(step)
        s, gamma = self.pairs.change(f.gamma, self._rate, _along(given.J, step))
        turned, grown = answer(self._scaling.linear, slide, gamma)
        c, eta = scaled(given.cone_used, added(f.c, turned)), given.cone_used * (f.eta + grown)
        return Values(s, gamma, eta, c), slide


def _along(J: Array, x: Array) -> Array:
    return jnp.sum(J * x[:, None], axis=0)
