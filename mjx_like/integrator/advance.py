"""The last part of every time step: activations, velocities, positions and time move on."""

import jax

from mjx_like.actuator.delay import recorded_controls
from mjx_like.actuator.stage import next_activation
from mjx_like.integrator.plastic import next_plastic
from mjx_like.integrator.position import integrate_pos
from mjx_like.sensor.stage import recorded_sensors
from mjx_like.tree.history import join
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model

Array = jax.Array


def advance(m: Model, d: Data, act_dot: Array, qacc: Array, qvel: Array | None = None) -> Data:
    """Return `d` with the state one time step later; `d.qacc` becomes the warm start of the next solve.

    act_dot: rate of the activations, shape (na,); qacc: mean acceleration over the step, shape (nv,);
    qvel: mean velocity over the step, shape (nv,), or None for the velocity at its end (semi-implicit).
    Reads time, qpos, qvel, act, qacc, history, ctrl, sensordata and what delayed sensors and `next_plastic` read.
    Writes time, qpos, qvel, act, plastic, history, qacc_warmstart.  Source: mj_advance.
    """
    h = m.opt.timestep
    act, history = d.act, d.history
    if m.nhistory:
        history = join(history, [*recorded_controls(m, d), *recorded_sensors(m, d)])
    if m.na and not m.disabled(DisableBit.ACTUATION):
        act = next_activation(m, d, act_dot)
    velocity = d.qvel + h * qacc
    mean = velocity if qvel is None else qvel
    qpos = integrate_pos(m, d.qpos, mean, h)
    return d.replace(
        time=d.time + h,
        history=history,
        act=act,
        qvel=velocity,
        qpos=qpos,
        plastic=next_plastic(m, d, qpos, mean),
        qacc_warmstart=d.qacc,
    )
