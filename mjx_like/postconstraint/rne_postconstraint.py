"""Accelerations of bodies and the forces between them, with constraints taken into account."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.contact_force import contact_bodies, contact_wrench
from mjx_like.constraint.contact_points import shifted_points
from mjx_like.math import quaternion
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, segment_sum, take
from mjx_like.postconstraint.tendon_force import tendon_wrench
from mjx_like.smooth.rne import bias_acceleration, body_force
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, EqType, ObjType
from mjx_like.types.model import Model

Array = jax.Array


def rne_postconstraint(m: Model, d: Data) -> Data:
    """Return `d` with body accelerations, external forces on bodies, and forces between bodies and their parents.

    Reads qvel, qacc, cvel, cdof, cdof_dot, cinert, subtree_com, xfrc_applied, contact, efc_force and body poses.
    Writes cacc, cfrc_ext, cfrc_int.  Source: mj_rnePostConstraint.
    """
    cacc = bias_acceleration(m, d)
    if m.nv:
        cacc = cacc + combine(m.plans.tree.body_dof, d.cdof * d.qacc[:, None])
    external = external_force(m, d)
    own = body_force(d, cacc) - external
    return d.replace(cacc=cacc, cfrc_ext=external, cfrc_int=combine(m.plans.tree.body_ancestor.T, own))


def external_force(m: Model, d: Data) -> Array:
    """Return what acts on each body from outside the joints, shape (nbody, 6): torque, force in the tree's frame.

    Applied forces, contacts, spatial tendons, and the equality constraints `connect` and `weld`.
    """
    torque, force = d.xfrc_applied[:, 3:], d.xfrc_applied[:, :3]
    total = jnp.concatenate([torque + cross(d.xipos, force), force], axis=1)
    if m.nconmax and m.njmax:
        total = total + _contacts(m, d)
    ties = np.flatnonzero(np.isin(m.eq_type, (EqType.CONNECT, EqType.WELD)))
    if ties.size and m.njmax:
        total = total + _ties(m, d, ties)
    if m.plans.tendon.segment_site.size or m.plans.tendon.span_geom.size:
        total = total + tendon_wrench(m, d)
    centre = take(d.subtree_com, m.body_rootid)
    moved = jnp.concatenate([total[:, :3] - cross(centre, total[:, 3:]), total[:, 3:]], axis=1)
    return jnp.where((np.arange(m.nbody) > 0)[:, None], moved, 0)


def _contacts(m: Model, d: Data) -> Array:
    """Return the sum of contact forces on each body, about the world's origin, shape (nbody, 6)."""
    wrench = contact_wrench(m, d)
    force = jnp.sum(d.contact.frame * wrench[:, :3, None], axis=1)
    torque = jnp.sum(d.contact.frame * wrench[:, 3:, None], axis=1)
    bodies, rows = contact_bodies(m, d), np.arange(m.nbody)[:, None]
    first, second = ((bodies[:, k] == rows).astype(force.dtype) for k in (0, 1))
    at = shifted_points(m, d, bodies)

    def about_origin(point: Array) -> Array:
        return jnp.concatenate([torque + cross(point, force), force], axis=1)

    if at.shape[1] == 1:
        return matmul(second - first, about_origin(at[:, 0]))
    return matmul(second, about_origin(at[:, 1])) - matmul(first, about_origin(at[:, 0]))


def _ties(m: Model, d: Data, eq: np.ndarray) -> Array:
    """Return the sum of the forces of connect and weld on each body, about the world's origin, shape (nbody, 6)."""
    force = _tie_rows(m, d, eq)
    weld = (m.eq_type[eq] == EqType.WELD)[:, None]
    data = take(m.eq_data, eq)
    at1, body1, quat1 = _anchor(m, d, eq, m.eq_obj1id[eq], jnp.where(weld, data[:, 3:6], data[:, :3]))
    at2, body2, quat2 = _anchor(m, d, eq, m.eq_obj2id[eq], jnp.where(weld, data[:, :3], data[:, 3:6]))
    torque = jnp.zeros_like(force[:, :3])
    if weld.any():
        site = (m.eq_objtype[eq] == ObjType.SITE)[:, None]
        relative = jnp.where(site, quat1, quaternion.multiply(quat1, data[:, 6:10]))
        torque = jnp.where(weld, 0.5 * data[:, 10:11] * _rotated_back(quat2, relative, force[:, 3:]), 0)
    linear = force[:, :3]
    first = jnp.concatenate([torque + cross(at1, linear), linear], axis=1)
    second = jnp.concatenate([torque + cross(at2, linear), linear], axis=1)
    return segment_sum(jnp.concatenate([first, -second]), np.concatenate([body1, body2]), m.nbody)


def _tie_rows(m: Model, d: Data, eq: np.ndarray) -> Array:
    """Return the row forces of equality constraints, shape (n, 6); zero where a constraint has fewer or is off."""
    mine = (d.efc_type == int(ConstraintType.EQUALITY)) & (d.efc_id == eq[:, None])
    mine &= np.arange(m.njmax) < d.nefc
    start, count = jnp.argmax(mine, axis=1)[:, None], jnp.sum(mine, axis=1)[:, None]
    used = np.arange(6) < count
    return jnp.where(used, d.efc_force[jnp.where(used, start + np.arange(6), 0)], 0)


def _anchor(m: Model, d: Data, eq: np.ndarray, objid: np.ndarray, local: Array) -> tuple[Array, np.ndarray, Array]:
    """Return the point where a constraint holds an object, its body and the orientation of its frame."""
    site = m.eq_objtype[eq] == ObjType.SITE
    body = np.where(site, m.site_bodyid[np.where(site, objid, 0)], objid) if m.nsite else objid
    quat = take(d.xquat, body)
    at = take(d.xpos, body) + quaternion.rotate(quat, local)
    if site.any():
        ids = np.where(site, objid, 0)
        at = jnp.where(site[:, None], take(d.site_xpos, ids), at)
        rotated = quaternion.multiply(quat, quaternion.normalize(take(m.site_quat, ids)))
        quat = jnp.where(site[:, None], rotated, quat)
    return at, body, quat


def _rotated_back(quat2: Array, quat1: Array, force: Array) -> Array:
    """Return the world torque that does the work of `force` on the vector part of conj(quat2) w quat1, shape (n, 3)."""
    columns = []
    for axis in np.eye(3):
        spin = jnp.broadcast_to(np.concatenate([[0], axis]).astype(force.dtype), quat1.shape)
        seen = quaternion.multiply(quaternion.conjugate(quat2), quaternion.multiply(spin, quat1))
        columns.append(jnp.sum(seen[:, 1:] * force, axis=1))
    return jnp.stack(columns, axis=1)
