"""J of the pairs of a problem, of which limits of joints with one dof come first.

A row of those has one entry, known in advance: a product with it is a choice, and a system gets it on its diagonal.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.linalg import matmul
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, leaf, record, static

Array = jax.Array


@record
class PairRows(Record):
    """Rows of the rate of distance over nu: for each limited dof one from below and one from above, then others."""

    rest: Array = leaf("npair - 2 nlimited", "nv", unit="of the rate of distance over nu")
    limited: tuple[int, ...] = static()  # dofs, ascending

    @property
    def nlimit(self) -> int:
        """The number of limits."""
        return 2 * len(self.limited)

    def cut(self, lost: int) -> "PairRows":
        """Return all rows but so many at the end."""
        return self.replace(rest=self.rest[: self.rest.shape[0] - lost])

    def times(self, x: Array) -> Array:
        """Return J x, shape (npair,); x: shape (nv,)."""
        return self._rates(x, -1, self.rest)

    def sizes_times(self, x: Array) -> Array:
        """Return |J| x, shape (npair,)."""
        return self._rates(x, 1, jnp.abs(self.rest))

    def squares_times(self, x: Array) -> Array:
        """Return the squares of J times x, shape (npair,)."""
        return self._rates(x, 1, self.rest * self.rest)

    def transposed_times(self, f: Array) -> Array:
        """Return J' f, shape (nv,); f: shape (npair,)."""
        others = matmul(f[self.nlimit :], self.rest)
        return others + self.on_dofs(f, -1) if self.limited else others

    def on_dofs(self, x: Array, above: float) -> Array:
        """Return what the limits from below have of x, shape (npair,), plus a multiple of those from above, by dof."""
        sides = x[: self.nlimit].reshape(-1, 2)
        return placed(sides[:, 0] + above * sides[:, 1], self.limited, self.rest.shape[1])

    def _rates(self, x: Array, above: float, rest: Array) -> Array:
        others = matmul(rest, x)
        if not self.limited:
            return others
        below = chosen(x, self.limited)
        return jnp.concatenate([jnp.stack([below, above * below], axis=1).reshape(-1), others])


class LimitsFirst(NamedTuple):
    """The order of pairs without friction, in which limits of joints with one dof stand before all other rows."""

    dofs: tuple[int, ...]  # of those limits, ascending
    before: Array | int  # rows of other kinds that stand before them in Data

    @property
    def count(self) -> int:
        """The number of those limits."""
        return 2 * len(self.dofs)

    def from_rows(self, x: Array) -> Array:
        """Return rows, first axis, in this order."""
        count = self.count
        if not count or isinstance(self.before, int):
            return x
        limits = lax.dynamic_slice_in_dim(x, self.before, count)
        return jnp.concatenate([limits, self._chosen(x[:-count], x[count:])])

    def to_rows(self, x: Array) -> Array:
        """Return what stands in this order in the order of the rows, shape (n,)."""
        count = self.count
        if not count or isinstance(self.before, int):
            return x
        limits, others = x[:count], x[count:]
        place = jnp.arange(x.shape[0]) - self.before
        own = limits.at[jnp.clip(place, 0, count - 1)].get(mode="promise_in_bounds")
        rest = self._chosen(jnp.pad(others, (0, count)), jnp.pad(others, (count, 0)))
        return jnp.where((place >= 0) & (place < count), own, rest)

    def _chosen(self, first: Array, last: Array) -> Array:
        is_first = jnp.arange(first.shape[0]) < self.before
        return jnp.where(is_first.reshape(-1, *(1,) * (first.ndim - 1)), first, last)


def limits_first(m: Model, d: Data) -> LimitsFirst:
    """Return the order of the pairs of a model.  Reads ne, nf."""
    plan = m.plans.constraint
    begin = int(np.searchsorted(plan.slot_type, ConstraintType.LIMIT_JOINT))
    alone = (plan.slot_type == ConstraintType.LIMIT_JOINT) & (plan.slot_dof >= 0)
    count = int(np.argmin(np.append(alone[begin:], False)))
    if len(plan.slot_type) > m.njmax:
        return LimitsFirst((), 0)
    return LimitsFirst(tuple(plan.slot_dof[begin : begin + count : 2].tolist()), d.ne + d.nf if begin else 0)


def chosen(x: Array, at: tuple[int, ...]) -> Array:
    """Return entries of the first axis, at ascending places."""
    return jnp.concatenate([x[first:end] for first, end in _runs(at)])


def placed(x: Array, at: tuple[int, ...], size: int) -> Array:
    """Return entries at ascending places of the first axis, of so many, and zeros elsewhere."""
    parts, done, taken = [], 0, 0
    for first, end in _runs(at):
        parts += [jnp.zeros((first - done, *x.shape[1:]), x.dtype), x[taken : taken + end - first]]
        done, taken = end, taken + end - first
    return jnp.concatenate([*parts, jnp.zeros((size - done, *x.shape[1:]), x.dtype)])


def _runs(at: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the first place of each run of neighbours, and the one after its last."""
    breaks = np.flatnonzero(np.diff(at) != 1) + 1
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(np.asarray(at), breaks)]
