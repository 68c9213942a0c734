"""From the velocity change of a step back to the acceleration before integration."""

import jax

from mjx_like.integrator.euler import damped_inertia
from mjx_like.integrator.implicit import implicit_metric
from mjx_like.integrator.implicitfast import implicitfast_metric
from mjx_like.math.linalg import matmul, solve_definite
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, IntegratorType
from mjx_like.types.model import Model

Array = jax.Array

METRICS = {
    IntegratorType.EULER: damped_inertia,
    IntegratorType.IMPLICIT: implicit_metric,
    IntegratorType.IMPLICITFAST: implicitfast_metric,
}


def continuous_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration, shape (nv,), that the integrator turns into the mean acceleration `qacc` of a step.

    Reads qacc, M, qLD, qvel and what the integrator's metric reads.  Source: mj_discreteAcc.
    """
    kind = IntegratorType(m.flags.integrator)
    explicit = kind == IntegratorType.EULER and (
        m.disabled(DisableBit.EULERDAMP) or not m.plans.integrator.dof_damped.any()
    )
    if explicit or not m.nv:
        return d.qacc
    return solve_definite(d.M, matmul(METRICS[kind](m, d), d.qacc), d.qLD)
