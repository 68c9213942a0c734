"""The plan of constraint/: which rows can exist, in MuJoCo's order, and the capacity that holds all of them."""

from typing import NamedTuple

import numpy as np

from mjx_like.math.block_mask import dense
from mjx_like.types.enums import (
    ConeType,
    ConstraintType,
    DisableBit,
    EqType,
    JacobianType,
    JointType,
    ObjType,
)
from mjx_like.types.model import Model
from mjx_like.types.plans import ConstraintPlan
from mjx_like.types.topology import Topology

ROWS = {EqType.CONNECT: 3, EqType.WELD: 6, EqType.JOINT: 1, EqType.TENDON: 1}  # of each equality
UNBUILT = {
    EqType.FLEX: "dynamics of flexes are not built yet",
    EqType.FLEXVERT: "dynamics of flexes are not built yet",
    EqType.FLEXSTRAIN: "dynamics of flexes are not built yet",
    EqType.DISTANCE: "MuJoCo does not support it either",
}
_DENSE = 60  # dofs below which the Jacobian is dense where the model leaves it open
_WORD = 32  # dofs in one word of a body's mask
_NONE = np.zeros(0, np.int32)


def make_plan(t: Topology) -> ConstraintPlan:
    """Return the layout of the constraint rows; `t.plans` (tree, collision) and `t.nconmax` are there already."""
    off = t.disabled(DisableBit.CONSTRAINT) or t.nv == 0
    equality = _NONE if off or t.disabled(DisableBit.EQUALITY) else _equalities(t)
    by_type = {kind: equality[t.eq_type[equality] == kind] for kind in ROWS}
    friction = not (off or t.disabled(DisableBit.FRICTIONLOSS))
    friction_dof = np.flatnonzero(t.has["dof_frictionloss"]) if friction else _NONE
    friction_tendon = np.flatnonzero(t.has["tendon_frictionloss"]) if friction else _NONE
    limited = not (off or t.disabled(DisableBit.LIMIT))
    joints = np.flatnonzero(t.jnt_limited & (t.jnt_type != JointType.FREE)) if limited else _NONE
    ball = joints[t.jnt_type[joints] == JointType.BALL]
    scalar = joints[t.jnt_type[joints] != JointType.BALL]
    limit_tendon = np.flatnonzero(t.tendon_limited) if limited else _NONE

    owner = np.concatenate([np.repeat(by_type[kind], rows) for kind, rows in ROWS.items()]).astype(np.int32)
    equality_order = np.argsort(owner, kind="stable")
    limit_owner = np.concatenate([np.repeat(scalar, 2), ball]).astype(np.int32)
    limit_order = np.argsort(limit_owner, kind="stable")
    parts = (
        (ConstraintType.EQUALITY, owner[equality_order]),
        (ConstraintType.FRICTION_DOF, friction_dof),
        (ConstraintType.FRICTION_TENDON, friction_tendon),
        (ConstraintType.LIMIT_JOINT, limit_owner[limit_order]),
        (ConstraintType.LIMIT_TENDON, np.repeat(limit_tendon, 2)),
    )
    slot_type = np.concatenate([np.full(len(ids), kind, np.int32) for kind, ids in parts])
    contact_dims = () if off or t.disabled(DisableBit.CONTACT) else _contact_dims(t)
    each = [contact_rows(t, dim) for dim in contact_dims]
    body_dof_bits = _bits(dense(t.plans.tree.body_dof))
    body_group = np.unique(body_dof_bits, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return ConstraintPlan(
        connect=by_type[EqType.CONNECT],
        weld=by_type[EqType.WELD],
        joint=by_type[EqType.JOINT],
        tendon=by_type[EqType.TENDON],
        equality_order=equality_order,
        friction_dof=friction_dof,
        friction_tendon=friction_tendon,
        limit_scalar=scalar,
        limit_ball=ball,
        limit_tendon=limit_tendon,
        limit_order=limit_order,
        slot_type=slot_type,
        slot_id=np.concatenate([ids for _, ids in parts]).astype(np.int32),
        **_slot_dofs(t, slot_type, friction_dof, limit_owner[limit_order])._asdict(),
        contact_dims=contact_dims,
        contact_rows=(min(each, default=0), max(each, default=0)),
        contact_may_lack_dofs=_may_lack_dofs(t, body_group),
        body_group=body_group,
        body_dof_bits=body_dof_bits,
        one_tree=bool(t.nv) and np.unique(t.body_rootid[t.dof_bodyid]).size == 1,
        default_njmax=len(slot_type) + t.nconmax * max(each, default=0),
    )


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return the constraints that the engine cannot run yet."""
    out = []
    if t.disabled(DisableBit.CONSTRAINT):
        return ()
    if not t.disabled(DisableBit.EQUALITY):
        for i in range(t.neq):
            kind = EqType(int(t.eq_type[i]))
            if kind not in ROWS:
                out.append(f"equality {_name(t, ObjType.EQUALITY, i)}: type {kind.name.lower()} is not built yet")
    return tuple(out)


def contact_rows(t: Topology, dim: int) -> int:
    """Return the number of rows of a contact of dimension `dim`."""
    return 2 * (dim - 1) if dim > 1 and t.flags.cone == ConeType.PYRAMIDAL else dim


def _name(t: Topology, kind: ObjType, index: int) -> str:
    return repr(t.names.get(kind, ("",) * (index + 1))[index] or index)


def equality_bodies(t: Topology, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two bodies that each connect or weld in `ids` ties together."""
    first, second = t.eq_obj1id[ids], t.eq_obj2id[ids]
    site = t.eq_objtype[ids] == ObjType.SITE
    if not t.nsite:
        return first, second
    pick = [np.where(site, t.site_bodyid[np.where(site, obj, 0)], obj) for obj in (first, second)]
    return pick[0], pick[1]


def _equalities(t: Topology) -> np.ndarray:
    """Return the equalities that the engine runs and that can have a non-zero Jacobian.

    Two bodies that slide as one have none; of MuJoCo's formats only the dense one sees that.
    """
    ids = np.flatnonzero(np.isin(t.eq_type, list(ROWS)))
    bodies = np.isin(t.eq_type[ids], (EqType.CONNECT, EqType.WELD))
    if not bodies.any():
        return ids
    first, second = equality_bodies(t, np.where(bodies, ids, ids[bodies][0]))
    dofs = dense(t.plans.tree.body_dof) != 0
    rotations = dofs[first][:, t.jnt_type[t.dof_jntid] != JointType.SLIDE].any(axis=1)
    whole = t.flags.jacobian == JacobianType.DENSE or (t.flags.jacobian == JacobianType.AUTO and t.nv < _DENSE)
    as_one = (dofs[first] == dofs[second]).all(axis=1) & ~rotations & whole
    return ids[~bodies | ((dofs[first] | dofs[second]).any(axis=1) & ~as_one)]


class _SlotDofs(NamedTuple):
    """The dof and sign of slots that touch one dof alone, and the index of the others; see ConstraintPlan."""

    slot_dof: np.ndarray
    slot_sign: np.ndarray
    slot_dense: np.ndarray


def _slot_dofs(t: Topology, slot_type: np.ndarray, friction_dof: np.ndarray, limit_joint: np.ndarray) -> _SlotDofs:
    dof, sign = np.full(len(slot_type), -1, np.int32), np.zeros(len(slot_type))
    rows = np.flatnonzero(slot_type == ConstraintType.FRICTION_DOF)
    dof[rows], sign[rows] = friction_dof, 1
    rows = np.flatnonzero(slot_type == ConstraintType.LIMIT_JOINT)
    scalar = t.jnt_type[limit_joint] != JointType.BALL
    dof[rows[scalar]] = t.jnt_dofadr[limit_joint[scalar]]
    sign[rows[scalar]] = np.tile([1.0, -1.0], int(scalar.sum()) // 2)
    dense = dof < 0
    return _SlotDofs(dof, sign, np.where(dense, np.cumsum(dense) - 1, -1).astype(np.int32))


def _contact_dims(t: Topology) -> tuple[int, ...]:
    """Return the dimensions that contacts can have; in the gap, adhesive ones have dimension 1."""
    if not t.nconmax:
        return ()
    dims = set(t.plans.collision.dim.tolist())
    return tuple(sorted(dims | {1} if t.adhesive and dims else dims))


def _may_lack_dofs(t: Topology, body_group: np.ndarray) -> bool:
    if not t.nconmax:
        return False
    own = body_group[t.geom_bodyid[t.plans.collision.geom]]
    return bool((own[:, 0] == own[:, 1]).any())


def _bits(mask: np.ndarray) -> np.ndarray:
    """Return the rows of a 0/1 matrix packed in words of 32, low bit first."""
    words = -(-mask.shape[1] // _WORD)
    padded = np.zeros((mask.shape[0], words * _WORD), bool)
    padded[:, : mask.shape[1]] = mask > 0
    return np.packbits(padded, axis=1, bitorder="little").view("<u4").astype(np.uint32)


def without_rows(m: Model) -> bool:
    """Return whether the model has no constraint rows, or no room for any."""
    return m.njmax == 0 or m.plans.constraint.default_njmax == 0
