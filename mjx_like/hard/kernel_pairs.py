"""One-sided pairs of a world within the kernel of the search, entry by entry, and the limits of joints among them.

The formulas are those of `elimination`, `boundary` and `interior_point`, which have all rows at once.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.boundary import FAR, to_zero
from mjx_like.hard.components import Parts, scaled
from mjx_like.hard.pair_rows import chosen, placed
from mjx_like.hard.problem import Problem

Array = jax.Array

_SIGNS = (1, -1)  # of the rate of distance over the velocity, from below and from above


class Pairs(NamedTuple):
    """One-sided pairs at a point, by row; what goes with a velocity is given as the rate of distance."""

    distance: Array
    k: Array
    used: Array
    s: Array
    gamma: Array
    h: Array

    def slack(self, rate: Array) -> Array:
        """Return the residual of s."""
        return self.used * (self.distance + self.h * rate - self.s)

    def stiff(self) -> Array:
        """Return how much the impulse falls with the rate, at targets that are held."""
        return self.used * self.h * (self.gamma / self.s)

    def error(self, rate: Array, size: Array, noise: float) -> Array:
        """Return the residuals over their natural sizes, the larger of each pair; size: |J| |nu|."""
        reach = jnp.abs(self.distance) + self.h * size
        worst = finite(jnp.maximum(jnp.abs(self.slack(rate)) - noise * reach, 0) / self.s)
        return jnp.maximum(worst, finite(self.used * jnp.abs(self.s * self.gamma - self.k) / self.k))

    def away(self, rate: Array) -> Array:
        """Return what impulses do toward products of zero, at a velocity that is held."""
        return -(self.used * (self.s * self.gamma) + self.gamma * self.slack(rate)) / self.s

    def back(self) -> Array:
        """Return what they do for products at their targets beyond those for zero."""
        return self.k / self.s

    def bent(self, s: Array, gamma: Array) -> Array:
        """Return what they do for what the product of changes adds to the conditions."""
        return -(s * gamma) / self.s

    def change(self, free: Array, rate: Array, step: Array) -> tuple[Array, Array]:
        """Return the changes of s and gamma that go with a step; free: what impulses do, step: change of the rate."""
        return self.used * self.h * step + self.slack(rate), self.used * free - self.stiff() * step

    def products(self, s: Array, gamma: Array) -> Parts:
        """Return products over their targets where a share x of the changes is made, by powers of x."""
        return scaled(self.used / self.k, powers(self.s, s, self.gamma, gamma))

    def room(self, s: Array, gamma: Array) -> Array:
        """Return how far pairs can go along changes."""
        return jnp.minimum(to_zero(self.used, self.s, s), to_zero(self.used, self.gamma, gamma))


class Sides(NamedTuple):
    """Slacks and impulses of limits from below and from above, by dof, or their changes; empty without limits."""

    s: tuple[Any, ...]
    gamma: tuple[Any, ...]


class Given(NamedTuple):
    """What is given of limits, by side and dof."""

    distance: tuple[Any, ...]
    k: tuple[Any, ...]
    used: tuple[Any, ...]


class Limits:
    """The conditions of limits at a point; a limit has the dof of its thread, so that its J is its sign."""

    def __init__(self, given: Given, z: Sides, h: Array, nu: Array):
        self._all = [Pairs(*side, h) for side in zip(*given, *z, strict=True)]
        self._nu = nu

    def impulse(self) -> Array:
        """Return J' impulse, by dof."""
        return self.push(tuple(pairs.gamma for pairs in self._all))

    def push(self, gamma: tuple[Array, ...]) -> Array:
        """Return J' of impulses, by dof."""
        parts = zip(_SIGNS, self._all, gamma, strict=False)
        return sum((sign * pairs.used * x for sign, pairs, x in parts), jnp.zeros_like(self._nu))

    def stiff(self) -> Array:
        """Return the diagonal that the limits add to the system."""
        return sum((pairs.stiff() for pairs in self._all), jnp.zeros_like(self._nu))

    def error(self, noise: float) -> tuple[Array, Array]:
        """Return the residuals over their natural sizes, the largest of each dof, and the largest impulse."""
        worst = largest = jnp.zeros_like(self._nu)
        for pairs, rate in self._with_rates(self._nu):
            worst = jnp.maximum(worst, pairs.error(rate, jnp.abs(self._nu), noise))
            largest = jnp.maximum(largest, pairs.used * jnp.abs(pairs.gamma))
        return worst, largest

    def away(self) -> tuple[Array, ...]:
        """Return what impulses do toward products of zero, at a velocity that is held."""
        return tuple(pairs.away(rate) for pairs, rate in self._with_rates(self._nu))

    def back(self) -> tuple[Array, ...]:
        """Return what they do for products at their targets beyond those for zero."""
        return tuple(pairs.back() for pairs in self._all)

    def bent(self, d: Sides) -> tuple[Array, ...]:
        """Return what they do for what the product of changes adds to the conditions."""
        return tuple(pairs.bent(*side) for pairs, *side in zip(self._all, *d, strict=True))

    def change(self, free: tuple[Array, ...], step: Array) -> Sides:
        """Return the changes that go with a step of the velocity; free: what impulses do while it is held."""
        parts = zip(free, self._with_rates(self._nu), self._with_rates(step), strict=True)
        found = [pairs.change(own, rate, turn) for own, (pairs, rate), (_, turn) in parts]
        return Sides(*zip(*found, strict=True)) if found else Sides((), ())

    def products(self, d: Sides) -> Parts:
        """Return the sums of products over their targets where a share x of the changes is made, by powers of x."""
        found = [pairs.products(*side) for pairs, *side in zip(self._all, *d, strict=True)]
        zero = jnp.zeros_like(self._nu)
        return tuple(jnp.sum(sum((x[i] for x in found), zero)) for i in range(3))

    def count(self) -> Array:
        """Return how many products there are, as a float."""
        return jnp.sum(sum((pairs.used for pairs in self._all), jnp.zeros_like(self._nu)))

    def room(self, d: Sides) -> Array:
        """Return how far all can go along changes."""
        room = jnp.full_like(self._nu, FAR)
        for pairs, *side in zip(self._all, *d, strict=True):
            room = jnp.minimum(room, pairs.room(*side))
        return jnp.min(room)

    def _with_rates(self, x: Array) -> Iterator[tuple[Pairs, Array]]:
        """Yield the pairs of each side with the rates of distance that a velocity makes."""
        return ((pairs, sign * x) for sign, pairs in zip(_SIGNS, self._all, strict=False))


def limits_given(p: Problem) -> Given:
    """Return what is given of the limits of a batch, shape (batch, nv) each; where there is none, none is used."""
    return Given(*(_sides(p, x, rest) for x, rest in ((p.distance, 1), (p.k, 1), (p.used, 0))))


def limits_at(p: Problem, s: Array, gamma: Array) -> Sides:
    """Return slacks and impulses of the limits of a batch; s, gamma: of all pairs."""
    return Sides(*(_sides(p, x, 1) for x in (s, gamma)))


def limits_in_order(p: Problem, sides: tuple[Array, ...], like: Array) -> Array:
    """Return what limits have in the order of the pairs, shape (batch, nlimit)."""
    if not sides:
        return like[:, :0]
    by_dof = jnp.stack(sides, axis=-1).swapaxes(0, 1)
    return chosen(by_dof, p.J.limited).swapaxes(0, 1).reshape(len(like), -1)


def _sides(p: Problem, x: Array, rest: float) -> tuple[Array, ...]:
    if not p.J.limited:
        return ()
    nv, both = p.b.shape[1], x[:, : p.J.nlimit].reshape(len(x), -1, 2)
    there = jnp.isin(jnp.arange(nv), jnp.asarray(p.J.limited))
    return tuple(jnp.where(there, placed(both[..., i].T, p.J.limited, nv).T, rest).astype(x.dtype) for i in range(2))


def finite(x: Array) -> Array:
    """Return infinity where x is not a number: a GPU's maximum of a number and what is none is the number."""
    return jnp.where(x == x, x, jnp.inf)


def powers(a: Array, da: Array, b: Array, db: Array) -> Parts:
    """Return a product where a share x of the changes is made, by powers of x."""
    return a * b, a * db + da * b, da * db
