"""From the velocity change of a step back to the acceleration before integration."""

import jax

from mjx_like.errors import InputError
from mjx_like.integrator.table import integrator_of
from mjx_like.math.linalg import matmul
from mjx_like.tree.blocks import solve
from mjx_like.types.data import Data
from mjx_like.types.enums import IntegratorType
from mjx_like.types.model import Model

Array = jax.Array


def continuous_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration, shape (nv,), that the integrator turns into the mean acceleration `qacc` of a step.

    Reads qacc, M, qLD, qvel and what the integrator's metric reads.

    Raises:
      InputError: an integrator whose step has no inverse.
    Source: mj_discreteAcc.
    """
    row = integrator_of(m)
    if row.metric is None:
        name = IntegratorType(m.flags.integrator).keyword
        raise InputError(f"flag invdiscrete: a step of {name} cannot be inverted; take another integrator")
    metric = row.metric(m, d) if m.nv else None
    return d.qacc if metric is None else solve(m, d.M, matmul(metric, d.qacc), d.qLD)
