"""Kinematic levels and ancestor masks of a Topology."""

import numpy as np

from mjx_like.types.enums import TrnType
from mjx_like.types.plans import TreePlan
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> TreePlan:
    """Return the TreePlan: 0/1 masks that turn recursions along the tree into products."""
    body_ancestor = np.eye(t.nbody)
    depth = np.zeros(t.nbody, np.int32)
    for body in range(1, t.nbody):
        parent = t.body_parentid[body]
        body_ancestor[body] += body_ancestor[parent]
        depth[body] = depth[parent] + 1
    dof_ancestor = np.eye(t.nv)
    for dof in range(t.nv):
        if t.dof_parentid[dof] >= 0:
            dof_ancestor[dof] += dof_ancestor[t.dof_parentid[dof]]
    joint_trn = np.isin(t.actuator_trntype, (TrnType.JOINT, TrnType.JOINTINPARENT))
    target = t.actuator_trnid[:, 0]
    return TreePlan(
        body_ancestor=body_ancestor,
        body_dof=body_ancestor[:, t.dof_bodyid] if t.nv else np.zeros((t.nbody, 0)),
        dof_ancestor=dof_ancestor,
        levels=tuple(np.flatnonzero(depth == level) for level in range(1, depth.max(initial=0) + 1)),
        dof_actuator=((t.dof_jntid[:, None] == target) & joint_trn).astype(float),
        tendon_actuator=((np.arange(t.ntendon)[:, None] == target) & (t.actuator_trntype == TrnType.TENDON)).astype(
            float
        ),
    )
