"""Forward dynamics: the pipeline in the order of the Computation chapter."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from mjx_like.actuator.stage import fwd_actuation
from mjx_like.actuator.transmission import actuator_velocity, transmission
from mjx_like.collision.buffer import without_contacts
from mjx_like.collision.driver import collision
from mjx_like.constraint.softening import active_from, finds_more, touches
from mjx_like.constraint.stage import make_constraint, reference_constraint
from mjx_like.hard.reach import reaching as hard_reaching
from mjx_like.hard.reach import touching
from mjx_like.hard.stage import finds_contacts, hard_constraint
from mjx_like.integrator.table import integrator_of
from mjx_like.passive.stage import passive
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.crb import crb, factor_m
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.smooth.rne import rne
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.smoothing import straight_through
from mjx_like.solver.stage import solve
from mjx_like.tendon.stage import tendon, tendon_bias, tendon_velocity
from mjx_like.tree.blocks import solve as solve_blocks
from mjx_like.types.data import Data
from mjx_like.types.enums import EnableBit, Stage, TrnType
from mjx_like.types.model import Model
from mjx_like.worlds import one_world, seems_one_world

Array = jax.Array


def fwd_position(m: Model, d: Data) -> Data:
    """Return `d` with all that depends on position: kinematics, inertia, tendons, contacts, constraint rows.

    Source: mj_fwdPosition.
    """
    seems_one_world("fwd_position", m, d)
    return position(m, d)


def position(m: Model, d: Data, more: Callable[[Model, Data], Data] | None = None, ahead: Array | None = None) -> Data:
    """Return what `fwd_position` does; more: what adds contacts to those that are found; ahead: as in `reaching`."""
    return _transmission(m, _contacts(m, _pose(m, d), more, ahead))


def _contacts(m: Model, d: Data, more: Callable[[Model, Data], Data] | None = None, ahead: Array | None = None) -> Data:
    d = collision(_reaching(m, d, ahead), d)
    d = d if more is None else more(m, d)
    if m.adhesive and finds_more(m):
        c = d.contact
        d = d.replace(contact=c.replace(adhesion=jnp.where(touches(m, c), c.adhesion, 0)))
    return make_constraint(m, d)


def _pose(m: Model, d: Data) -> Data:
    d = kinematics(m, d)
    d = com_pos(m, d)
    d = camlight(m, d)
    d = tendon(m, d)
    d = crb(m, d)
    return factor_m(m, d)


def _position_without_contacts(m: Model, d: Data) -> Data:
    """Return what `fwd_position` does for a step that finds its contacts later; rows are those of equalities."""
    d = without_contacts(m, _pose(m, d))
    d = make_constraint(m, d) if len(m.plans.constraint.equality_order) else d
    return _transmission(m, d)


def _transmission(m: Model, d: Data) -> Data:
    """Return `transmission`; bodies adhere where they touch, not where they are near enough to be found."""
    if TrnType.BODY not in m.actuator_trntype or not finds_more(m):
        return transmission(m, d)
    return _where_touching(transmission, m, d)


def _where_touching(stage: Callable[[Model, Data], Data], m: Model, d: Data) -> Data:
    """Return what a stage makes of `d` with the contacts that touch, and the contacts of `d`."""
    if m.hard is None:
        c = d.contact
        seen = d.replace(contact=c.replace(geom=jnp.where(touches(m, c)[:, None], c.geom, -1)))
    else:  # a step finds its contacts later
        seen = collision(touching(m), d)
    own = stage(m, seen)
    return own.replace(contact=d.contact, ncon=d.ncon, maxuse_con=d.maxuse_con, warning=d.warning)


def _reaching(m: Model, d: Data, ahead: Array | None) -> Model:
    """Return the model whose contacts are found where smoothing has them act, or where hard contact needs them."""
    if m.hard is not None:
        return hard_reaching(m, d, ahead)
    if m.smoothing is None:
        return m
    reach = active_from(m.smoothing)
    return m.replace(geom_gap=m.geom_gap + reach, pair_gap=m.pair_gap + reach)


def fwd_velocity(m: Model, d: Data) -> Data:
    """Return `d` with all that depends on velocity: body velocities, bias, passive forces, reference acceleration.

    Source: mj_fwdVelocity.
    """
    seems_one_world("fwd_velocity", m, d)
    d = tendon_velocity(m, d)
    d = actuator_velocity(m, d)
    d = com_vel(m, d)
    d = _passive(m, d)
    d = reference_constraint(m, d)
    d = rne(m, d)
    return tendon_bias(m, d)


def _passive(m: Model, d: Data) -> Data:
    """Return `passive`; with hard contact, geoms adhere where they touch, as bodies do (`_transmission`)."""
    if m.hard is None or not m.adhesive:
        return passive(m, d)
    return _where_touching(passive, m, d)


def fwd_acceleration(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration that it would have without constraints.

    With the integrator `discrete` it is the velocity change of the step over the time step.
    Reads qfrc_passive, qfrc_bias, qfrc_applied, qfrc_actuator, xfrc_applied, M, qLD; writes qfrc_smooth, qacc_smooth.
    Source: mj_fwdAcceleration.
    """
    seems_one_world("fwd_acceleration", m, d)
    qfrc_smooth = d.qfrc_passive - d.qfrc_bias + d.qfrc_applied + d.qfrc_actuator + xfrc_accumulate(m, d)
    in_step = integrator_of(m).in_step
    if in_step is not None:
        d = d.replace(qfrc_smooth=qfrc_smooth)
        return d.replace(qacc_smooth=in_step.smooth_acceleration(m, d))
    return d.replace(qfrc_smooth=qfrc_smooth, qacc_smooth=solve_blocks(m, d.M, qfrc_smooth, d.qLD))


def fwd_constraint(m: Model, d: Data) -> Data:
    """Return `d` with the constrained acceleration and the constraint forces.  Source: mj_fwdConstraint."""
    seems_one_world("fwd_constraint", m, d)
    if m.hard is not None:
        return hard_constraint(m, d, position, _contacts)
    in_step = integrator_of(m).in_step
    return solve(m, d) if in_step is None else in_step.constraint(m, in_step.inertia(m, d))


def forward_motion(m: Model, d: Data, skip_sensor: bool = False) -> Data:
    """Return `d` with all that depends on position and velocity.

    It is the part of `forward` that comes before controls and applied forces are read.
    """
    return _motion(m, fwd_position(m, d), skip_sensor)


def _motion(m: Model, d: Data, skip_sensor: bool) -> Data:
    d = d if skip_sensor else sensor_pos(m, d)
    d = energy_pos(m, d) if m.enabled(EnableBit.ENERGY) else d
    return _velocity(m, d, skip_sensor)


def _velocity(m: Model, d: Data, skip_sensor: bool) -> Data:
    d = fwd_velocity(m, d)
    d = d if skip_sensor else sensor_vel(m, d)
    return energy_vel(m, d) if m.enabled(EnableBit.ENERGY) else d


def forward_acceleration(m: Model, d: Data, skip_sensor: bool = False) -> Data:
    """Return `d` with forces and acceleration: the part of `forward` that reads controls and applied forces."""
    d = fwd_actuation(m, d)
    d = fwd_acceleration(m, d)
    d = fwd_constraint(m, d)
    return d if skip_sensor else sensor_acc(m, d)


def forward_skip(m: Model, d: Data, skip_stage: Stage = Stage.NONE, skip_sensor: bool = False) -> Data:
    """Return `d` after forward dynamics, without the stages up to `skip_stage`, which `d` has, or without sensors.

    skip_stage: NONE computes all; POS takes what depends on position as it is in `d`; VEL that on velocity as well.

    Raises:
      InputError: `d` is not one world of `m`.
    Source: mj_forwardSkip.
    """
    one_world("forward_skip", m, d, rows=skip_stage >= Stage.POS)
    return forward_from(m, d, skip_stage, skip_sensor)


def forward_from(m: Model, d: Data, skip_stage: Stage = Stage.NONE, skip_sensor: bool = False) -> Data:
    """Return what `forward_skip` does, of arguments that fit."""
    if skip_stage < Stage.POS:
        position = _position_without_contacts if finds_contacts(m) else fwd_position
        return forward_acceleration(m, _motion(m, position(m, d), skip_sensor), skip_sensor)
    if skip_stage < Stage.VEL:
        d = _velocity(m, d, skip_sensor)
    return forward_acceleration(m, d, skip_sensor)


def all_sensors(m: Model, d: Data) -> Data:
    """Return `d` with sensors, after forward dynamics without them, which have computed the energy if enabled."""
    sensed = sensor_acc(m, sensor_vel(m, sensor_pos(m, d)))
    return sensed.replace(energy=d.energy) if m.enabled(EnableBit.ENERGY) else sensed


def forward(m: Model, d: Data) -> Data:
    """Return `d` with every derived field computed from its state and inputs.

    Reads time, qpos, qvel, act, ctrl, qfrc_applied, xfrc_applied, eq_active, mocap poses and qacc_warmstart.

    Raises:
      InputError: `d` is not one world of `m`.
    Source: mj_forward.
    """
    one_world("forward", m, d)
    return straight_through(forward_from, m, d)
