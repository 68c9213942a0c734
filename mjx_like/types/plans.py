"""Every plan: what the compiler works out once from a Topology, as static NumPy arrays.

Each family's `plan.py` builds its record; stages read it as `m.plans.<family>`.
"""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class TreePlan:
    """Kinematic levels and ancestor masks; made by `tree.plan`."""

    body_ancestor: np.ndarray  # (nbody, nbody) 1 where column is the row's body or one of its ancestors
    body_dof: np.ndarray  # (nbody, nv) 1 where the column's dof moves the row's body
    dof_ancestor: np.ndarray  # (nv, nv) 1 where the column's dof is the row's dof or one of its ancestors
    levels: tuple[np.ndarray, ...]  # body ids by depth, the world excluded


@dataclasses.dataclass(frozen=True)
class SmoothPlan:
    """The nodes of forward kinematics and the dof tables of the smooth stages; made by `smooth.plan`.

    A node is the world (node 0), a joint, or a body without joints; bodies and joints keep their order.
    """

    node_body: np.ndarray  # (nnode,) body of the node
    node_jump: tuple[np.ndarray, ...]  # each (nnode,): the node to compose with in each round of pointer doubling
    node_base: np.ndarray  # (nnode,) row of [identity, body, mocap] poses that stands before the node's joint
    node_joint: np.ndarray  # (nnode,) joint id, njnt where there is none
    node_qposadr: np.ndarray  # (nnode,) address of the scalar coordinate, 0 where there is none
    node_hinge: np.ndarray  # (nnode,) 1 for a hinge
    node_slide: np.ndarray  # (nnode,) 1 for a slide
    quat_qposadr: np.ndarray  # (nquat, 4) addresses of the quaternions of ball and free joints
    quat_place: np.ndarray  # (nnode,) row of [hinge quaternions of all nodes, quaternions]
    free_qposadr: np.ndarray  # (nfree, 3) addresses of the positions of free joints
    free_place: np.ndarray  # (nnode,) row of [translations of all nodes, positions of free joints]
    body_node: np.ndarray  # (nbody,) last node of the body
    joint_node: np.ndarray  # (njnt,) node of the joint
    joint_turned: np.ndarray  # (njnt,) True where the joint's rotation moves its own axis: ball and free
    dof_turning: np.ndarray  # (nv,) True where the dof turns about a body axis: rotations of ball and free joints
    dof_shifting: np.ndarray  # (nv,) True for the translations of free joints
    dof_column: np.ndarray  # (nv,) which axis of the body or of the world such a dof has, else 0
    dof_slide: np.ndarray  # (nv,) True for a slide joint
    velocity_mask: np.ndarray  # (nbody + nv, nv) rows of cvel, then of the velocity that carries each dof's axis
    inertia_mask: np.ndarray  # (nbody, nbody) 1 where the column's body is in the row's subtree, the world excluded


@dataclasses.dataclass(frozen=True)
class Plans:
    """The plans of all families; a family's helper types its own field."""

    tree: TreePlan
    smooth: SmoothPlan
    tendon: Any
    actuator: Any
    passive: Any
    collision: Any
    constraint: Any
    sensor: Any
    integrator: Any
