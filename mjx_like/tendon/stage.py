"""Tendon lengths, Jacobians, velocities and the bias force of their armature."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.select import combine, take
from mjx_like.tendon.span import path_points, span_rows, spans
from mjx_like.tree.inherited import has_armature, tendon_armature
from mjx_like.tree.jacobian import jac_dot, spatial_force, wrench_rows
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def tendon(m: Model, d: Data) -> Data:
    """Return d with the path, length and Jacobian of each tendon.

    Reads qpos, site_xpos, geom_xpos, geom_xmat, cdof, subtree_com. Writes ten_wrapadr, ten_wrapnum, wrap_obj,
    wrap_xpos, ten_length, ten_J.
    Source: mj_tendon.
    """
    if not m.ntendon:
        return d
    plan = m.plans.tendon
    length, jacobian = fixed(m, d.qpos)
    if plan.segment_site.size:
        own_length, own_jacobian = spatial(m, d)
        length, jacobian = length + own_length, jacobian + own_jacobian
    if plan.span_geom.size:
        around = spans(m, d)
        own_length, own_jacobian = span_rows(m, d, around)
        length, jacobian = length + own_length, jacobian + own_jacobian
        points = path_points(m, d, around)
    else:
        points = site_points(m, d)
    return d.replace(ten_length=length, ten_J=jacobian, **points)


def tendon_velocity(m: Model, d: Data) -> Data:
    """Return d with the rate of change of each tendon's length.

    Reads ten_J, qvel. Writes ten_velocity.  Source: mj_fwdVelocity.
    """
    return d.replace(ten_velocity=matmul(d.ten_J, d.qvel)) if m.ntendon else d


def tendon_bias(m: Model, d: Data) -> Data:
    """Return d with the force that the armature of spatial tendons takes at qacc = 0 added to the bias.

    Reads site_xpos, cvel, cdof, cdof_dot, subtree_com, ten_J, qvel, qfrc_bias. Writes qfrc_bias.
    Source: mj_tendonBias.
    """
    heavy = has_armature(m.topology, "tendon", m.plans.tree.tendon_actuator)
    if not (heavy & (m.plans.tendon.segment_tendon.any(axis=1))).any():
        return d
    inertia = tendon_armature(m) * length_acceleration(m, d)
    return d.replace(qfrc_bias=d.qfrc_bias + matmul(d.ten_J.T, inertia))


def fixed(m: Model, qpos: Array) -> tuple[Array, Array]:
    """Return lengths, shape (ntendon,), and Jacobians, shape (ntendon, nv), of fixed tendons; zero for others."""
    plan = m.plans.tendon
    coef = take(m.wrap_prm, plan.fixed_wrap)
    length = combine(plan.fixed_tendon, coef * take(qpos, plan.fixed_qposadr))
    return length, combine(plan.fixed_tendon, coef[:, None] * plan.fixed_dof.astype(coef.dtype))


def spatial(m: Model, d: Data) -> tuple[Array, Array]:
    """Return lengths, shape (ntendon,) [m], and Jacobians, shape (ntendon, nv), of spatial tendons; zero for others.

    A segment of no length points along x, as in MuJoCo, with zero derivative.
    """
    plan = m.plans.tendon
    start, end = (take(d.site_xpos, plan.segment_site[:, k]) for k in (0, 1))
    direction, distance = safe.normalize(end - start)
    scale = safe.ratio(1, _divisor(m))
    length = combine(plan.segment_tendon, distance[:, 0] * scale)
    pull = direction * scale[:, None]
    rows = _rows(m, d, end, pull, 1) - _rows(m, d, start, pull, 0)
    return length, combine(plan.segment_tendon, rows)


def site_points(m: Model, d: Data) -> dict[str, Array]:
    """Return the fields of Data with the points of all paths, where no tendon wraps around a geom."""
    plan, room = m.plans.tendon, 2 * m.nwrap - m.plans.tendon.point_row.size
    sites = jnp.concatenate([d.site_xpos, jnp.zeros((1, 3), d.site_xpos.dtype)])
    adr = np.cumsum(plan.wrapnum, dtype=np.int32) - plan.wrapnum
    return dict(
        ten_wrapadr=jnp.asarray(adr, jnp.int32),
        ten_wrapnum=jnp.asarray(plan.wrapnum, jnp.int32),
        wrap_obj=jnp.asarray(np.append(plan.point_obj, np.zeros(room)).reshape(m.nwrap, 2), jnp.int32),
        wrap_xpos=take(sites, np.append(plan.point_row, np.full(room, m.nsite)).astype(np.int32)).reshape(m.nwrap, 6),
    )


def length_acceleration(m: Model, d: Data) -> Array:
    """Return the second derivative of each spatial tendon's length at qacc = 0, shape (ntendon,) [m/s^2].

    Source: mj_tendonDot times qvel.
    """
    plan = m.plans.tendon
    ends = [take(d.site_xpos, plan.segment_site[:, k]) for k in (0, 1)]
    velocity, acceleration = zip(*(_motion(m, d, ends[k], plan.segment_body[:, k]) for k in (0, 1)), strict=True)
    direction, distance = safe.normalize(ends[1] - ends[0])
    relative = velocity[1] - velocity[0]
    along = jnp.sum(direction * relative, axis=-1, keepdims=True)
    rotating = safe.divide(relative - along * direction, distance)
    rate = jnp.sum(direction * (acceleration[1] - acceleration[0]) + rotating * relative, axis=-1)
    apart = plan.segment_body[:, 0] != plan.segment_body[:, 1]
    return combine(plan.segment_tendon, safe.ratio(jnp.where(apart, rate, 0), _divisor(m)))


def _motion(m: Model, d: Data, point: Array, body: np.ndarray) -> tuple[Array, Array]:
    """Return velocity and acceleration at qacc = 0 of points fixed to bodies, shapes (k, 3)."""
    motion = take(d.cvel, body)
    offset = point - take(d.subtree_com, m.body_rootid[body])
    velocity = motion[:, 3:] + jnp.cross(motion[:, :3], offset)
    rate, _ = jac_dot(m, d, point, body)
    return velocity, jnp.sum(rate * d.qvel[:, None], axis=1)


def _rows(m: Model, d: Data, point: Array, pull: Array, end: int) -> Array:
    plan = m.plans.tendon
    force = spatial_force(m, d, plan.segment_body[:, end], point, pull, jnp.zeros_like(pull))
    return wrench_rows(m, d, force, plan.segment_moves[:, end])


def _divisor(m: Model) -> Array:
    one = jnp.ones(1, m.wrap_prm.dtype)
    return take(jnp.concatenate([one, m.wrap_prm]), m.plans.tendon.segment_pulley)
