"""What the kernel of the search reads and writes of the rows of a world, block by block; limits are in `kernel_pairs`.

Rows are other pairs without friction, then contacts, then friction losses; those in use stand first in each group. What
is given of a row and what stands there are columns of tables, so that a block is read at once. J is read dof by dof.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.components import parts
from mjx_like.hard.kernel_block import Condition, Values
from mjx_like.hard.problem import Point, Problem
from mjx_like.math.kernel import Dofs, blocks, triton

Array = jax.Array
T = TypeVar("T")

ROWS = 16  # of a block
PLACES = 3  # where points stand: two of the search, then the changes of a step
_FIELDS = 8  # of a table


class Groups(NamedTuple):
    """How many rows exist of each kind, and axes of friction."""

    plain: int
    contacts: int
    losses: int
    axes: int

    @property
    def first(self) -> tuple[int, int, int]:
        """The first row of each group."""
        return 0, self.plain, self.plain + self.contacts


class Inputs(NamedTuple):
    """What the kernel reads of rows, arrays of all worlds."""

    J: Any  # of pairs, shape (nv, plain + contacts)
    slide: Any  # J of friction, shape (axes, nv, contacts + losses); None without
    given: Any  # shape (_FIELDS, rows), fields as of `Condition`
    start: Any  # shape (_FIELDS, rows), fields as of `Values`, the components of c one by one
    counts: tuple[Any, Any, Any]  # rows in use of each group


def sizes(p: Problem) -> Groups:
    """Return how many rows there are."""
    contacts, losses = p.contact.k.shape[-1], p.loss.k.shape[-1]
    axes = max(p.contact.J.shape[-2] if contacts else 0, 1 if losses else 0)
    return Groups(p.k.shape[-1] - p.J.nlimit - contacts, contacts, losses, axes)


def inputs(p: Problem, z: Point) -> Inputs:
    """Return the rows of a batch; z: where the search starts."""
    groups = sizes(p)
    plain, contacts, losses, axes = groups
    distance, k, used, s, gamma = (x[:, p.J.nlimit :] for x in (p.distance, p.k, p.used, z.s, z.gamma))
    one, none = (jnp.full((p.k.shape[0], max(plain, losses)), x, p.k.dtype) for x in (1, 0))

    def rows(pairs: Array, loss: Array) -> Array:
        return jnp.concatenate([pairs, loss], axis=1)

    def cones(beside: Array, contact: Array, loss: Array) -> Array:
        return jnp.concatenate([beside[:, :plain], contact, loss], axis=1)

    given = (
        *(rows(x, y[:, :losses]) for x, y in ((distance, one), (k, one), (used, none))),
        cones(one, p.contact.k, p.loss.k),
        cones(none, p.contact.used, p.loss.used),
        rows(jnp.ones_like(k), none[:, :losses]),
    )
    c = (cones(none, x, y) for x, y in zip(_axes(z.c, axes), _axes(z.loss_c, axes), strict=True))
    start = (rows(s, one[:, :losses]), rows(gamma, p.bound), cones(one, z.eta, z.loss_eta), *c)
    slide = jnp.concatenate([_padded(p.contact.J, axes), _padded(p.loss.J, axes)], axis=1)
    by_group = used[:, :plain], used[:, plain:], p.loss.used
    return Inputs(
        J=p.J.rest.mT,
        slide=jnp.moveaxis(slide, 1, -1) if axes else None,
        given=_table(given),
        start=_table(start),
        counts=tuple(_in_use(x) for x in by_group),
    )


def _padded(x: Array, axes: int) -> Array:
    """Return J of cones, shape (batch, cones, axes of theirs, nv), with as many axes as all have."""
    return jnp.pad(x, ((0, 0), (0, 0), (0, axes - x.shape[2]), (0, 0))) if axes > x.shape[2] else x[:, :, :axes]


def _axes(x: Array, axes: int) -> tuple[Array, ...]:
    """Return the components of vectors, with as many axes as all have."""
    return (*parts(x)[:axes], *(jnp.zeros_like(x[..., 0]) for _ in range(axes - x.shape[-1])))


def _table(fields: tuple[Array, ...]) -> Array:
    """Return fields, shape (batch, rows) each, in one array, (batch, _FIELDS, rows)."""
    return jnp.stack([*fields, *(fields[0],) * (_FIELDS - len(fields))], axis=1)


def _in_use(used: Array) -> Array:
    """Return the number of the last row in use of each world, plus one."""
    number = jnp.arange(1, used.shape[1] + 1, dtype=jnp.int32)
    return jnp.max(jnp.where(used > 0, number, 0), axis=1, initial=0)


def point(
    groups: Groups, z: Point, nu: Array, counts: tuple[Array, ...], table: Array, limits: tuple[Array, Array]
) -> Point:
    """Return the points of a batch; rows beyond those in use are at a solution of their conditions.

    table: shape (batch, _FIELDS, rows); limits: s and gamma of limits, shape (batch, nlimit).
    """
    ends = zip(groups.first, groups[:3], counts, strict=True)
    inside = [jnp.arange(count) < used[:, None] for _, count, used in ends]

    def of(field: int, rest: float, *which: int) -> Array:
        found = [
            jnp.where(inside[i], table[:, field, groups.first[i] : groups.first[i] + groups[i]], rest) for i in which
        ]
        return jnp.concatenate(found, axis=1)

    def impulse(axes: int, which: int) -> Array:
        return jnp.stack([of(3 + i, 0, which) for i in range(axes)], axis=-1) if groups[which] else z.loss_c

    return Point(
        nu=nu,
        s=jnp.concatenate([limits[0], of(0, 1, 0, 1)], axis=1),
        gamma=jnp.concatenate([limits[1], of(1, 1, 0, 1)], axis=1),
        c=impulse(z.c.shape[-1], 1) if groups.contacts else z.c,
        eta=of(2, 1, 1),
        loss_c=impulse(1, 2) if groups.losses else z.loss_c,
        loss_eta=of(2, 1, 2),
    )


class Rows:
    """The rows in use of one world."""

    def __init__(self, given: Inputs, groups: Groups, places: Any, world: Array, dofs: Dofs):
        """places: memory of shape (batch, PLACES, _FIELDS, rows)."""
        self.given, self.groups, self.places, self.world, self.dofs = given, groups, places, world, dofs
        self.field = jnp.arange(_FIELDS, dtype=jnp.int32)
        self._counts = tuple(x[world] for x in given.counts)

    def fold(self, of_block: Callable[[Any, "Part"], T], start: T) -> T:
        """Return what becomes of `start` by a function that takes it and a block, and returns what becomes of it."""
        plain, contacts, losses = (blocks(count, ROWS) for count in self._counts)

        def add(i: Array, total: T) -> T:
            def own(*of_groups: Any) -> Array:
                a, b, c = (jnp.int32(x) for x in of_groups)
                return jnp.where(i < plain, a, jnp.where(i < plain + contacts, b, c))

            before, first, used = own(0, plain, plain + contacts), own(*self.groups.first), own(*self._counts)
            row = (i - before) * ROWS + jnp.arange(ROWS, dtype=jnp.int32)
            return of_block(total, Part(self, first + row, row < used))

        return lax.fori_loop(jnp.int32(0), plain + contacts + losses, add, start)

    def none(self) -> Array:
        """Return zeros of the shape of a block's push."""
        return jnp.zeros((self.dofs.size, ROWS), self.given.J.dtype)


class Part:
    """A block in memory."""

    def __init__(self, rows: Rows, row: Array, used: Array):
        self._rows, self._row, self._used = rows, row, used

    def condition(self) -> Condition:
        """Return what is given."""
        given, groups = self._rows.given, self._rows.groups
        table, there = self._read(given.given), jnp.where(self._used, 1, 0).astype(given.given.dtype)
        distance, k, used, cone_k, cone_used, short = (self._entry(table, i) for i in range(6))
        J = self._columns(given.J, self._row, self._row < groups.first[2])
        cone, above = self._row - groups.plain, self._row >= groups.plain
        slide = tuple(self._columns(given.slide, cone, above, jnp.int32(i)) for i in range(groups.axes))
        return Condition(distance, k, used * there, cone_k, cone_used * there, short, J, slide)

    def values(self, place: Array) -> Values:
        """Return what stands in a place."""
        table = self._read(self._rows.places, place)
        s, gamma, eta, *c = (self._entry(table, i) for i in range(3 + self._rows.groups.axes))
        return Values(s, gamma, eta, tuple(c))

    def write(self, place: Array, z: Values) -> None:
        """Write to a place."""
        table = jnp.zeros((_FIELDS, ROWS), z.s.dtype)
        for i, x in enumerate((z.s, z.gamma, z.eta, *z.c)):
            table = jnp.where((self._rows.field == i)[:, None], x[None, :], table)
        triton.store(self._rows.places.at[self._rows.world, place, *self._at()], table, mask=self._mask())

    def _at(self) -> tuple[Array, Array]:
        return self._rows.field[:, None], self._row[None, :] + self._rows.dofs.zero

    def _mask(self) -> Array:
        return jnp.broadcast_to(self._used[None, :], (_FIELDS, ROWS))

    def _read(self, ref: Any, *lead: Array) -> Array:
        """Return a table, shape (_FIELDS, ROWS), with ones in rows that are not in use."""
        return triton.load(ref.at[self._rows.world, *lead, *self._at()], mask=self._mask(), other=1)

    def _entry(self, table: Array, field: int) -> Array:
        return jnp.sum(jnp.where((self._rows.field == field)[:, None], table, 0), axis=0)

    def _columns(self, ref: Any, row: Array, there: Array, *lead: Array) -> Array:
        return self._rows.dofs.columns(ref, row, self._used & there, *lead)
