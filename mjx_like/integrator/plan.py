"""The plan of integrator/: where scalar coordinates and quaternions stand, and which bodies are free."""

import numpy as np

from mjx_like.integrator.table import INTEGRATORS
from mjx_like.types.enums import DisableBit, IntegratorType, JointType
from mjx_like.types.plans import IntegratorPlan
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> IntegratorPlan:
    """Return the IntegratorPlan of a Topology."""
    free, ball = t.jnt_type == JointType.FREE, t.jnt_type == JointType.BALL
    rotating = free | ball
    quat_qpos = (t.jnt_qposadr + 3 * free)[rotating, None] + np.arange(4)
    quat_dof = (t.jnt_dofadr + 3 * free)[rotating, None] + np.arange(3)
    scalar_qpos = np.setdiff1d(np.arange(t.nq), quat_qpos)
    scalar_dof = np.setdiff1d(np.arange(t.nv), quat_dof)
    standalone = np.array([j for j in np.flatnonzero(free) if _standalone(t, t.jnt_bodyid[j])], np.int32)
    return IntegratorPlan(
        scalar_qpos=scalar_qpos,
        scalar_dof=scalar_dof,
        quat_qpos=quat_qpos,
        quat_dof=quat_dof,
        qpos_order=np.argsort(np.concatenate([scalar_qpos, quat_qpos.ravel()])),
        dof_order=np.argsort(np.concatenate([scalar_dof, quat_dof.ravel()])),
        **_damping(t),
        free_body=t.jnt_bodyid[standalone],
        free_dof=t.jnt_dofadr[standalone][:, None] + np.arange(6),
        in_step=INTEGRATORS[IntegratorType(t.flags.integrator)].in_step is not None,
    )


def _standalone(t: Topology, body: int) -> bool:
    """Whether the free body is the only one with joints in its tree."""
    return bool(np.sum(t.dof_treeid == t.dof_treeid[t.body_dofadr[body]]) == 6)


def _damping(t: Topology) -> dict:
    """Return which dofs and tendons are damped, by themselves or by an actuator."""
    on = not t.disabled(DisableBit.DAMPER)
    given = t.jnt_actuatorid[t.dof_jntid] != -1
    dof = t.has["dof_damping"] | t.has["dof_dampingpoly"] | given
    tendon = t.has["tendon_damping"] | t.has["tendon_dampingpoly"] | (t.tendon_actuatorid != -1)
    return dict(
        dof_damped=dof & on,
        tendon_damped=tendon & on,
        damping_beyond_linear=bool(t.has["dof_dampingpoly"].any() or given.any()),
    )
