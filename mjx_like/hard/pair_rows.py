"""J of the pairs of a problem; limits of joints with one dof come first, where no other rows come before them.

A row of those has one entry, known in advance: a product with it is a choice, and a system gets it on its diagonal.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
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


def limited_dofs(m: Model) -> tuple[int, ...]:
    """Return the dofs whose limits are the first rows of the model in every state, ascending."""
    plan = m.plans.constraint
    alone = (plan.slot_type == ConstraintType.LIMIT_JOINT) & (plan.slot_dof >= 0)
    count = int(np.argmin(np.append(alone, False)))
    return tuple(plan.slot_dof[:count:2].tolist()) if count <= m.njmax else ()


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
