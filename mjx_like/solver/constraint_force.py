"""Constraint forces of a given acceleration, for inverse dynamics."""

from mjx_like.solver.law import force, state
from mjx_like.solver.problem import times, transposed_times
from mjx_like.solver.stage import row_law
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def constraint_force(m: Model, d: Data) -> Data:
    """Return `d` with the constraint forces that go with the acceleration `qacc`.

    Reads qacc, efc_* and contact. Writes efc_force, efc_state, qfrc_constraint.  Source: mj_invConstraint.
    """
    if m.njmax == 0 or m.plans.constraint.default_njmax == 0:
        return d.replace(qfrc_constraint=d.qfrc_constraint * 0)
    law, jar = row_law(m, d), times(d.efc_J, d.qacc) - d.efc_aref
    f = force(law, jar)
    return d.replace(
        efc_force=f,
        efc_state=state(law, jar).astype(d.efc_state.dtype),
        qfrc_constraint=transposed_times(d.efc_J, f),
    )
