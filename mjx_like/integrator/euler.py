"""Semi-implicit Euler, implicit in the damping of the joints."""

import jax
import jax.numpy as jnp

from mjx_like.integrator.advance import advance
from mjx_like.tree.blocks import added, full_matrix, solve
from mjx_like.tree.inherited import dof_damping_rate
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model

Array = jax.Array


def euler(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` was called before.

    Reads time, qpos, qvel, act, act_dot, qacc, M, qfrc_smooth, qfrc_constraint.
    Writes time, qpos, qvel, act, qacc_warmstart.  Source: mj_Euler.
    """
    implicit = m.plans.integrator.dof_damped.any() and not m.disabled(DisableBit.EULERDAMP)
    return advance(m, d, d.act_dot, damped_acceleration(m, d) if implicit else d.qacc)


def damped_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration of the step with the damping of the joints taken at its end, shape (nv,)."""
    return solve(m, damped_inertia(m, d), d.qfrc_smooth + d.qfrc_constraint)


def euler_metric(m: Model, d: Data) -> Array | None:
    """Return `damped_inertia`, shape (nv, nv); None where the step is explicit."""
    damped = m.plans.integrator.dof_damped.any() and not m.disabled(DisableBit.EULERDAMP)
    return full_matrix(m, damped_inertia(m, d)) if damped else None


def damped_inertia(m: Model, d: Data) -> Array:
    """Return the inertia matrix plus the time step times the damping of the joints, stored as M is.

    Damping that is linear and nowhere positive is taken at the start, as in MuJoCo.
    """
    rate = dof_damping_rate(m, d)
    if not m.plans.integrator.damping_beyond_linear:
        rate = jnp.where(jnp.any(m.dof_damping > 0), rate, 0)
    return added(m, d.M, m.opt.timestep * rate)
