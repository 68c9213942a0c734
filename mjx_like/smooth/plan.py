"""The plan of smooth/: nodes of forward kinematics, kinds of dofs, masks of the velocity recursion."""

import numpy as np

from mjx_like.types.enums import JointType
from mjx_like.types.plans import SmoothPlan
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> SmoothPlan:
    """Return the SmoothPlan of a Topology."""
    return SmoothPlan(**_nodes(t), **_dofs(t), **_masks(t))


def _nodes(t: Topology) -> dict:
    """Lay out the nodes: the world, then for each body its joints, or one fixed node."""
    body, joint, parent, base, node_free = [0], [t.njnt], [0], [0], [0]
    nfree = 0
    last = np.zeros(t.nbody, np.int32)
    for b in range(1, t.nbody):
        joints = range(t.body_jntadr[b], t.body_jntadr[b] + t.body_jntnum[b])
        before = last[t.body_parentid[b]]
        pose = 1 + (t.nbody + t.body_mocapid[b] if t.body_mocapid[b] >= 0 else b)
        for j in joints or (t.njnt,):
            free = j < t.njnt and t.jnt_type[j] == JointType.FREE
            body.append(b)
            joint.append(j)
            parent.append(before)
            base.append(0 if free else pose)
            node_free.append(nfree)
            nfree += free
            before, pose = len(body) - 1, 0
        last[b] = before
    body, joint, base, node_free = (np.array(x, np.int32) for x in (body, joint, base, node_free))
    kind = np.append(t.jnt_type, -1)[joint]
    hinge, slide, free = (kind == x for x in (JointType.HINGE, JointType.SLIDE, JointType.FREE))
    quat, scalar = free | (kind == JointType.BALL), hinge | slide
    qposadr = np.append(t.jnt_qposadr, 0)[joint]
    node_quat = np.zeros(len(body), np.int32)
    node_quat[hinge] = 1 + np.arange(hinge.sum())
    node_quat[quat] = 1 + hinge.sum() + np.arange(quat.sum())
    node_slide = np.full(len(body), slide.sum())
    node_slide[slide] = np.arange(slide.sum())
    joint_node = np.flatnonzero(joint < t.njnt)
    ancestor = np.eye(len(body))
    for node in range(1, len(body)):
        ancestor[node] += ancestor[parent[node]]
    return dict(
        node_jump=_jumps(np.array(parent, np.int32)),
        node_ancestor=ancestor,
        node_before=ancestor - np.eye(len(body)),
        node_base_pos=np.where(free, 1 + t.nbody + t.nmocap + node_free, base),
        node_base_quat=base,
        node_joint=joint,
        node_quat=node_quat,
        node_slide=node_slide,
        scalar_qposadr=qposadr[scalar],
        scalar_hinge=np.flatnonzero(hinge[scalar]),
        scalar_slide=np.flatnonzero(slide[scalar]),
        hinge_joint=joint[hinge],
        quat_qposadr=(qposadr + 3 * free)[quat, None] + np.arange(4),
        free_qposadr=qposadr[free, None] + np.arange(3),
        body_node=last,
        frame_body=np.concatenate([np.arange(t.nbody), t.geom_bodyid, t.site_bodyid]),
        joint_node=joint_node,
    )


def _jumps(parent: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the ancestor, 1, 2, 4, ... nodes up, until all are the world."""
    jumps = []
    while parent.any():
        jumps.append(parent)
        parent = parent[parent]
    return tuple(jumps)


def _dofs(t: Topology) -> dict[str, np.ndarray]:
    """Return the kind of each dof."""
    kind = t.jnt_type[t.dof_jntid]
    rank = np.arange(t.nv) - t.jnt_dofadr[t.dof_jntid]
    free = kind == JointType.FREE
    rotates = (kind == JointType.BALL) | (free & (rank >= 3))
    return dict(
        dof_rotating=rotates,
        dof_shifting=free & (rank < 3),
        dof_column=np.where(rotates | free, rank % 3, 0),
        dof_slide=kind == JointType.SLIDE,
    )


def _masks(t: Topology) -> dict:
    """Return the masks; the axes of a ball, or of the rotations of a free joint, are carried by what precedes all."""
    ancestor = np.eye(t.nbody)
    for b in range(1, t.nbody):
        ancestor[b] += ancestor[t.body_parentid[b]]
    dof_before = np.zeros((t.nv, t.nv))
    for i in range(t.nv):
        if t.dof_parentid[i] >= 0:
            dof_before[i] = dof_before[t.dof_parentid[i]]
            dof_before[i, t.dof_parentid[i]] = 1
    kinds = _dofs(t)
    rotating = kinds["dof_rotating"]
    same = (t.dof_jntid[:, None] == t.dof_jntid[None, :]) & rotating[:, None] & rotating[None, :]
    dof_before[same] = 0
    dof_before[kinds["dof_shifting"]] = 0
    inertia = ancestor.T.copy()
    inertia[0], inertia[:, 0] = 0, 0
    return dict(
        velocity_mask=np.concatenate([ancestor[:, t.dof_bodyid], dof_before]) if t.nv else np.zeros((t.nbody, 0)),
        inertia_mask=inertia,
    )
