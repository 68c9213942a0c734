"""Regularisation of rows by the exact diagonal of J M^-1 J', in place of the approximation of the bodies' inertia."""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.constraint.adhesion import row_owners
from mjx_like.constraint.impedance import end_of_step, regularization
from mjx_like.math import safe
from mjx_like.math.linalg import cho_solve
from mjx_like.tree.blocks import full_j
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType
from mjx_like.types.model import Model

Array = jax.Array


def exact_diagonal(m: Model, d: Data, factor: Array) -> Data:
    """Return `d` with the rows regularised by the diagonal at the current position.

    All rows of a contact follow its first, as they do with the approximate diagonal.
    factor: the lower Cholesky factor of the metric, shape (nv, nv).
    Reads contact, nefc, efc_type, efc_id, efc_J, efc_KBIP. Writes efc_R, efc_D, efc_diagA.
    Source: mj_makeImpedance; option flag diagexact of the XML reference.
    """
    J = full_j(m, d)
    diagonal = jnp.sum(J * cho_solve(factor, J.T).T, axis=1)
    used, imp = jnp.arange(m.njmax) < d.nefc, d.efc_KBIP[:, 2]
    rise = None
    if m.plans.integrator.in_step:
        rise = end_of_step(d.efc_KBIP[:, 0], d.efc_KBIP[:, 1], imp, m.opt_floats.timestep)
    R = regularization(jnp.where(used, imp, 0.5), diagonal, rise)
    if m.plans.constraint.contact_dims:
        contact, edge, dim = row_owners(m, d)
        first, friction = R[jnp.where(edge >= 0, d.contact.efc_address[contact], 0)], d.contact.friction[contact]
        impratio = jnp.maximum(m.opt_floats.impratio, MINVAL)
        if m.flags.cone == ConeType.PYRAMIDAL:
            own = jnp.where(dim > 1, safe.ratio(2 * friction[:, 0] ** 2, impratio), 1) * first
        else:
            slips = [jnp.where(edge == i + 1, friction[:, i], 0) for i in range(5)]
            ratio = safe.divide(friction[:, 0], sum(slips))
            own = jnp.where(edge == 0, 1, safe.ratio(ratio * ratio, impratio)) * first
        R = jnp.where(edge >= 0, own, R)
    R = jnp.where(used, R, 1)
    return d.replace(
        efc_R=jnp.where(used, R, 0),
        efc_D=jnp.where(used, safe.ratio(1, R), 0),
        efc_diagA=safe.divide(R * imp, 1 - imp, where=used),
    )
