"""Kinematic levels and ancestor masks of a Topology."""

import numpy as np

from mjx_like.math.block_mask import Mask
from mjx_like.tree import groups
from mjx_like.tree.many import make_trees
from mjx_like.types.enums import TrnType
from mjx_like.types.plans import TreePlan
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> TreePlan:
    """Return the TreePlan: 0/1 masks that turn recursions along the tree into products."""
    joint_trn = np.isin(t.actuator_trntype, (TrnType.JOINT, TrnType.JOINTINPARENT))
    target = t.actuator_trnid[:, 0]
    pulls = (np.arange(t.ntendon)[:, None] == target) & (t.actuator_trntype == TrnType.TENDON)
    return TreePlan(
        **(_blocks(t) if groups.several(t) else _whole(t)),
        trees=make_trees(t),
        levels=_levels(t),
        dof_actuator=((t.dof_jntid[:, None] == target) & joint_trn).astype(float),
        tendon_actuator=pulls.astype(float),
    )


def _whole(t: Topology) -> dict[str, Mask]:
    """Return the masks as arrays."""
    body_ancestor, dof_ancestor = np.eye(t.nbody), np.eye(t.nv)
    for body in range(1, t.nbody):
        body_ancestor[body] += body_ancestor[t.body_parentid[body]]
    for dof in range(t.nv):
        if t.dof_parentid[dof] >= 0:
            dof_ancestor[dof] += dof_ancestor[t.dof_parentid[dof]]
    body_dof = body_ancestor[:, t.dof_bodyid] if t.nv else np.zeros((t.nbody, 0))
    return dict(body_ancestor=body_ancestor, body_dof=body_dof, dof_chain=dof_ancestor)


def _blocks(t: Topology) -> dict[str, Mask]:
    """Return the masks as blocks, one for each child of the world."""
    parts = groups.groups(t)
    return dict(
        body_ancestor=groups.body_ancestor(t, parts),
        body_dof=groups.body_dof(t, parts),
        dof_chain=groups.dof_ancestor(t, parts),
    )


def _levels(t: Topology) -> tuple[np.ndarray, ...]:
    """Return the bodies by depth."""
    depth = np.zeros(t.nbody, np.int32)
    for body in range(1, t.nbody):
        depth[body] = depth[t.body_parentid[body]] + 1
    return tuple(np.flatnonzero(depth == level) for level in range(1, depth.max(initial=0) + 1))
