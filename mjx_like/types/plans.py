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

    node_jump: tuple[np.ndarray, ...]  # each (nnode,): the node to compose with in each round of pointer doubling
    node_base_pos: np.ndarray  # (nnode,) row of [0, body, mocap, free joint] positions before the node's joint
    node_base_quat: np.ndarray  # (nnode,) row of [1, body, mocap] quaternions before the node's joint
    node_joint: np.ndarray  # (nnode,) joint id, njnt where there is none
    node_quat: np.ndarray  # (nnode,) row of [1, hinge, ball and free] rotations of the node's joint
    node_slide: np.ndarray  # (nnode,) which slide it is, nslide where none
    scalar_qposadr: np.ndarray  # addresses of hinge and slide coordinates
    scalar_hinge: np.ndarray  # which of those are hinges
    scalar_slide: np.ndarray  # which of those are slides
    hinge_joint: np.ndarray  # joint ids of hinges
    slide_joint: np.ndarray  # joint ids of slides
    quat_qposadr: np.ndarray  # (nquat, 4) addresses of the quaternions of ball and free joints
    free_qposadr: np.ndarray  # (nfree, 3) addresses of the positions of free joints
    body_node: np.ndarray  # (nbody,) last node of the body
    frame_node: np.ndarray  # (nbody + ngeom + nsite,) node that carries the inertial frame, geom or site
    joint_node: np.ndarray  # (njnt,) node of the joint
    joint_slide: np.ndarray  # (njnt,) which slide it is, nslide where none
    joint_turned: np.ndarray  # (njnt,) True where the joint's rotation moves its own axis: ball and free
    dof_turning: np.ndarray  # (nv,) True where the dof turns about a body axis: rotations of ball and free joints
    dof_shifting: np.ndarray  # (nv,) True for the translations of free joints
    dof_column: np.ndarray  # (nv,) which axis of the body or of the world such a dof has, else 0
    dof_slide: np.ndarray  # (nv,) True for a slide joint
    velocity_mask: np.ndarray  # (nbody + nv, nv) rows of cvel, then of the velocity that carries each dof's axis
    inertia_mask: np.ndarray  # (nbody, nbody) 1 where the column's body is in the row's subtree, the world excluded


@dataclasses.dataclass(frozen=True)
class PairGroup:
    """The candidate pairs of one pair of geom types; `geom1` has the smaller type."""

    types: tuple[int, int]
    pair: np.ndarray  # (n,) row of the pair in CollisionPlan's tables
    geom1: np.ndarray  # (n,)
    geom2: np.ndarray  # (n,)
    slots: int  # points that the kernel returns for each pair


@dataclasses.dataclass(frozen=True)
class CollisionPlan:
    """Candidate pairs in MuJoCo's order, by type, and the layout of their points; made by `collision.plan`.

    Candidate points are laid out group by group, in a group slot by slot, in a slot pair by pair.
    """

    geom: np.ndarray  # (npair, 2) geom ids, the smaller type first
    explicit: np.ndarray  # (npair,) id of the <pair> element, or -1
    dim: np.ndarray  # (npair,) condim
    groups: tuple[PairGroup, ...]
    point_pair: np.ndarray  # (ncandidate,) pair of each candidate point, in MuJoCo's order
    point_row: np.ndarray  # (ncandidate,) where the candidate point in MuJoCo's order stands in the layout
    default_nconmax: int


@dataclasses.dataclass(frozen=True)
class IntegratorPlan:
    """Where coordinates stand in qpos and qvel, which dofs are damped, which bodies are free; by `integrator.plan`."""

    scalar_qpos: np.ndarray  # (nscalar,) addresses in qpos of the coordinates that are no quaternion
    scalar_dof: np.ndarray  # (nscalar,) their dofs
    quat_qpos: np.ndarray  # (nquat, 4) addresses in qpos of the quaternions of ball and free joints
    quat_dof: np.ndarray  # (nquat, 3) their dofs
    qpos_order: np.ndarray  # (nq,) row of [scalars, quaternions] that stands at each address of qpos
    dof_order: np.ndarray  # (nv,) row of [scalars, rotations] that stands at each dof
    dof_actuator: np.ndarray  # (nv, nactuator) True where the actuator adds damping to the dof
    tendon_actuator: np.ndarray  # (ntendon, nactuator) True where the actuator adds damping to the tendon
    dof_damped: np.ndarray  # (nv,) True where a joint or an actuator damps the dof
    tendon_damped: np.ndarray  # (ntendon,) likewise
    damping_beyond_linear: bool  # whether a dof has polynomial damping or damping by an actuator
    free_body: np.ndarray  # (nfree,) bodies with a free joint and no other joint in their tree
    free_dof: np.ndarray  # (nfree, 6) their dofs


@dataclasses.dataclass(frozen=True)
class SensorGroup:
    """Sensors of one kind that one kernel evaluates together."""

    type: int  # SensorType
    objtype: int  # ObjType of what is measured
    reftype: int  # ObjType of the reference frame
    has_ref: bool  # whether there is a reference frame
    intprm: tuple[int, ...]
    dim: int
    sensor: np.ndarray  # (n,) sensor ids
    objid: np.ndarray  # (n,)
    refid: np.ndarray  # (n,) -1 without reference frame


@dataclasses.dataclass(frozen=True)
class SensorStage:
    """The sensors of one stage and how their values are laid out."""

    groups: tuple[SensorGroup, ...]
    owner: np.ndarray  # (nvalue,) sensor of each value, in the order of the groups
    clipped: np.ndarray  # (nvalue,) True where the cutoff bounds the value from above
    symmetric: np.ndarray  # (nvalue,) True where it bounds from below as well
    order: np.ndarray  # (nsensordata,) row of [values, sensordata before]
    types: frozenset[int]  # SensorType of the groups


@dataclasses.dataclass(frozen=True)
class SensorPlan:
    """The sensors by stage; made by `sensor.plan`."""

    pos: SensorStage
    vel: SensorStage
    acc: SensorStage


@dataclasses.dataclass(frozen=True)
class Plans:
    """The plans of all families; a family's helper types its own field."""

    tree: TreePlan
    smooth: SmoothPlan
    tendon: Any
    actuator: Any
    passive: Any
    collision: CollisionPlan
    constraint: Any
    sensor: SensorPlan
    integrator: IntegratorPlan
