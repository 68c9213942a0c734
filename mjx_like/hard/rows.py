"""From constraint rows to the problem of a step, and back to forces."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.adhesion import surface_motion
from mjx_like.constraint.softening import felt, gravity
from mjx_like.hard.pair_rows import LimitsFirst, PairRows, limits_first
from mjx_like.hard.problem import Cones, Point, Problem, times, transposed_times
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.solver.rows import ConeLayout, PlainLayout, row_layout
from mjx_like.tree.blocks import full_j
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, JointType
from mjx_like.types.model import Model

Array = jax.Array

_LEAST_SIZE = 1e-2  # m, of a model, which gaps of rotations are measured by
_STILL = 1e-6  # of a row along the normal, in m per rad or m per m: no joint moves it
_LEAST_SHARE = 1e-3  # of its target that a pair keeps beyond reach
_T = ConstraintType


class Motion(NamedTuple):
    """What the rows do not say: the metric of a step, A qvel + h force, and the forces of equalities in both."""

    A: Array
    b: Array
    D: Array  # of equalities, (njmax,), zero elsewhere
    target: Array  # their acceleration, (njmax,)
    J: Array  # (njmax, nv)


def motion(m: Model, d: Data, A: Array) -> Motion:
    """Return the motion without contacts; equalities pull as springs at their acceleration, as in soft mode.

    Reads qvel, qfrc_smooth, efc_type, nefc, efc_J, efc_D, efc_aref.
    """
    h, J = m.opt_floats.timestep, full_j(m, d)
    b = matmul(A, d.qvel) + h * d.qfrc_smooth
    if not len(m.plans.constraint.equality_order):
        none = jnp.zeros_like(d.efc_D)
        return Motion(A, b, none, none, J)
    D = jnp.where(jnp.arange(m.njmax) < d.ne, d.efc_D, 0)
    A = A + matmul(J.T * D, J)
    b = b + transposed_times(J, D * (times(J, d.qvel) + h * d.efc_aref))
    return Motion(A, b, D, d.efc_aref, J)


def least_distance(d: Data) -> Array:
    """Return the least distance of contacts and limits, shape () [m or rad]; 0 where none is inside another.

    Reads efc_type, efc_pos, efc_margin, nefc.
    """
    kind = d.efc_type
    one_sided = _is_one_sided(kind) & (jnp.arange(kind.shape[0]) < d.nefc)  # tangents of cones among them, at 0
    return jnp.min(jnp.where(one_sided, d.efc_pos - d.efc_margin, 0), initial=0)


def problem(m: Model, d: Data, own: Motion, base: Array, least: Array) -> tuple[Problem, ConeLayout | PlainLayout]:
    """Return the problem with the rows of `d`, and where they stand.

    What begins inside another leaves it at bounded speed. Where a step ends, distances at its start are told back from
    there, and are wrong where bodies turn: none is taken for less than `least`.

    Args:
      base: velocity, shape (nv,), that led to the pose of the rows.
      least: `least_distance` at the start of the step.

    Reads efc_*, nefc, contact.
    """
    h, hard = m.opt_floats.timestep, m.hard
    layout, order = row_layout(m, d), limits_first(m, d)
    columns = _columns(m, d, layout)
    ncone, ndim = (0, 1) if layout.cone is None else layout.cone.scale.shape
    nplain = columns.J.shape[0] - ncone * ndim

    def normals(x: Array) -> Array:
        plain = order.from_rows(x[:nplain])
        return jnp.concatenate([plain, x[nplain::ndim]]) if ncone else plain

    rows = _Columns(*(normals(x) for x in columns))
    pair, Jn = _pairs(rows, order)
    gap, fell = hard.gap / rows.size, h * gravity(m) / rows.size
    start = rows.distance - h * Jn.times(base)
    kept = start - jnp.minimum(jnp.maximum(start, least) + h * hard.recovery, 0)
    share = _share(start, felt(m) / rows.size + 2 * h * jnp.abs(Jn.times(d.qvel)))
    natural = rows.mass * fell
    cones = columns.J[nplain:].reshape(ncone, ndim, d.qvel.shape[0])
    cones = _contact_cones(cones, layout, pair[nplain:], hard.slip, natural[nplain:])
    loss, bound = _losses(m, _Columns(*(x[: min(_most_losses(m), nplain)] for x in columns)))
    return Problem(
        A=own.A,
        b=own.b,
        h=h,
        J=Jn,
        distance=jnp.where(pair > 0, kept, 1),
        k=jnp.where(pair > 0, gap * natural * share, 1),
        used=pair,
        fall=fell,
        gap=gap,
        mass=None,
        contact=_with_surfaces(m, d, layout, cones),
        loss=loss,
        bound=bound,
    ), layout


class _Columns(NamedTuple):
    """What there is of each row, in one order; shapes (nrow,)."""

    used: Array
    kind: Array  # ConstraintType
    distance: Array  # less the margin [m or rad]
    mass: Array  # that it feels
    loss: Array  # most friction
    size: Array  # a length that rotations are measured by [m], 1 elsewhere
    J: Array  # shape (nrow, nv)


def _columns(m: Model, d: Data, layout: ConeLayout | PlainLayout) -> _Columns:
    """Return the rows in the order of a layout."""
    exists, distance = (jnp.arange(m.njmax) < d.nefc).astype(d.qvel.dtype), d.efc_pos - d.efc_margin
    given = exists, d.efc_type, distance, d.efc_diagA, d.efc_frictionloss, _angular(m, d), full_j(m, d)
    used, kind, distance, weight, loss, angular, J = (layout.from_rows(x) for x in given)
    size = jnp.where(angular > 0, jnp.maximum(m.stat.meansize, _LEAST_SIZE), 1)
    return _Columns(used, kind, distance, safe.ratio(1.0, jnp.where(weight > 0, weight, 1)), loss, size, J)


def _pairs(rows: _Columns, order: LimitsFirst) -> tuple[Array, PairRows]:
    """Return 1 for one-sided pairs that are in use, else 0, and J of the pairs; rows: of all pairs."""
    rest = rows.J[order.count :]
    moves = jnp.max(jnp.abs(rest), axis=1, initial=0) > _STILL  # else no force answers the distance
    pair = rows.used * _is_one_sided(rows.kind) * jnp.concatenate([jnp.ones(order.count, bool), moves])
    return pair, PairRows(pair[order.count :, None] * rest, order.dofs)


def _share(start: Array, reach: Array) -> Array:
    """Return the share of its target that a pair has at a distance: all at contact, the least beyond reach."""
    return _LEAST_SHARE + (1 - _LEAST_SHARE) * (1 - safe.clip(safe.ratio(start, reach), 0.0, 1.0) ** 3) ** 2


def _losses(m: Model, rows: _Columns) -> tuple[Cones, Array]:
    """Return the cones of friction loss and the most impulse of each; rows: the first, which those are among."""
    rubs = rows.used * ((rows.kind == _T.FRICTION_DOF) | (rows.kind == _T.FRICTION_TENDON))
    bound = jnp.where(rubs > 0, m.opt_floats.timestep * rows.loss, 1)
    k = jnp.where(rubs > 0, m.hard.slip / rows.size * bound, 1)
    return Cones(J=(rubs[:, None] * rows.J)[:, None], k=k, used=rubs, mass=None, surface=None), bound


def _is_one_sided(kind: Array) -> Array:
    limit = (kind == _T.LIMIT_JOINT) | (kind == _T.LIMIT_TENDON)
    return limit | (kind == _T.CONTACT_FRICTIONLESS) | (kind == _T.CONTACT_ELLIPTIC)


def _most_losses(m: Model) -> int:
    """Return how many of the first rows can be friction losses or equalities; 0 without friction loss."""
    plan = m.plans.constraint
    count = len(plan.friction_dof) + len(plan.friction_tendon)
    return count and count + len(plan.equality_order)


def _contact_cones(J: Array, layout: ConeLayout | PlainLayout, used: Array, slip: Array, natural: Array) -> Cones:
    """Return the cones of contacts; those without friction are not in use."""
    if layout.cone is None:
        return Cones(J=J[:, 1:], k=jnp.zeros_like(used), used=used, mass=None, surface=None)
    friction = layout.cone.scale[:, 1:]
    rubs = used * (friction[:, 0] > 0) if friction.shape[1] else jnp.zeros_like(used)
    first = jnp.where(rubs > 0, friction[:, 0], 1) if friction.shape[1] else used
    return Cones(
        J=rubs[:, None, None] * friction[..., None] * J[:, 1:],
        k=jnp.where(used > 0, slip * first * natural, 1),  # without friction too: in float32 the cone keeps its size
        used=rubs,
        mass=None,
        surface=None,
    )


def _with_surfaces(m: Model, d: Data, layout: ConeLayout | PlainLayout, cones: Cones) -> Cones:
    """Return the cones with the velocities of their surfaces, if any can move."""
    if layout.cone is None or not m.has["geom_surfacevel"].any():
        return cones
    shape = layout.cone.scale.shape
    along = layout.from_rows(surface_motion(m, d))[-shape[0] * shape[1] :].reshape(shape)
    return cones.replace(surface=cones.used[:, None] * layout.cone.scale[:, 1:] * along[:, 1:])


def _angular(m: Model, d: Data) -> Array:
    """Return 1 for rows of rotating joints, else 0, shape (njmax,)."""
    turns = np.isin(m.jnt_type, (JointType.HINGE, JointType.BALL))
    if not turns.any():
        return jnp.zeros_like(d.efc_pos)
    limit, loss = d.efc_type == _T.LIMIT_JOINT, d.efc_type == _T.FRICTION_DOF
    joint = jnp.asarray(turns)[jnp.where(limit, d.efc_id, 0)]
    rotates = turns[m.dof_jntid] | ((m.jnt_type == JointType.FREE)[m.dof_jntid] & (_place(m) >= 3))
    dof = jnp.asarray(rotates)[jnp.where(loss, d.efc_id, 0)]
    return ((limit & joint) | (loss & dof)).astype(d.efc_pos.dtype)


def _place(m: Model) -> np.ndarray:
    """Return the number of each dof in its joint."""
    return np.arange(m.nv) - np.asarray(m.jnt_dofadr)[m.dof_jntid]


def forces(
    m: Model, d: Data, own: Motion, layout: ConeLayout | PlainLayout, p: Problem, z: Point
) -> tuple[Array, Array]:
    """Return the forces of the rows, shape (njmax,), and what they add up to on the dofs, shape (nv,)."""
    h = p.h
    nplain, lost = p.used.shape[0] - p.contact.k.shape[0], p.loss.used * z.loss_c[:, 0]
    pairs = limits_first(m, d).to_rows((p.used * z.gamma)[:nplain])
    plain = pairs + jnp.pad(lost, (0, nplain - lost.shape[0]))
    if layout.cone is None:
        rows = plain
    else:
        along = layout.cone.scale[:, 1:] * p.contact.used[:, None] * z.c
        cones = jnp.concatenate([(p.used * z.gamma)[nplain:, None], along], axis=1)
        rows = jnp.concatenate([plain, cones.ravel()])
    force = layout.to_rows(rows) / h
    total = transposed_times(full_j(m, d), force)
    if not len(m.plans.constraint.equality_order):
        return force, total
    pulled = own.D * (own.target - times(own.J, z.nu - d.qvel) / h)
    return force + pulled, transposed_times(own.J, pulled) + total
