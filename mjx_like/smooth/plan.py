"""The plan of smooth/: nodes of forward kinematics, kinds of dofs, masks of the velocity recursion."""

import math

import numpy as np

from mjx_like.math.block_mask import BlockMask, alike
from mjx_like.tree import groups
from mjx_like.types.enums import JointType
from mjx_like.types.plans import SmoothPlan
from mjx_like.types.topology import Topology

_MOST_PLACES = 8  # of the table of depths, for each node


def make_plan(t: Topology) -> SmoothPlan:
    """Return the SmoothPlan of a Topology."""
    nodes, parent, node_body = _nodes(t)
    several = groups.several(t)
    paths = (_path_blocks if several else _paths)(t, parent, node_body, nodes["body_node"])
    return SmoothPlan(**nodes, **_dofs(t), **paths, **(_mask_blocks if several else _masks)(t))


def _nodes(t: Topology) -> tuple[dict, np.ndarray, np.ndarray]:
    """Lay out the nodes: the world, then the joints of each body, or one fixed node; with the node before, the body."""
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
    parent = np.array(parent, np.int32)
    nodes = dict(
        node_parent=parent,
        node_left=_left_factors(parent),
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
        **_levels(parent, last[body], slide),
    )
    return nodes, parent, body


def _paths(t: Topology, parent: np.ndarray, node_body: np.ndarray, body_node: np.ndarray) -> dict:
    """Return which nodes come before which."""
    ancestor = np.eye(len(parent))
    for node in range(1, len(parent)):
        ancestor[node] += ancestor[parent[node]]
    return dict(body_path=ancestor[body_node], node_before=ancestor - np.eye(len(parent)))


def _path_blocks(t: Topology, parent: np.ndarray, node_body: np.ndarray, body_node: np.ndarray) -> dict:
    """Return what `_paths` does as blocks, without the world, which never moves."""
    paths, before = [], []
    root = t.body_rootid[node_body]
    for g, own in zip(groups.groups(t), groups.members(root)[1:], strict=True):
        ancestor = groups.ancestors(own, parent)
        paths.append((ancestor[np.searchsorted(own, body_node[g.body])], g.body, own))
        before.append((ancestor - np.eye(own.size), own, own))
    return dict(
        body_path=BlockMask((t.nbody, len(parent)), alike(paths)),
        node_before=BlockMask((len(parent), len(parent)), alike(before)),
    )


def _left_factors(parent: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return, for each round of Sklansky's prefix product along every chain, the node that multiplies from the left.

    A round joins blocks of 1, 2, 4, ... nodes in pairs, counted from the root: in the second block of a pair each node
    takes the product up to the end of the first, elsewhere it takes the world's, which is one. So a node that does not
    turn has its parent's product to the last bit, whatever its depth, as in MuJoCo: fingers on slide joints stay
    exactly parallel.  Source: Sklansky, Conditional-Sum Addition Logic, 1960.
    """
    depth = _depth(parent)
    rank = np.maximum(depth - 1, 0)
    rounds, end = [], parent  # end: the last node before the node's own block
    for r in range(int(rank.max(initial=0)).bit_length()):
        rounds.append(np.where(rank >> r & 1, end, 0))
        end = np.where(rank >> r & 1, end[end], end)
    return tuple(rounds)


def _levels(parent: np.ndarray, end: np.ndarray, slide: np.ndarray) -> dict[str, np.ndarray]:
    """Lay out the nodes but the world by depth; of no size where most of the table would be empty.

    end: the last node of each node's body.
    """
    depth = _depth(parent)[1:]
    width = np.bincount(depth - 1) if depth.size else np.zeros(0, int)
    shape = width.size, width.max(initial=0)
    if math.prod(shape) > _MOST_PLACES * parent.size:
        shape = 0, 0
    order = np.argsort(depth, kind="stable")
    first = np.cumsum(width) - width
    column = np.zeros(parent.size, np.int32)
    column[1 + order] = np.arange(order.size) - first[depth[order] - 1]
    place = (depth - 1) * shape[1] + column[1:]
    table = np.zeros(shape, np.int32)
    if table.size:
        table.ravel()[place] = np.arange(1, parent.size)
    return dict(
        level_node=table,
        level_parent=column[parent][table],
        level_end=(end == np.arange(parent.size))[table],
        level_slide=slide[table],
        node_place=place,
    )


def _depth(parent: np.ndarray) -> np.ndarray:
    """Return the depth of each node below the world."""
    depth = np.zeros(len(parent), np.int32)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return depth


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
    _carry(t, _dofs(t), dof_before, np.arange(t.nv))
    inertia = ancestor.T.copy()
    inertia[0], inertia[:, 0] = 0, 0
    return dict(
        velocity_mask=np.concatenate([ancestor[:, t.dof_bodyid], dof_before]) if t.nv else np.zeros((t.nbody, 0)),
        inertia_mask=inertia,
    )


def _mask_blocks(t: Topology) -> dict:
    """Return what `_masks` does as blocks."""
    velocity, inertia, kinds = [], [], _dofs(t)
    for g in groups.groups(t):
        before = g.chain - np.eye(g.dof.size)
        _carry(t, kinds, before, g.dof)
        matrix = np.concatenate([groups.moves(t, g), before])
        velocity.append((matrix, np.concatenate([g.body, t.nbody + g.dof]), g.dof))
        inertia.append((g.ancestor.T, g.body, g.body))
    return dict(
        velocity_mask=BlockMask((t.nbody + t.nv, t.nv), alike(velocity)),
        inertia_mask=BlockMask((t.nbody, t.nbody), alike(inertia)),
    )


def _carry(t: Topology, kinds: dict[str, np.ndarray], before: np.ndarray, dof: np.ndarray) -> None:
    """Clear from the mask of the dofs before some dofs those that do not carry the axis of a ball or free joint."""
    joint, rotating = t.dof_jntid[dof], kinds["dof_rotating"][dof]
    before[(joint[:, None] == joint[None, :]) & rotating[:, None] & rotating[None, :]] = 0
    before[kinds["dof_shifting"][dof]] = 0
