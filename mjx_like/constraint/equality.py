"""Rows of equality constraints: residual, Jacobian, and the velocity product that the reference acceleration takes."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.plan import equality_bodies
from mjx_like.math import safe
from mjx_like.math.quaternion import conjugate, multiply
from mjx_like.math.select import take
from mjx_like.tree.jacobian import jac, jac_dot
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model

Array = jax.Array


class EqualityRows(NamedTuple):
    """Rows of equalities of one type, or of all in MuJoCo's order; shapes (nrow, ...)."""

    pos: Array  # residual
    J: Array  # (nrow, nv)
    violation: Array  # what the impedance depends on: the norm of a connect's or weld's residual
    invweight: Array  # approximate inverse inertia along the row


def equality_rows(m: Model, d: Data) -> EqualityRows:
    """Return the rows of all equalities, active or not, in MuJoCo's order.

    Reads xpos, xmat, xquat, site_xpos, subtree_com, cdof, qpos, ten_length, ten_J.
    Source: mj_instantiateEquality, mj_diagApprox.
    """
    plan = m.plans.constraint
    kinds = ((plan.connect, _connect), (plan.weld, _weld), (plan.joint, _joint), (plan.tendon, _tendon))
    parts = [kernel(m, d, ids) for ids, kernel in kinds if len(ids)]
    return EqualityRows(*(take(jnp.concatenate(x), plan.equality_order) for x in zip(*parts, strict=True)))


def velocity_product(m: Model, d: Data) -> Array:
    """Return dJ/dt qvel of all equality rows in MuJoCo's order, shape (nrow,); zero for joints and tendons.

    Reads what `equality_rows` reads, and cvel, cdof_dot, qvel.  Source: Computation chapter, dual problem.
    """
    plan = m.plans.constraint
    parts = [_connect_product(m, d, plan.connect)] if len(plan.connect) else []
    parts += [_weld_product(m, d, plan.weld)] if len(plan.weld) else []
    parts += [jnp.zeros(len(plan.joint) + len(plan.tendon), d.qvel.dtype)]
    return take(jnp.concatenate(parts), plan.equality_order)


def _anchors(m: Model, d: Data, ids: np.ndarray, weld: bool) -> tuple[list[np.ndarray], list[Array]]:
    """Return the two bodies of each equality and the points on them that should meet, shape (n, 3) [m, world]."""
    bodies = equality_bodies(m.topology, ids)
    objects = (m.eq_obj1id[ids], m.eq_obj2id[ids])
    site = m.eq_objtype[ids] == ObjType.SITE
    data, points = take(m.eq_data, ids), []
    for side in range(2):
        start = 3 * (1 - side) if weld else 3 * side
        local = data[:, start : start + 3]
        rotation = take(d.xmat, bodies[side])
        point = take(d.xpos, bodies[side]) + jnp.sum(rotation * local[:, None], axis=-1)
        if site.any():
            point = jnp.where(site[:, None], take(d.site_xpos, np.where(site, objects[side], 0)), point)
        points.append(point)
    return list(bodies), points


def _connect(m: Model, d: Data, ids: np.ndarray) -> EqualityRows:
    bodies, points = _anchors(m, d, ids, weld=False)
    error = points[0] - points[1]
    linear = jac(m, d, points[0], bodies[0])[0] - jac(m, d, points[1], bodies[1])[0]
    weight = take(m.body_invweight0[:, 0], bodies[0]) + take(m.body_invweight0[:, 0], bodies[1])
    return EqualityRows(
        pos=error.reshape(-1),
        J=jnp.swapaxes(linear, 1, 2).reshape(-1, m.nv),
        violation=jnp.repeat(safe.norm(error), 3),
        invweight=jnp.repeat(weight, 3),
    )


def _orientations(m: Model, d: Data, ids: np.ndarray, bodies: list[np.ndarray]) -> tuple[Array, Array]:
    """Return the conjugate of the second frame's orientation and the first frame's, shape (n, 4)."""
    site = m.eq_objtype[ids] == ObjType.SITE
    first = take(d.xquat, bodies[0])
    second = take(d.xquat, bodies[1])
    relative = take(m.eq_data, ids)[:, 6:10]
    if site.any():
        own = [take(m.site_quat, np.where(site, obj[ids], 0)) for obj in (m.eq_obj1id, m.eq_obj2id)]
        relative = jnp.where(site[:, None], own[0], relative)
        second = jnp.where(site[:, None], multiply(second, own[1]), second)
    return conjugate(second), multiply(first, relative)


def _pure(vector: Array) -> Array:
    return jnp.concatenate([jnp.zeros_like(vector[..., :1]), vector], axis=-1)


def _weld(m: Model, d: Data, ids: np.ndarray) -> EqualityRows:
    bodies, points = _anchors(m, d, ids, weld=True)
    scale = take(m.eq_data, ids)[:, 10:11]
    left, right = _orientations(m, d, ids, bodies)
    error = jnp.concatenate([points[0] - points[1], multiply(left, right)[:, 1:] * scale], axis=1)
    first, second = jac(m, d, points[0], bodies[0]), jac(m, d, points[1], bodies[1])
    spin = multiply(multiply(left[:, None], _pure(first[1] - second[1])), right[:, None])[..., 1:]
    jacobian = jnp.concatenate([first[0] - second[0], 0.5 * scale[:, None] * spin], axis=2)
    weight = take(m.body_invweight0, bodies[0]) + take(m.body_invweight0, bodies[1])
    return EqualityRows(
        pos=error.reshape(-1),
        J=jnp.swapaxes(jacobian, 1, 2).reshape(-1, m.nv),
        violation=jnp.repeat(safe.norm(error), 6),
        invweight=jnp.repeat(weight, 3, axis=1).reshape(-1),
    )


def _connect_product(m: Model, d: Data, ids: np.ndarray) -> Array:
    bodies, points = _anchors(m, d, ids, weld=False)
    rate = jac_dot(m, d, points[0], bodies[0])[0] - jac_dot(m, d, points[1], bodies[1])[0]
    return jnp.sum(rate * d.qvel[:, None], axis=1).reshape(-1)


def _weld_product(m: Model, d: Data, ids: np.ndarray) -> Array:
    bodies, points = _anchors(m, d, ids, weld=True)
    scale = take(m.eq_data, ids)[:, 10:11]
    left, right = _orientations(m, d, ids, bodies)
    first, second = jac_dot(m, d, points[0], bodies[0]), jac_dot(m, d, points[1], bodies[1])
    linear = jnp.sum((first[0] - second[0]) * d.qvel[:, None], axis=1)
    slip_rate = _pure(jnp.sum((first[1] - second[1]) * d.qvel[:, None], axis=1))
    spins = [_pure(take(d.cvel, body)[:, :3]) for body in bodies]
    slip = spins[0] - spins[1]
    # d/dt of conj(q2) (w1 - w2) q1, with dq/dt = w q / 2
    middle = slip_rate + 0.5 * (multiply(slip, spins[0]) - multiply(spins[1], slip))
    angular = 0.5 * scale * multiply(multiply(left, middle), right)[:, 1:]
    return jnp.concatenate([linear, angular], axis=1).reshape(-1)


def _joint(m: Model, d: Data, ids: np.ndarray) -> EqualityRows:
    first, second = m.eq_obj1id[ids], m.eq_obj2id[ids]
    value = take(d.qpos - m.qpos0, m.jnt_qposadr[first])
    J = _one_hot(m.jnt_dofadr[first], m.nv, d.qpos.dtype)
    weight = take(m.dof_invweight0, m.jnt_dofadr[first])
    other = np.where(second >= 0, second, 0)
    return _coupled(
        take(m.eq_data, ids),
        _Measure(value, J, weight),
        second >= 0,
        _Measure(
            take(d.qpos - m.qpos0, m.jnt_qposadr[other]),
            _one_hot(m.jnt_dofadr[other], m.nv, d.qpos.dtype),
            take(m.dof_invweight0, m.jnt_dofadr[other]),
        ),
    )


def _tendon(m: Model, d: Data, ids: np.ndarray) -> EqualityRows:
    first, second = m.eq_obj1id[ids], m.eq_obj2id[ids]
    stretch, other = d.ten_length - m.tendon_length0, np.where(second >= 0, second, 0)
    return _coupled(
        take(m.eq_data, ids),
        _Measure(take(stretch, first), take(d.ten_J, first), take(m.tendon_invweight0, first)),
        second >= 0,
        _Measure(take(stretch, other), take(d.ten_J, other), take(m.tendon_invweight0, other)),
    )


class _Measure(NamedTuple):
    """What an equality of joints or tendons holds: displacements from qpos0, shapes (n, ...)."""

    value: Array
    J: Array
    invweight: Array


def _coupled(data: Array, own: _Measure, coupled: np.ndarray, other: _Measure) -> EqualityRows:
    """Return rows that hold a value to a quartic of another, or to a constant where not `coupled`."""
    x = jnp.where(coupled, other.value, 0)
    c = [data[:, i] for i in range(5)]
    polynomial = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))
    slope = jnp.where(coupled, c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4])), 0)
    error = own.value - polynomial
    return EqualityRows(
        pos=error,
        J=own.J - slope[:, None] * other.J,
        violation=error,
        invweight=own.invweight + jnp.where(coupled, other.invweight, 0),
    )


def _one_hot(index: np.ndarray, size: int, dtype) -> Array:
    return jnp.asarray(np.arange(size) == index[:, None], dtype)
