"""Inverse dynamics: the applied force that explains an acceleration."""

import jax
import jax.numpy as jnp

from mjx_like.actuator.stage import fwd_actuation
from mjx_like.constraint.stage import reference_constraint
from mjx_like.forward import fwd_position, fwd_velocity, position
from mjx_like.hard.inverse import hard_inverse
from mjx_like.integrator.continuous import continuous_acceleration
from mjx_like.integrator.table import integrator_of
from mjx_like.math import safe
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.smooth.crb import mul_m
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.smoothing import straight_through
from mjx_like.solver.constraint_force import constraint_force
from mjx_like.types.data import Data
from mjx_like.types.enums import EnableBit, Stage
from mjx_like.types.model import Model
from mjx_like.worlds import one_world

Array = jax.Array


def inverse(m: Model, d: Data) -> Data:
    """Return `d` with the force `qfrc_inverse`, shape (nv,), that must be applied for `qacc` to hold.

    Contact and constraint forces follow from `qacc` in closed form. Actuators take no part: with the same state,
    `qfrc_inverse` after `forward` equals qfrc_applied + J' xfrc_applied + qfrc_actuator. With the flag `invdiscrete`,
    the integrator `discrete` or hard contact, `qacc` is the velocity change of a step over the time step. With hard
    contact the force is NaN where a contact or limit would be inside at the step's end: none is enough.
    Reads time, qpos, qvel, qacc, eq_active and mocap poses; of a step also ctrl and act.  Source: mj_inverse.

    Raises:
      InputError: `d` is not one world of `m`; the flag `invdiscrete` is set and the integrator is RK4.
      UnsupportedError: hard contact with restitution, or with the integrator `variational`.
    """
    one_world("inverse", m, d)
    return straight_through(_inverse_from, m, d)


def inverse_skip(m: Model, d: Data, skip_stage: Stage = Stage.NONE, skip_sensor: bool = False) -> Data:
    """Return `d` after inverse dynamics, without the stages up to `skip_stage`, which `d` has, or without sensors.

    skip_stage: NONE computes all; POS takes what depends on position as it is in `d`; VEL that on velocity as well.
    Source: mj_inverseSkip.

    Raises:
      InputError: as `inverse`.
    """
    one_world("inverse_skip", m, d, rows=skip_stage >= Stage.POS)
    return _inverse_from(m, d, skip_stage, skip_sensor)


def _inverse_from(m: Model, d: Data, skip_stage: Stage = Stage.NONE, skip_sensor: bool = False) -> Data:
    energy = m.enabled(EnableBit.ENERGY)
    if skip_stage < Stage.POS:
        d = fwd_position(m, d)
        d = d if skip_sensor else sensor_pos(m, d)
        d = energy_pos(m, d) if energy else d
    if skip_stage < Stage.VEL:
        d = fwd_velocity(m, d)
        d = d if skip_sensor else sensor_vel(m, d)
        d = energy_vel(m, d) if energy else d
    given = d.qacc
    d = _inverse_constraint(m, d) if m.hard is None else _hard_inverse(m, d, fresh=skip_stage < Stage.POS)
    return (d if skip_sensor else sensor_acc(m, d)).replace(qacc=given)


def _inverse_constraint(m: Model, d: Data) -> Data:
    """Return `d` with constraint forces and `qfrc_inverse`, and the acceleration in continuous time."""
    discrete, in_step = m.enabled(EnableBit.INVDISCRETE), integrator_of(m).in_step
    if discrete or in_step is not None:
        d = fwd_actuation(m, d)  # its slopes are in the metric of the step
    if discrete and in_step is None:
        d = d.replace(qacc=continuous_acceleration(m, d))
    d = constraint_force(m, d if in_step is None else in_step.inertia(m, d))
    inertial = mul_m(m, d, d.qacc) if in_step is None else in_step.force(m, d)
    return d.replace(qfrc_inverse=inertial + d.qfrc_bias - d.qfrc_passive - d.qfrc_constraint)


def _hard_inverse(m: Model, d: Data, fresh: bool) -> Data:
    """Return `d` with constraint forces and `qfrc_inverse`; fresh: whether the rows are those of the step's start."""
    if m.hard.refresh and not fresh:
        d = reference_constraint(m, fwd_position(m, d))  # `forward` left those of the step's end
    return hard_inverse(m, fwd_actuation(m, d), position)


def compare_fwd_inv(m: Model, d: Data) -> Data:
    """Return `d` with the norms of the differences between forward and inverse dynamics in `solver_fwdinv`.

    The first is of constraint forces, the second of applied forces, in joint space; `forward` was called before. Both
    are zero without constraints.
    Reads what `forward` wrote. Writes solver_fwdinv.  Source: mj_compareFwdInv.
    """
    one_world("compare_fwd_inv", m, d, rows=True)
    back = _inverse_from(m, d, Stage.VEL, skip_sensor=True)
    applied = d.qfrc_applied + d.qfrc_actuator + xfrc_accumulate(m, d)
    gaps = jnp.stack([safe.norm(d.qfrc_constraint - back.qfrc_constraint), safe.norm(applied - back.qfrc_inverse)])
    return d.replace(solver_fwdinv=jnp.where(d.nefc > 0, gaps, 0))
