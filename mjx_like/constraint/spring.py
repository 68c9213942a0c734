"""The springs behind all rows: stiffness, damping, impedance and regularisation of slots and contacts at once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.impedance import (
    DEFAULT_SOLREF,
    end_of_step,
    impedance,
    regularization,
    resolved,
    stiffness_damping,
    valid_solimp,
    valid_solref,
)
from mjx_like.constraint.softening import softened, softened_impedance
from mjx_like.types.enums import ConstraintType, DisableBit
from mjx_like.types.model import Model

Array = jax.Array

_FRICTION = (ConstraintType.FRICTION_DOF, ConstraintType.FRICTION_TENDON)
LIMIT = (ConstraintType.LIMIT_JOINT, ConstraintType.LIMIT_TENDON)


class Sources(NamedTuple):
    """What springs follow from, shapes (n, ...)."""

    solref: Array
    solimp: Array
    violation: Array  # position less margin
    diagonal: Array  # approximate diagonal of J M^-1 J'


class Springs(NamedTuple):
    """The springs, shapes (n,)."""

    k: Array
    b: Array
    imp: Array
    slope: Array
    R: Array
    soft: Array  # the violation at which the spring acts: the true one, but where rows begin gradually


def springs(m: Model, s: Sources) -> Springs:
    """Return the springs of all slots, then of all contacts.

    Springs of the integrator `discrete` act at the end of the step. Friction loss has no stiffness.
    Source: mj_makeImpedance.
    """
    kind = m.plans.constraint.slot_type
    contact = np.arange(s.violation.shape[0]) >= len(kind)
    kind = np.append(kind, np.full(contact.sum(), ConstraintType.CONTACT_PYRAMIDAL))
    limit, h = np.isin(kind, LIMIT), m.opt_floats.timestep
    refsafe, discrete = not m.disabled(DisableBit.REFSAFE), m.plans.integrator.in_step
    solref = valid_solref(s.solref, h, refsafe and not discrete, DEFAULT_SOLREF)
    k, b = stiffness_damping(solref, valid_solimp(s.solimp)[1])
    k = jnp.where(np.isin(kind, _FRICTION), 0, k)
    imp, slope, soft = _impedance(m, s, contact, limit)
    if discrete and refsafe:
        least = resolved(k, b, imp, solref, h)
        k, b = (jnp.where(limit | contact, new, x) for new, x in zip(least, (k, b), strict=True))
    R = regularization(imp, s.diagonal, end_of_step(k, b, imp, h) if discrete else None)
    return Springs(k=k, b=b, imp=imp, slope=slope, R=R, soft=soft)


def _impedance(m: Model, s: Sources, contact: np.ndarray, limit: np.ndarray) -> tuple[Array, Array, Array]:
    """Return impedance, its slope, and the violation at which it acts; contacts and limits may begin gradually."""
    (imp, slope), soft = impedance(s.solimp, s.violation), s.violation
    if m.smoothing is not None:
        gradual = contact | (limit & m.smoothing.limits)
        eased, share = softened(m.smoothing, s.violation)
        imp = jnp.where(gradual, softened_impedance(impedance(s.solimp, eased)[0], share), imp)
        soft = jnp.where(gradual, eased, soft)
    return imp, slope, soft
