"""Maximal coordinates: poses and velocities of all bodies in place of joint coordinates, and the way back.

The pose of a body is that of its inertial frame: its centre of mass [m, world] and the quaternion wxyz from the
inertial frame to the world. The tangent of a body's pose has three components in the world for its position, then three
in the inertial frame for its rotation.  Source: Dojo paper, section III C.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.math.select import put, take
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.tree.jacobian import jac
from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model
from mjx_like.variational.joints import coordinates, same_side, sizes

Array = jax.Array


def maximal_from_minimal(m: Model, d: Data) -> tuple[Array, Array]:
    """Return centres of mass, shape (nbody, 3) [m, world], and quaternions of the inertial frames, (nbody, 4).

    Reads qpos, mocap_pos, mocap_quat; nothing else needs to fit them.
    """
    d = kinematics(m, d)
    return d.xipos, quaternion.multiply(d.xquat, quaternion.normalize(m.body_iquat))


def minimal_from_maximal(m: Model, position: Array, quat: Array, reference: Array | None = None) -> Array:
    """Return the joint coordinates, shape (nq,), of bodies with these poses.

    position, quat: as `maximal_from_minimal` returns them; quaternions of any norm. reference: joint coordinates, shape
    (nq,), from qpos0 if None: hinges come back within (-pi, pi] of them, quaternions on their side.
    Each joint is found from the poses of its body and of the body's parent, as `joints.coordinates` says.
    """
    reference = m.qpos0 if reference is None else jnp.asarray(reference)
    quat = quaternion.normalize(quat)
    body_quat = quaternion.multiply(quat, quaternion.conjugate(quaternion.normalize(m.body_iquat)))
    body_pos = position - quaternion.rotate(body_quat, m.body_ipos)
    parent = m.body_parentid
    rest_quat = quaternion.multiply(take(body_quat, parent), quaternion.normalize(m.body_quat))
    rest_pos = take(body_pos, parent) + quaternion.rotate(take(body_quat, parent), m.body_pos)
    back = quaternion.conjugate(rest_quat)
    local_pos, local_quat = quaternion.rotate(back, body_pos - rest_pos), quaternion.multiply(back, body_quat)
    parts = []
    for kinds, body in _groups(m):
        joint = m.body_jntadr[body][:, None] + np.arange(len(kinds))
        if kinds == (JointType.FREE,):
            cells = m.jnt_qposadr[joint] + np.arange(7)
            side = same_side(take(body_quat, body), reference[cells[:, 3:]])
            parts.append((cells, jnp.concatenate([take(body_pos, body), side], axis=1)))
            continue
        width = sizes(kinds)
        cells = np.concatenate([m.jnt_qposadr[joint[:, i], None] + np.arange(width[i]) for i in range(len(kinds))], 1)
        scalar = np.repeat(width == 1, width)
        rest = jnp.where(scalar, m.qpos0[cells], 0)
        found = jax.vmap(lambda *x, kinds=kinds: coordinates(kinds, *x))(
            m.jnt_axis[joint],
            m.jnt_pos[joint],
            take(local_pos, body),
            take(local_quat, body),
            reference[cells] - rest,
        )
        parts.append((cells, found + rest))
    return put(reference, parts)


def maximal_velocity(m: Model, d: Data, qvel: Array | None = None) -> tuple[Array, Array]:
    """Return velocities of the centres of mass [m/s, world] and angular ones [rad/s, inertial frame], (nbody, 3) each.

    qvel: shape (nv,), that of `d` if None. Reads qpos, mocap poses, qvel.
    """
    own = d.qvel if qvel is None else qvel
    both = matmul(maximal_jacobian(m, d), own).reshape(m.nbody, 6)
    return both[:, :3], both[:, 3:]


def minimal_velocity(m: Model, d: Data, linear: Array, angular: Array) -> Array:
    """Return the joint velocities, shape (nv,), with the least sum of squared errors in the velocities of the bodies.

    linear, angular: as `maximal_velocity` returns them; errors in m/s and in rad/s weigh the same.
    Reads qpos, mocap poses.
    """
    slope = maximal_jacobian(m, d)
    factor, wanted = cholesky(matmul(slope.T, slope)), jnp.concatenate([linear, angular], axis=1).ravel()
    first = cho_solve(factor, matmul(slope.T, wanted))
    return first + cho_solve(
        factor, matmul(slope.T, wanted - matmul(slope, first))
    )  # which mends the squared condition


def maximal_jacobian(m: Model, d: Data) -> Array:
    """Return the derivative of the bodies' poses in the joint coordinates, tangent to tangent, shape (6 nbody, nv).

    Rows stand body by body: position in the world, rotation in the inertial frame. Reads qpos, mocap poses.
    """
    d = com_pos(m, kinematics(m, d))
    linear, angular = jac(m, d, d.xipos, np.arange(m.nbody))
    local = jnp.einsum("bvw,bwi->bvi", angular, d.ximat, precision="highest")
    return jnp.swapaxes(jnp.concatenate([linear, local], axis=2), 1, 2).reshape(6 * m.nbody, m.nv)


def minimal_jacobian(m: Model, d: Data) -> Array:
    """Return the pseudo-inverse of `maximal_jacobian`, shape (nv, 6 nbody).

    It is the derivative of the joint coordinates in the poses of the bodies, in directions that the joints allow.
    """
    slope = maximal_jacobian(m, d)
    return cho_solve(cholesky(matmul(slope.T, slope)), slope.T)


def _groups(m: Model) -> list[tuple[tuple[JointType, ...], np.ndarray]]:
    """Return the kinds of joints that bodies have, in order, and the bodies that have them."""
    groups: dict[tuple[JointType, ...], list[int]] = {}
    for body in range(m.nbody):
        start, count = m.body_jntadr[body], m.body_jntnum[body]
        kinds = tuple(JointType(kind) for kind in m.jnt_type[start : start + count]) if count else ()
        groups.setdefault(kinds, []).append(body)
    return [(kinds, np.array(body)) for kinds, body in groups.items() if kinds]
