"""What Newton's kernel reads and writes: its arguments and results, and the rows of one world, block by block.

A block has some plain rows, or all rows of some elliptic cones, axis by axis. What stands in each row is an array for
the former, and a tuple of arrays, one for each axis, for the latter. J is read dof by dof: a thread has all entries of
a row, so that J x is a sum without exchange between threads, and the law of a row is evaluated by one thread.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.kernel import Dofs, blocks, outer, triton
from mjx_like.solver.law import Law, cost_changes, curvature, force, state, zones
from mjx_like.types.enums import ConstraintState

Array = jax.Array

_ROWS = _CONES = 16  # of a block
_CLEARED = 128  # rows at once
_TOP, _BOTTOM, _MIDDLE = 0, 1, 2  # zones of a cone


class Inputs(NamedTuple):
    """What the kernel reads, arrays of all worlds: of the Problem and of the Start."""

    M: Any
    q: Any
    J: Any  # of plain rows, transposed: shape (nv, nplain)
    aref: Any
    D: Any
    low: Any
    high: Any
    loss: Any
    smooth: Any
    warm: Any
    nrow: Any  # plain rows in use
    tolerance: Any
    limit: Any
    J_cone: Any = None  # shape (axes, nv, ncone): threads beside each other read cones beside each other
    scale: Any = None  # as of Cone
    mu: Any = None
    ncone: Any = None  # cones in use


class Outputs(NamedTuple):
    """What the kernel writes; fields as of Solution."""

    qacc: Any
    force: Any
    constraint: Any
    state: Any
    iterations: Any
    residual: Any


class Block(Protocol):
    """Some rows of a world; those that are not in use are zero."""

    def along(self, x: Array) -> Any:
        """Return J x."""

    def residual(self, x: Array) -> Any:
        """Return J x - aref."""

    def push(self, residual: Any) -> Array:
        """Return J' force, by row: shape (size, rows), to be summed over its rows."""

    def bend(self, residual: Any) -> Array:
        """Return the Hessian of the cost, shape (size, size)."""

    def slope(self, residual: Any, direction: Any) -> tuple[Array, Array]:
        """Return the first two derivatives of the cost along a direction."""

    def change(self, start: Any, end: Any) -> Array:
        """Return the cost at `end` less that at `start`."""

    def moved(self, start: Any, end: Any) -> Array:
        """Return how many rows or cones are in other zones at `end`."""

    def curved(self, residual: Any) -> Array:
        """Return how many cones have a Hessian that changes within their zones."""

    def write(self, found: Outputs, residual: Any) -> None:
        """Write forces and states."""


class _Memory:
    """Access to rows of a world by their numbers."""

    def __init__(self, given: Inputs, world: Array, dofs: Dofs):
        self.given, self.world, self.dofs = given, world, dofs

    def load(self, ref: Any, at: tuple[Array, ...], used: Array) -> Array:
        return triton.load(ref.at[self.world, *at], mask=used, other=0)

    def store(self, ref: Any, row: Array, value: Array, inside: Array) -> None:
        triton.store(ref.at[self.world, row], value, mask=inside)


class _Plain:
    """Plain rows; `inside`: those that exist, in use or not."""

    def __init__(self, memory: _Memory, row: Array, used: Array, inside: Array):
        g = memory.given
        D, low, high, loss, self._aref = (memory.load(x, (row,), used) for x in (g.D, g.low, g.high, g.loss, g.aref))
        self._law = Law(D=D, low=low, high=high, loss=loss, cone=None)
        self._J = memory.dofs.columns(g.J, row, used)
        self._memory, self._row, self._used, self._inside = memory, row, used, inside

    def along(self, x: Array) -> Array:
        return jnp.sum(self._J * x[:, None], axis=0)

    def residual(self, x: Array) -> Array:
        return self.along(x) - self._aref

    def push(self, residual: Array) -> Array:
        return self._J * force(self._law, residual)[None, :]

    def bend(self, residual: Array) -> Array:
        weight, _ = curvature(self._law, zones(self._law, residual), residual, self._J)
        return outer(self._J * weight[None, :], self._J)

    def slope(self, residual: Array, direction: Array) -> tuple[Array, Array]:
        weight, _ = curvature(self._law, zones(self._law, residual), residual, self._J)
        return -jnp.sum(force(self._law, residual) * direction), jnp.sum(weight * direction * direction)

    def change(self, start: Array, end: Array) -> Array:
        return jnp.sum(cost_changes(self._law, start, end))

    def moved(self, start: Array, end: Array) -> Array:
        return jnp.sum(zones(self._law, start) != zones(self._law, end), dtype=jnp.int32)

    def curved(self, residual: Array) -> Array:
        return jnp.sum(residual != residual, dtype=jnp.int32) * 0

    def write(self, found: Outputs, residual: Array) -> None:
        f = jnp.where(self._used, force(self._law, residual), 0)
        s = jnp.where(self._used, state(self._law, zones(self._law, residual)), 0).astype(jnp.int32)
        for ref, value in ((found.force, f), (found.state, s)):
            self._memory.store(ref, self._row, value, self._inside)


class _Surface(NamedTuple):
    """Residuals of cones taken apart, as in `law`; shapes (ncone,), tuples by axis."""

    zone: Array
    gap: Array
    mass: Array
    unit: tuple[Array, ...]  # along the slip
    inverse_slip: Array


class _Cones:
    """The rows of elliptic cones; `inside`: the cones that exist, in use or not."""

    def __init__(self, memory: _Memory, cone: Array, first: int, axes: int, used: Array, inside: Array):
        g = memory.given
        self._rows = tuple(first + cone * axes + k for k in range(axes))
        self._J = tuple(memory.dofs.columns(g.J_cone, cone, used, jnp.int32(k)) for k in range(axes))
        self._aref, self._D = (tuple(memory.load(x, (row,), used) for row in self._rows) for x in (g.aref, g.D))
        numbers = (jnp.full_like(cone, k) for k in range(axes))
        self._scale = tuple(memory.load(g.scale, (cone, k), used) for k in numbers)
        self._mu = memory.load(g.mu, (cone,), used)
        self._memory, self._used, self._inside = memory, used, inside

    def along(self, x: Array) -> tuple[Array, ...]:
        return tuple(jnp.sum(J * x[:, None], axis=0) for J in self._J)

    def residual(self, x: Array) -> tuple[Array, ...]:
        return tuple(a - b for a, b in zip(self.along(x), self._aref, strict=True))

    def push(self, residual: tuple[Array, ...]) -> Array:
        return sum(J * f[None, :] for J, f in zip(self._J, self._force(residual), strict=True))

    def bend(self, residual: tuple[Array, ...]) -> Array:
        weights, K = self._curvature(residual, self._J)
        return sum(outer(rows * w[None, :], rows) for w, rows in zip(weights, K, strict=True))

    def slope(self, residual: tuple[Array, ...], direction: tuple[Array, ...]) -> tuple[Array, Array]:
        weights, K = self._curvature(residual, direction)
        first = -sum(jnp.sum(f * x) for f, x in zip(self._force(residual), direction, strict=True))
        return first, sum(jnp.sum(w * x * x) for w, x in zip(weights, K, strict=True))

    def change(self, start: tuple[Array, ...], end: tuple[Array, ...]) -> Array:
        return jnp.sum(self._cost(end) - self._cost(start))

    def moved(self, start: tuple[Array, ...], end: tuple[Array, ...]) -> Array:
        return jnp.sum(self._surface(start).zone != self._surface(end).zone, dtype=jnp.int32)

    def curved(self, residual: tuple[Array, ...]) -> Array:
        return jnp.sum(self._surface(residual).zone == _MIDDLE, dtype=jnp.int32)

    def write(self, found: Outputs, residual: tuple[Array, ...]) -> None:
        zone, states = self._surface(residual).zone, ConstraintState
        own = jnp.where(zone == _MIDDLE, int(states.CONE), int(states.QUADRATIC))
        own = jnp.where(self._used, jnp.where(zone == _TOP, int(states.SATISFIED), own), 0).astype(jnp.int32)
        for row, f in zip(self._rows, self._force(residual), strict=True):
            self._memory.store(found.force, row, jnp.where(self._used, f, 0), self._inside)
            self._memory.store(found.state, row, own, self._inside)

    def _surface(self, residual: tuple[Array, ...]) -> _Surface:
        mu, scaled = self._mu, tuple(r * s for r, s in zip(residual, self._scale, strict=True))
        normal, slips = scaled[0], scaled[1:]
        slip = jnp.sqrt(sum(x * x for x in slips))
        inverse = jnp.where(slip > 0, 1 / jnp.where(slip > 0, slip, 1), 0)
        gap = normal - mu * slip
        below = jnp.where(mu * normal + slip <= 0, _BOTTOM, _MIDDLE)
        mass = self._D[0] / jnp.maximum(mu * mu * (1 + mu * mu), MINVAL)
        return _Surface(jnp.where(gap >= 0, _TOP, below), gap, mass, tuple(x * inverse for x in slips), inverse)

    def _pick(self, zone: Array, middle: Array, bottom: Array) -> Array:
        return jnp.where(zone == _MIDDLE, middle, jnp.where(zone == _BOTTOM, bottom, 0))

    def _force(self, residual: tuple[Array, ...]) -> tuple[Array, ...]:
        s = self._surface(residual)
        normal = -s.mass * s.gap * self._mu
        middle = (normal, *(-normal * u * scale for u, scale in zip(s.unit, self._scale[1:], strict=True)))
        bottom = (-D * r for D, r in zip(self._D, residual, strict=True))
        return tuple(self._pick(s.zone, a, b) for a, b in zip(middle, bottom, strict=True))

    def _cost(self, residual: tuple[Array, ...]) -> Array:
        s = self._surface(residual)
        bottom = 0.5 * sum(D * r * r for D, r in zip(self._D, residual, strict=True))
        return self._pick(s.zone, 0.5 * s.mass * s.gap * s.gap, bottom)

    def _curvature(self, residual: tuple[Array, ...], rows: tuple[Array, ...]) -> tuple[Any, Any]:
        """Return weights w and rows K, axis by axis, with the sum of K' diag(w) K the Hessian of J' s'' J.

        rows: J, or the changes of the residuals along a direction.
        """
        s = self._surface(residual)

        def each(x: Array) -> Array:
            return x if rows[0].ndim == 1 else x[None, :]

        scaled = tuple(each(scale) * row for scale, row in zip(self._scale, rows, strict=True))
        lost = (self._mu, *s.unit)
        along = sum(each(u) * row for u, row in zip(s.unit, scaled[1:], strict=True))
        middle = each(s.zone == _MIDDLE)
        K = tuple(jnp.where(middle, a - each(share) * along, b) for a, share, b in zip(scaled, lost, rows, strict=True))
        tangent = -s.mass * s.gap * self._mu * s.inverse_slip
        weights = (s.mass, *(tangent for _ in s.unit))
        return tuple(self._pick(s.zone, w, D) for w, D in zip(weights, self._D, strict=True)), K


class Rows:
    """The rows in use of one world, block by block."""

    def __init__(self, given: Inputs, world: Array, nplain: int, cones: tuple[int, int], dofs: Dofs):
        """nplain: plain rows that exist; cones: how many cones exist, and their axes."""
        self._memory, self._nplain, self._cones = _Memory(given, world, dofs), nplain, cones
        self._rows_used = given.nrow[world]
        self._cones_used = None if given.ncone is None else given.ncone[world]

    def sums(self, of_block: Callable[[Block], Any], zero: Any) -> Any:
        """Return the sum over the blocks in use of what a function gives; zero: of its structure."""
        plain = blocks(self._rows_used, _ROWS)
        total = self._over(self._plain, plain, of_block, zero)
        if self._cones_used is None:
            return total
        return self._over(self._cone_block, blocks(self._cones_used, _CONES), of_block, total)

    def pushes(self) -> Array:
        """Return zeros of the shape of a block's push."""
        return jnp.zeros((self._memory.dofs.size, _ROWS), self._memory.given.M.dtype)

    def write(self, found: Outputs, x: Array) -> Array:
        """Write forces and states at an acceleration, of rows that are not in use as well; return J' force."""

        def written(b: Block) -> Array:
            residual = b.residual(x)
            b.write(found, residual)
            return b.push(residual)

        used = blocks(self._rows_used, _ROWS)
        push = self._over(self._plain, used, written, self.pushes())
        self._clear(found, used * _ROWS, self._nplain)
        if self._cones_used is not None:
            (count, axes), used = self._cones, blocks(self._cones_used, _CONES)
            push = self._over(self._cone_block, used, written, push)
            self._clear(found, self._nplain + used * _CONES * axes, self._nplain + count * axes)
        return jnp.sum(push, axis=1)

    def _clear(self, found: Outputs, first: Array, end: int) -> None:
        """Write zeros for the rows from `first` on."""

        def clear(i: Array, none: Array) -> Array:
            row = first + i * _CLEARED + jnp.arange(_CLEARED, dtype=jnp.int32)
            for ref in (found.force, found.state):
                self._memory.store(ref, row, jnp.zeros(_CLEARED, ref.dtype), row < end)
            return none

        lax.fori_loop(jnp.int32(0), blocks(end - first, _CLEARED), clear, jnp.int32(0))

    def _plain(self, i: Array) -> _Plain:
        row = i * _ROWS + jnp.arange(_ROWS, dtype=jnp.int32)
        return _Plain(self._memory, row, row < self._rows_used, row < self._nplain)

    def _cone_block(self, i: Array) -> _Cones:
        cone, (count, axes) = i * _CONES + jnp.arange(_CONES, dtype=jnp.int32), self._cones
        return _Cones(self._memory, cone, self._nplain, axes, cone < self._cones_used, cone < count)

    def _over(self, block: Callable[[Array], Block], count: Array, of_block: Callable[[Block], Any], start: Any) -> Any:
        def add(i: Array, total: Any) -> Any:
            return jax.tree.map(jnp.add, total, of_block(block(i)))

        return lax.fori_loop(jnp.int32(0), count, add, start)
