"""Constraint forces of a given acceleration, for inverse dynamics."""

import jax.numpy as jnp

from mjx_like.constraint.plan import without_rows
from mjx_like.smooth.crb import full_m
from mjx_like.solver.law import force, state, zones
from mjx_like.solver.problem import times, transposed_times
from mjx_like.solver.rows import row_layout, row_problem
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def constraint_force(m: Model, d: Data) -> Data:
    """Return `d` with the constraint forces that go with the acceleration `qacc`.

    Reads qacc, efc_* and contact. Writes efc_force, efc_state, qfrc_constraint.  Source: mj_invConstraint.
    """
    if without_rows(m):
        return d.replace(qfrc_constraint=jnp.zeros_like(d.qfrc_constraint))
    layout = row_layout(m, d)
    p = row_problem(m, d, full_m(m, d), d.qfrc_smooth, layout)
    jar = times(p.J, d.qacc) - p.aref
    f = force(p.law, jar)
    used = jnp.arange(m.njmax) < d.nefc
    return d.replace(
        efc_force=layout.to_rows(f),
        efc_state=jnp.where(used, layout.to_rows(state(p.law, zones(p.law, jar))), 0).astype(d.efc_state.dtype),
        qfrc_constraint=transposed_times(p.J, f),
    )
