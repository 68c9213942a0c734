"""The rows of Data as the solver has them: the primal problem, and where each row stands in it."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.select import rows_or_zero
from mjx_like.solver.law import Cone, Law, row_bounds
from mjx_like.solver.problem import Problem
from mjx_like.tree.blocks import full_j
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType
from mjx_like.types.model import Model

Array = jax.Array


class PlainLayout:
    """Rows stand as they do in Data."""

    def __init__(self, d: Data):
        self.nplain = d.nefc
        self.ncone = jnp.zeros_like(d.nefc)
        self.cone = None

    def from_rows(self, x: Array) -> Array:
        """Return the rows of `x` in the solver's order."""
        return x

    def to_rows(self, x: Array) -> Array:
        """Return what stands in the solver's order in the order of the rows."""
        return x


class ConeLayout:
    """Slots stand first, then `ndim` rows for each contact, so that cones are blocks."""

    def __init__(self, m: Model, d: Data):
        c, plan = d.contact, m.plans.constraint
        ndim, nslot = max(plan.contact_dims), min(len(plan.slot_type), m.njmax)
        axis = np.arange(ndim)
        inside = (c.efc_address[:, None] >= 0) & (axis < c.dim[:, None])
        slot, row = jnp.arange(nslot, dtype=jnp.int32), jnp.arange(m.njmax, dtype=jnp.int32)
        in_contact = jnp.where(inside, c.efc_address[:, None] + axis, m.njmax).reshape(-1).astype(jnp.int32)
        self.nplain = d.ne + d.nf + d.nl
        self._source = jnp.concatenate([jnp.where(slot < self.nplain, slot, m.njmax), in_contact])
        contact = jnp.where((row >= self.nplain) & (row < d.nefc), d.efc_id, 0)
        own = nslot + contact * ndim + row - c.efc_address.at[contact].get(mode="promise_in_bounds")
        own = jnp.where(row < self.nplain, row, own)
        self._position = jnp.where(row < d.nefc, own, self._source.size)
        number = jnp.arange(1, m.nconmax + 1, dtype=jnp.int32)
        self.ncone = jnp.max(jnp.where(c.efc_address >= 0, number, 0), initial=0)
        # a cone that is not in use, or has dimension 1, has slips of 0: it acts as one row
        mu = jnp.where(c.friction[:, 0] > 0, c.friction[:, 0], 1)
        mu = safe.ratio(mu, safe.sqrt(jnp.maximum(m.opt_floats.impratio, MINVAL)))
        slips = jnp.where(inside[:, 1:], c.friction[:, : ndim - 1], 0)
        self.cone = Cone(scale=jnp.concatenate([mu[:, None], slips], axis=1), mu=mu)

    def from_rows(self, x: Array) -> Array:
        """Return the rows of `x` in the solver's order, zero where there is none."""
        return rows_or_zero(x, self._source)

    def to_rows(self, x: Array) -> Array:
        """Return what stands in the solver's order in the order of the rows, zero where there is none."""
        return rows_or_zero(x, self._position)


def row_layout(m: Model, d: Data) -> PlainLayout | ConeLayout:
    """Return where the rows of `d` stand.  Reads efc_id, nefc, ne, nf, nl and contact."""
    elliptic = m.flags.cone == ConeType.ELLIPTIC and max(m.plans.constraint.contact_dims, default=1) > 1
    return ConeLayout(m, d) if elliptic else PlainLayout(d)


def row_problem(m: Model, d: Data, metric: Array, smooth: Array, layout: PlainLayout | ConeLayout) -> Problem:
    """Return the primal problem of the rows of `d`, which stand as `layout` says.

    Reads efc_type, efc_J, efc_aref, efc_R, efc_D and efc_frictionloss.
    """
    low, high = row_bounds(d.efc_type, d.efc_R, d.efc_frictionloss)
    rows = (full_j(m, d), d.efc_aref, d.efc_D, low, high, d.efc_frictionloss)
    J, aref, D, low, high, loss = (layout.from_rows(x) for x in rows)
    law = Law(D=D, low=low, high=high, loss=loss, cone=layout.cone)
    return Problem(M=metric, q=smooth, J=J, aref=aref, law=law)
