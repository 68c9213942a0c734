"""The coordinates of a body's joints from the pose that they have given it."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import quaternion, safe
from mjx_like.math.linalg import matmul, solve_definite
from mjx_like.math.select import take
from mjx_like.types.enums import JointType

Array = jax.Array
Kinds = tuple[JointType, ...]

_STEPS = 10  # of Gauss-Newton; with hinges whose axes are not parallel the start is the solution
_PARALLEL = 1e-4  # sine below which axes count as parallel


def sizes(kinds: Kinds) -> np.ndarray:
    """Return how many coordinates the joints have, shape (njoint,)."""
    return np.array([4 if kind == JointType.BALL else 1 for kind in kinds])


def coordinates(kinds: Kinds, axis: Array, anchor: Array, pos: Array, quat: Array, reference: Array) -> Array:
    """Return the coordinates of slides, hinges and ball joints of one body, less those at rest, shape (n,).

    axis, anchor: of each joint in the body's frame, shape (njoint, 3); pos, quat: of the body in its frame at rest,
    shapes (3,) and (4,); reference: shape (n,), hinges are found within (-pi, pi] of it, quaternions on its side.

    One hinge, a ball, and slides beside them are solved in closed form: the rotation first, then the slides that fit
    best. Two and three hinges have a closed form as well, of two solutions the one nearer to the reference. With
    parallel hinges, or more than three, the start is the reference; with several hinges a fixed number of Gauss-Newton
    steps follows, on positions in m and rotations in rad. A pose that the joints cannot have is projected.
    """
    hinges = np.array([i for i, kind in enumerate(kinds) if kind == JointType.HINGE], int)
    slides = np.array([i for i, kind in enumerate(kinds) if kind == JointType.SLIDE], int)
    at = np.cumsum(sizes(kinds)) - sizes(kinds)
    q = reference
    if hinges.size:
        q = q.at[at[hinges]].set(_angles(take(axis, hinges), quat, take(reference, at[hinges])))
    for i in (i for i, kind in enumerate(kinds) if kind == JointType.BALL):
        cells = slice(at[i], at[i] + 4)
        q = q.at[cells].set(same_side(quat, reference[cells]))
    if slides.size:
        q = q.at[at[slides]].set(0)
        reached, _, directions = _chain(kinds, axis, anchor, q)
        columns = jnp.stack([directions[i] for i in slides])
        q = q.at[at[slides]].set(solve_definite(matmul(columns, columns.T), matmul(columns, pos - reached)))
    return _fitted(kinds, axis, anchor, pos, quat, q) if hinges.size > 1 else q


def same_side(quat: Array, reference: Array) -> Array:
    """Return quat or minus quat, shape (..., 4), whichever is nearer to the reference."""
    return jnp.where(jnp.sum(quat * reference, axis=-1, keepdims=True) < 0, -quat, quat)


def _chain(kinds: Kinds, axis: Array, anchor: Array, q: Array) -> tuple[Array, Array, list[Array]]:
    """Return position and quaternion of the body in its frame at rest, and the axes of the joints there."""
    pos, rotation = jnp.zeros(3, q.dtype), jnp.array([1, 0, 0, 0], q.dtype)
    directions, at = [], 0
    for i, kind in enumerate(kinds):
        direction, before = quaternion.rotate(rotation, axis[i]), rotation
        directions.append(direction)
        if kind == JointType.SLIDE:
            pos = pos + q[at] * direction
        else:
            own = quaternion.from_axis_angle(axis[i], q[at]) if kind == JointType.HINGE else q[at : at + 4]
            rotation = quaternion.multiply(before, own)
            pos = pos + quaternion.rotate(before, anchor[i]) - quaternion.rotate(rotation, anchor[i])
        at += 4 if kind == JointType.BALL else 1
    return pos, rotation, directions


def _fitted(kinds: Kinds, axis: Array, anchor: Array, pos: Array, quat: Array, start: Array) -> Array:
    """Return the coordinates of hinges and slides after the Gauss-Newton steps."""

    def error(q):
        reached, rotation, _ = _chain(kinds, axis, anchor, q)
        value = jnp.concatenate([pos - reached, quaternion.subtract(quat, rotation)])
        return value, value

    def improve(_, q):
        slope, rest = jax.jacfwd(error, has_aux=True)(q)
        normal = matmul(slope.T, slope)
        damping = float(jnp.finfo(q.dtype).eps) * jnp.trace(normal)  # where axes of hinges fall together
        return q - solve_definite(normal + damping * jnp.eye(q.size, dtype=q.dtype), matmul(slope.T, rest))

    return lax.fori_loop(0, _STEPS, improve, start)


def _angles(axis: Array, quat: Array, reference: Array) -> Array:
    """Return the angles of hinges that make up a rotation, shape (n,), in closed form up to three of them."""
    n = axis.shape[0]
    if n == 1:
        return _twist(axis[0], quat, reference[0])[None]
    if n == 2:
        return _outer(axis[0], axis[1], quaternion.from_axis_angle(axis[0], jnp.zeros_like(quat[0])), quat, reference)
    if n > 3:
        return reference
    middle = _middle(axis, quat, reference[1])
    inner = quaternion.from_axis_angle(axis[1], middle)
    ends = jax.vmap(lambda q: _outer(axis[0], axis[2], q, quat, reference[np.array([0, 2])]))(inner)
    both = jnp.stack([ends[:, 0], middle, ends[:, 1]], axis=1)
    far = jnp.sum((both - reference) ** 2, axis=1)
    return jnp.where(far[0] <= far[1], both[0], both[1])


def _middle(axis: Array, quat: Array, reference: Array) -> Array:
    """Return both angles of the second of three hinges: it alone decides how far the third axis is from the first."""
    a, b, c = axis
    along = jnp.dot(a, b) * jnp.dot(b, c)
    x, y = jnp.dot(a, c) - along, jnp.dot(a, quaternion.cross(b, c))
    wanted = jnp.dot(a, quaternion.rotate(quat, c)) - along
    regular = x * x + y * y > _PARALLEL**2
    x, y = jnp.where(regular, x, 1), jnp.where(regular, y, 0)
    half = safe.arctan2(safe.sqrt(x * x + y * y - wanted * wanted), wanted)
    both = safe.arctan2(y, x) + jnp.stack([half, -half])
    return jnp.where(regular, _near(both, reference), reference)


def _outer(first: Array, last: Array, inner: Array, quat: Array, reference: Array) -> Array:
    """Return the angles, shape (2,), about a first and a last axis with a given rotation between them."""
    before = quaternion.from_axis_angle(first, reference[0])
    start = quaternion.rotate(inner, last)
    end = quaternion.rotate(quaternion.conjugate(before), quaternion.rotate(quat, last))
    sine = jnp.dot(first, quaternion.cross(start, end))
    cosine = jnp.dot(start, end) - jnp.dot(first, start) * jnp.dot(first, end)
    regular = sine * sine + cosine * cosine > _PARALLEL**4
    turn = safe.arctan2(jnp.where(regular, sine, 0), jnp.where(regular, cosine, 1))
    angle = reference[0] + turn
    done = quaternion.multiply(quaternion.from_axis_angle(first, angle), inner)
    rest = quaternion.multiply(quaternion.conjugate(done), quat)
    return jnp.stack([angle, _twist(last, rest, reference[1])])


def _twist(axis: Array, quat: Array, reference: Array) -> Array:
    """Return the angle about an axis, shape (), of the rotation about it that comes nearest to a given one."""
    rest = quaternion.multiply(quaternion.conjugate(quaternion.from_axis_angle(axis, reference)), quat)
    rest = jnp.where(rest[0] < 0, -rest, rest)
    return reference + 2 * safe.arctan2(jnp.dot(axis, rest[1:]), rest[0])


def _near(angle: Array, reference: Array) -> Array:
    """Return the angle less whole turns, within half a turn of the reference."""
    return angle - 2 * math.pi * jnp.round((angle - reference) / (2 * math.pi))
