"""Kinematic levels and ancestor masks of a Topology."""

import numpy as np

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
    return TreePlan(
        body_ancestor=body_ancestor,
        body_dof=body_ancestor[:, t.dof_bodyid] if t.nv else np.zeros((t.nbody, 0)),
        dof_ancestor=dof_ancestor,
        levels=tuple(np.flatnonzero(depth == level) for level in range(1, depth.max(initial=0) + 1)),
    )
