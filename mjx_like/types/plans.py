"""Every plan: what the compiler works out once from a Topology, as static NumPy arrays.

Each family's `plan.py` builds its record; stages read it as `m.plans.<family>`.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from mjx_like.math.block_mask import Mask, dense


@dataclasses.dataclass(frozen=True)
class Trees:
    """How the dofs of many kinematic trees stand in one block for each; made by `tree.many`. n: of the largest tree."""

    dof: np.ndarray  # (ntree, n) dofs of each tree, nv beyond
    place: np.ndarray  # (nv,) where each dof stands in `dof`, flat
    padded: bool  # whether a tree has fewer than n
    equality: np.ndarray  # (neq, 2) trees that each equality ties together, -1 for none


@dataclasses.dataclass(frozen=True)
class TreePlan:
    """Kinematic levels and ancestor masks; made by `tree.plan`.

    Masks of models with many dofs on several children of the world are blocks.
    """

    body_ancestor: Mask  # (nbody, nbody) 1 where column is the row's body or one of its ancestors
    body_dof: Mask  # (nbody, nv) 1 where the column's dof moves the row's body
    dof_chain: Mask  # (nv, nv) 1 where the column's dof is the row's dof or one of its ancestors
    trees: Trees | None  # where matrices of the dofs are stored as blocks, else None
    levels: tuple[np.ndarray, ...]  # body ids by depth, the world excluded
    dof_actuator: np.ndarray  # (nv, nactuator) 1 where the actuator drives the dof's joint directly
    tendon_actuator: np.ndarray  # (ntendon, nactuator) 1 where the actuator pulls the tendon

    @property
    def dof_ancestor(self) -> np.ndarray:
        """`dof_chain` as one array."""
        return dense(self.dof_chain)


@dataclasses.dataclass(frozen=True)
class SmoothPlan:
    """The nodes of forward kinematics and the dof tables of the smooth stages; made by `smooth.plan`.

    A node is the world (node 0), a joint, or a body without joints; bodies and joints keep their order.
    """

    node_parent: np.ndarray  # (nnode,) the node before, 0 of the world itself
    node_left: tuple[np.ndarray, ...]  # each (nnode,): the node that multiplies from the left in a round, 0 where none
    body_path: Mask  # (nbody, nnode) 1 where the column is the row's last node or before it
    node_before: Mask  # (nnode, nnode) 1 where the column is before the row's node
    node_base_pos: np.ndarray  # (nnode,) row of [0, body, mocap, free joint] positions before the node's joint
    node_base_quat: np.ndarray  # (nnode,) row of [1, body, mocap] quaternions before the node's joint
    node_joint: np.ndarray  # (nnode,) joint id, njnt where there is none
    node_quat: np.ndarray  # (nnode,) row of [1, hinge, ball and free] rotations of the node's joint
    node_slide: np.ndarray  # (nnode,) which slide it is, nslide where none
    scalar_qposadr: np.ndarray  # addresses of hinge and slide coordinates
    scalar_hinge: np.ndarray  # which of those are hinges
    scalar_slide: np.ndarray  # which of those are slides
    hinge_joint: np.ndarray  # joint ids of hinges
    quat_qposadr: np.ndarray  # (nquat, 4) addresses of the quaternions of ball and free joints
    free_qposadr: np.ndarray  # (nfree, 3) addresses of the positions of free joints
    body_node: np.ndarray  # (nbody,) last node of the body
    frame_body: np.ndarray  # (nbody + ngeom + nsite,) body that carries the inertial frame, geom or site
    joint_node: np.ndarray  # (njnt,) node of the joint
    level_node: np.ndarray  # (ndepth, width) nodes of each depth, 0 where there are fewer; of size 0 where most are
    level_parent: np.ndarray  # (ndepth, width) column of the node before in the depth before
    level_end: np.ndarray  # (ndepth, width) True where the node is the last of its body
    level_slide: np.ndarray  # (ndepth, width) True where it is a slide joint
    node_place: np.ndarray  # (nnode - 1,) place of each node but the world in the flattened table
    dof_rotating: np.ndarray  # (nv,) True where the dof rotates about a body axis: rotations of ball and free joints
    dof_shifting: np.ndarray  # (nv,) True for the translations of free joints
    dof_column: np.ndarray  # (nv,) which axis of the body or of the world such a dof has, else 0
    dof_slide: np.ndarray  # (nv,) True for a slide joint
    velocity_mask: Mask  # (nbody + nv, nv) rows of cvel, then of the velocity that carries each dof's axis
    inertia_mask: Mask  # (nbody, nbody) 1 where the column's body is in the row's subtree, the world excluded


@dataclasses.dataclass(frozen=True)
class HookedPair:
    """A collision function of the user for one pair of geoms."""

    function: Callable
    count: int  # points that it returns
    swapped: bool  # whether it takes the second geom of the pair first


@dataclasses.dataclass(frozen=True)
class PairGroup:
    """The candidate pairs of one pair of geom types; `geom1` has the smaller type."""

    types: tuple[int, int]
    pair: np.ndarray  # (n,) row of the pair in CollisionPlan's tables
    geom1: np.ndarray  # (n,)
    geom2: np.ndarray  # (n,)
    slots: int  # points that the kernel returns for each pair
    capacity: int  # pairs that the kernel takes: all n, or fewer, chosen by their bounds at run time
    cells: tuple[int, int] = (0, 0)  # rows and columns of a height field's cells that the geoms can reach at once
    hook: HookedPair | None = None  # in place of the kernel of the types; the group is one pair then


@dataclasses.dataclass(frozen=True)
class SolidPlan:
    """Corners, faces and edges of meshes, boxes and cylinders; made by `flat_tables`.

    Corners are numbered through [vertices of the meshes in use, those of a box, those of a cylinder]; faces likewise;
    supports are the corners of a mesh that can be support points, those of a box, and the caps.
    """

    vertex: np.ndarray  # rows of mesh_vert of the meshes in use
    polygon: np.ndarray  # rows of mesh_polynormal of their faces
    hull: np.ndarray  # (nset, npoint) rows of mesh_vert that can be support points, of each mesh in use; first repeated
    set_of_mesh: np.ndarray  # (nmesh,) row of `hull`
    support_start: np.ndarray  # (nset + 2,) first support of each mesh in use, of boxes, of cylinders
    support_corner: np.ndarray  # (nsupport,) the corner
    support_face: np.ndarray  # (nsupport, m) faces around it, -1 beyond
    support_end: np.ndarray  # (nsupport, m) other ends of its edges, corners, -1 beyond
    face_corner: np.ndarray  # (nface, k) corners in clockwise order seen from outside, the first repeated beyond
    face_size: np.ndarray  # (nface,)


@dataclasses.dataclass(frozen=True)
class ConvexPlan:
    """The candidate pairs without a closed form, of all types together; they make up the last groups."""

    geom: np.ndarray  # (n, 2)
    pair: np.ndarray  # (n,) row of the pair in CollisionPlan's tables
    kinds: tuple[tuple[int, ...], tuple[int, ...]]  # types that the first and the second geom can have
    groups: int  # number of groups
    solid: SolidPlan
    solid_id: np.ndarray  # (n, 2) entry of `solid.support_start`, -1 where a geom has no flat faces
    several: np.ndarray  # (n,) True where a pair can touch at several points
    capacity: int  # pairs that are searched: all n, or fewer, chosen by their bounds at run time


@dataclasses.dataclass(frozen=True)
class SpeculativePlan:
    """The candidate pairs that may be found before they touch; made by `collision.plan`."""

    geom: np.ndarray  # (n, 2); the first may be a plane
    pair: np.ndarray  # (n,) row of the pair in CollisionPlan's tables
    kinds: tuple[tuple[int, ...], tuple[int, ...]]  # types that the first, where no plane, and the second can have
    solid: SolidPlan
    solid_id: np.ndarray  # (n, 2) entry of `solid.support_start`, -1 where a geom has no flat faces
    several: np.ndarray  # (n,) True where a pair can touch at several points
    blocks: np.ndarray  # (n, ngeom) geoms that may stand between the two


@dataclasses.dataclass(frozen=True)
class CollisionPlan:
    """Candidate pairs in MuJoCo's order, by type, and the layout of their points; made by `collision.plan`.

    Possible points are laid out group by group, in a group slot by slot, in a slot pair by pair. Where no group has
    more pairs than its capacity, they are the candidate points.
    """

    geom: np.ndarray  # (npair, 2) geom ids, the smaller type first
    unbuilt: np.ndarray  # (n, 2) those that the engine cannot collide yet, which are in no other table
    explicit: np.ndarray  # (npair,) id of the <pair> element, or -1
    dim: np.ndarray  # (npair,) condim
    groups: tuple[PairGroup, ...]
    convex: ConvexPlan | None
    plane_mesh: SolidPlan | None  # of the meshes that can touch a plane
    field_mesh: SolidPlan | None  # of those that can touch a height field
    speculative: SpeculativePlan | None  # of the flag
    point_pair: np.ndarray  # (ncandidate,) pair of each possible point, in MuJoCo's order
    point_row: np.ndarray  # (ncandidate,) where the possible point in MuJoCo's order stands in the layout
    point_rank: np.ndarray  # (ncandidate,) the inverse: its rank in MuJoCo's order
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
    dof_damped: np.ndarray  # (nv,) True where a joint or an actuator damps the dof
    tendon_damped: np.ndarray  # (ntendon,) likewise
    damping_beyond_linear: bool  # whether a dof has polynomial damping or damping by an actuator
    free_body: np.ndarray  # (nfree,) bodies with a free joint and no other joint in their tree
    free_dof: np.ndarray  # (nfree, 6) their dofs
    in_step: bool  # whether dynamics are those of the step: springs of constraints act at its end, and are not raised


@dataclasses.dataclass(frozen=True)
class HistoryGroup:
    """Actuators or sensors whose history buffers have one size and interpolation; made by `tree.history`."""

    nsample: int
    dim: int  # values of a sample
    interp: int  # 0 the sample before, 1 linear, 2 cubic
    ids: np.ndarray  # (k,) actuators or sensors
    cells: np.ndarray  # (k, 2 + nsample (1 + dim)) addresses in `history`


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
    recorded: np.ndarray  # (nvalue,) row of the values in the buffers of all history groups, one past the end: none


@dataclasses.dataclass(frozen=True)
class SensorPlan:
    """The sensors by stage; made by `sensor.plan`."""

    pos: SensorStage
    vel: SensorStage
    acc: SensorStage
    history: tuple[HistoryGroup, ...]
    delayed: SensorStage  # all sensors with a delay, whatever their stage
    touch: np.ndarray  # (nbody + 1, most) indices in the group of touch sensors of each body's, -1 beyond; last: none
    contact_geoms: np.ndarray  # (nsensor, 2, 2) least and largest geom that matches each object of a contact sensor
    distance: np.ndarray  # (npair, 3) sensor, first and second geom of the pairs that distance sensors measure
    enclosed: np.ndarray  # (n, 3) sensor, geom or site, and whether it is a site, of what may jut out of a site


@dataclasses.dataclass(frozen=True)
class ConstraintPlan:
    """Layout of the constraint rows; made by `constraint.plan`.

    A slot is a row that an equality, friction loss or limit can need; slots stand in MuJoCo's order. Rows of contacts
    follow them.
    """

    connect: np.ndarray  # (nconnect,) equality ids
    weld: np.ndarray  # (nweld,)
    joint: np.ndarray  # (njoint,)
    tendon: np.ndarray  # (ntendon,)
    equality_order: np.ndarray  # (nrow,) row of [connect, weld, joint, tendon] that stands at each equality slot
    friction_dof: np.ndarray  # (nfd,) dofs
    friction_tendon: np.ndarray  # (nft,) tendons
    limit_scalar: np.ndarray  # (nls,) slide and hinge joints, two slots each
    limit_ball: np.ndarray  # (nlb,) ball joints, one slot each
    limit_tendon: np.ndarray  # (nlt,) tendons, two slots each
    limit_order: np.ndarray  # (2 nls + nlb,) row of [scalar limits, ball limits] that stands at each joint limit slot
    slot_type: np.ndarray  # (nslot,) ConstraintType
    slot_id: np.ndarray  # (nslot,) id of the equality, dof, tendon or joint
    slot_dof: np.ndarray  # (nslot,) the one dof that the row touches, or -1
    slot_sign: np.ndarray  # (nslot,) its coefficient
    slot_dense: np.ndarray  # (nslot,) index among the slots that touch several dofs, or -1
    contact_dims: tuple[int, ...]  # the dimensions that candidate contacts have
    contact_rows: tuple[int, int]  # least and largest number of rows of a contact
    contact_may_lack_dofs: bool  # some candidate pair is of bodies that move as one
    body_group: np.ndarray  # (nbody,) number that bodies share which the same dofs move
    body_dof_bits: np.ndarray  # (nbody, nword) TreePlan.body_dof packed in uint32
    one_tree: bool  # all dofs belong to one kinematic tree
    default_njmax: int


@dataclasses.dataclass(frozen=True)
class TendonPlan:
    """Terms of fixed tendons, straight segments and spans around geoms of spatial ones, and the points of paths.

    A span is a site, a geom and a site. Points of a path stand in the order of the path. Made by `tendon.plan`.
    """

    fixed_wrap: np.ndarray  # (k,) row of wrap_prm with the coefficient of each joint in a fixed tendon
    fixed_qposadr: np.ndarray  # (k,) coordinate of that joint
    fixed_tendon: np.ndarray  # (ntendon, k) 1 where the term belongs to the tendon
    fixed_dof: np.ndarray  # (k, nv) 1 at the dof of the joint
    segment_site: np.ndarray  # (nsegment, 2) sites at the ends of each straight segment
    segment_body: np.ndarray  # (nsegment, 2) their bodies
    segment_tendon: np.ndarray  # (ntendon, nsegment) 1 where the segment belongs to the tendon
    segment_pulley: np.ndarray  # (nsegment,) row of [1, wrap_prm] that divides the segment's length
    segment_moves: np.ndarray  # (nsegment, 2, nv) 1 where the dof moves that end and not the other
    span_site: np.ndarray  # (nspan, 3) sites before and after each wrapping geom, and its side site or -1
    span_geom: np.ndarray  # (nspan,) the geom
    span_cylinder: np.ndarray  # (nspan,) True for a cylinder, False for a sphere
    span_body: np.ndarray  # (nspan, 3) bodies of the site before, the site after, the geom
    span_tendon: np.ndarray  # (ntendon, nspan) 1 where the span belongs to the tendon
    span_pulley: np.ndarray  # (nspan,) row of [1, wrap_prm] that divides the span's length
    span_moves: np.ndarray  # (nspan, 3, nv) 1 where the dof moves that body and not all three
    wrapnum: np.ndarray  # (ntendon,) number of points in the tendon's path, those on geoms left out
    point_row: np.ndarray  # (npoint,) row of [sites, zeros, first and then last points on geoms] of each path point
    point_span: np.ndarray  # (npoint,) span that the point needs to touch its geom, nspan where it needs none
    point_obj: np.ndarray  # (npoint,) geom of the point, -1 for a site, -2 for a pulley


@dataclasses.dataclass(frozen=True)
class ControllerGroup:
    """PID controllers, or DC motors, with the same inputs and activations."""

    ids: np.ndarray  # (k,) actuators
    inputs: dict[str, np.ndarray]  # by name: address in `ctrl`, shape (k,)
    slots: dict[str, np.ndarray]  # by name, in the order of `act`: address there, shape (k,)


@dataclasses.dataclass(frozen=True)
class OrientationGroup:
    """Orientation servos with the same kind of setpoint."""

    ids: np.ndarray  # (k,) actuators
    source: str  # field that holds the setpoint: "ctrl" or "act"
    cells: np.ndarray  # (k, 3 or 4) where: a rotation vector or a quaternion


@dataclasses.dataclass(frozen=True)
class ActuatorPlan:
    """Actuators by transmission, dynamics, gain and bias; made by `actuator.plan`."""

    transmission: tuple[tuple[str, np.ndarray], ...]  # name of a kernel, ids of its actuators
    out_order: np.ndarray  # (nout,) row of the kernels' results, for each output in order; one past the end: none
    stateful: np.ndarray  # ids of actuators whose (last) activation takes the place of the control
    act_adr: np.ndarray  # (nstateful,) its address in `act`
    act_order: np.ndarray  # (nactuator,) which stateful actuator it is, nstateful where none
    user: tuple[tuple[int, np.ndarray], ...]  # actuators with several user activations, addresses of all but the last
    pid: tuple[ControllerGroup, ...]
    dcmotor: tuple[ControllerGroup, ...]
    orientation: tuple[OrientationGroup, ...]
    out_owner: np.ndarray  # (nout,) actuator of each output
    single: np.ndarray  # (nactuator,) True where gain times signal plus bias is the force
    enabled: np.ndarray  # (nactuator,) True where no group disables it
    periodic: np.ndarray  # (nactuator,) True where a servo may take the nearest of the equal rotational setpoints
    tendon_limit: np.ndarray  # (nout,) tendon whose total force is limited, ntendon where none
    clamped_dof: np.ndarray  # dofs of joints with a limited actuator force
    clamped_joint: np.ndarray  # those joints
    gravcomp_dof: np.ndarray  # (nv,) True where gravity compensation counts as actuator force
    history: tuple[HistoryGroup, ...]
    delayed: np.ndarray  # (nu,) row of the controls in the buffers of all history groups, one past the end: no delay


@dataclasses.dataclass(frozen=True)
class PassivePlan:
    """Which passive forces exist; made by `passive.plan`."""

    active: bool  # whether there are passive forces at all
    spring: bool  # whether any joint has a spring
    damper: bool  # whether any dof has a damper of its own or from an actuator
    tendon_spring: bool
    tendon_damper: bool
    gravcomp: bool
    passive_gravcomp: np.ndarray  # (nv,) True where gravity compensation counts as passive force
    adhesion: bool
    box_body: np.ndarray  # bodies in the inertia-box fluid model
    ellipsoid_geom: np.ndarray  # geoms in the ellipsoid fluid model
    cable_qpos: np.ndarray  # (n, 4) entries of qpos with the quaternions of elastic cable joints
    cable_dof: np.ndarray  # (n, 3) dofs of these joints


@dataclasses.dataclass(frozen=True)
class Plans:
    """The plans of all families; a family's helper types its own field."""

    tree: TreePlan
    smooth: SmoothPlan
    tendon: TendonPlan
    actuator: ActuatorPlan
    passive: PassivePlan
    collision: CollisionPlan
    constraint: ConstraintPlan
    sensor: SensorPlan
    integrator: IntegratorPlan
