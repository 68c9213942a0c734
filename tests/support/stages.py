"""The smooth pipeline for tests: stages in order, one jitted call over states, comparison field by field."""

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from mjx_like.actuator.stage import fwd_actuation
from mjx_like.actuator.transmission import actuator_velocity, transmission
from mjx_like.passive.stage import passive
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.crb import crb, factor_m
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.smooth.rne import rne
from mjx_like.smooth.subtree_vel import subtree_vel
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.state.initial import make_data
from mjx_like.tendon.stage import tendon, tendon_bias, tendon_velocity
from tests.support.oracle import error, reference

POSITION = (kinematics, com_pos, camlight, tendon, crb, factor_m, transmission)
VELOCITY = (tendon_velocity, actuator_velocity, com_vel, subtree_vel, passive, rne, tendon_bias)
FORCE = (fwd_actuation, energy_pos, energy_vel)


def smooth(m, d, stages=POSITION + VELOCITY + FORCE):
    """Return d after the stages."""
    for stage in stages:
        d = stage(m, d)
    return d


def data(m):
    """Return Data of one world, constraints and collisions unbuilt or not."""
    return make_data(m.replace(topology=dataclasses.replace(m.topology, unsupported=())))


def batch(m, states):
    """Return Data with a leading axis over `states`."""
    stacked = {name: jnp.stack([jnp.asarray(s[name]) for s in states]) for name in states[0]}
    return jax.vmap(lambda state: data(m).replace(**state))(stacked)


def run(m, states, after=smooth):
    """Return `after(m, d)` of each state, jitted and vmapped."""
    return jax.jit(jax.vmap(after, (None, 0)))(m, batch(m, states))


def smooth_force(m, d):
    """Return the sum of all joint forces but those of constraints, shape (nv,)."""
    return d.qfrc_passive - d.qfrc_bias + d.qfrc_applied + d.qfrc_actuator + xfrc_accumulate(m, d)


def errors(mj, out, states, names):
    """Return the worst error over the states for each field; sparse ones of MuJoCo are made dense."""
    worst = dict.fromkeys(names, 0.0)
    for i, state in enumerate(states):
        ref = reference(mj, state)
        for name in names:
            worst[name] = max(worst[name], error(getattr(out, name)[i], dense(mj, ref, name)))
    return worst


def dense(mj, ref, name):
    """Return a field of MjData as this package stores it."""
    if name == "M":
        full = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, ref, full)
        return full
    if name == "ten_J":
        full = np.zeros((mj.ntendon, mj.nv))
        mujoco.mju_sparse2dense(full, ref.ten_J.ravel(), mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind)
        return full
    if name == "actuator_moment":
        full = np.zeros((mj.nout, mj.nv))
        mujoco.mju_sparse2dense(
            full, ref.actuator_moment.ravel(), ref.moment_rownnz, ref.moment_rowadr, ref.moment_colind
        )
        return full
    return getattr(ref, name)
