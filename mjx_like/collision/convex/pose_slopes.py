"""How contact points follow the motion of two geoms: by slopes that are made for the pairs that touch, and no others.

What touches moves with both geoms as if they were one body, and by the motion of the first relative to the second. The
slopes by that motion, six numbers for each value, come out of forward mode within the list of `near_rows`. What JAX
differentiates is then a product with them, in place of the functions that follow the surfaces of every pair.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from mjx_like.collision.near_rows import near_rows
from mjx_like.math.linalg import matmul
from mjx_like.math.one_kernel import one_kernel
from mjx_like.math.platform import on_cpu
from mjx_like.math.quaternion import cross
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import rows
from mjx_like.math.tangent import changing, rate

Array = jax.Array


class Moving(NamedTuple):
    """What moves of the points of a pair, or its tangents."""

    dist: Array  # shape (slots,) [m]
    pos: Array  # shape (slots, 3) [m], world
    normal: Array  # shape (3,), world; of `portal_contact` (slots, 3)


class Slopes(NamedTuple):
    """What moves, and how it does with six motions of a geom: three shifts [m] and three rotations [rad]."""

    at: Moving  # not what the search found where that is not the optimum
    by: Moving  # a first axis of six more


def by_motion(follow: Callable[[Array, Array], Moving], pos: Array, mat: Array) -> Slopes:
    """Return `follow` and its slopes by the motion of a geom; on a CPU in one kernel, where that is possible.

    follow: takes position and rotation of the geom, shapes (3,) and (3, 3), in world axes.
    """

    def in_direction(pos: Array, mat: Array, motion: Array) -> tuple[Moving, Moving]:
        turn = cross(jnp.broadcast_to(motion[3:], (3, 3)), mat.T).T
        return jax.jvp(follow, (pos, mat), (motion[:3], turn))

    def in_all(pos: Array, mat: Array) -> Slopes:
        return Slopes(
            *jax.vmap(functools.partial(in_direction, pos, mat), out_axes=(None, 0))(np.eye(6, dtype=pos.dtype))
        )

    return one_kernel(in_all)(pos, mat)


def suffice(others: Any, tangents: Any) -> bool:
    """Return whether slopes by poses are all that a tangent needs: on a CPU, if nothing else, a pytree, changes."""
    return on_cpu() and not changing(others, tangents)[0]


def slopes(make: Callable[[Any, Any, Any], Slopes], shared: Any, own: Any, held: Any, touching: Array) -> Slopes:
    """Return the slopes of each row, zero where it does not touch; a leading axis of rows.

    make: the slopes of one row from `shared`, and that row of `own` and of `held`. Their own derivatives are by
    `shared` and `own`; what is held has none.
    """

    @custom_jvp
    def found(shared: Any, own: Any, held: Any, touching: Array) -> Slopes:
        return near_rows(lambda shared, row: (make(shared, *row),), touching, shared, (own, held))[0]

    @functools.partial(found.defjvp, symbolic_zeros=True)
    def derivative(primals, tangents):
        shared, own, held, touching = primals

        def all_rows(x: tuple[Any, Any]) -> Slopes:
            every = jax.vmap(lambda own, held: make(x[0], own, held))(x[1], held)
            return jax.tree.map(lambda y: jnp.where(touching.reshape(-1, *(1,) * (y.ndim - 1)), y, 0), every)

        return found(*primals), rate(all_rows, (shared, own), tangents[:2])

    return found(shared, own, held, touching)


def motions(pos: Array, mat: Array, dpos: Array | SymbolicZero, dmat: Array | SymbolicZero) -> Array:
    """Return the motion of each geom, shape (ngeom, 6), from the tangents of its pose: shift and rotation.

    pos, dpos: shape (ngeom, 3); mat, dmat: shape (ngeom, 3, 3).
    """
    shift = jnp.zeros_like(pos) if type(dpos) is SymbolicZero else dpos
    if type(dmat) is SymbolicZero:
        return jnp.concatenate([shift, jnp.zeros_like(shift)], axis=1)
    turn = matmul(dmat, jnp.swapaxes(mat, 1, 2))
    skew = 0.5 * (turn - jnp.swapaxes(turn, 1, 2))
    return jnp.concatenate([shift, jnp.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)], axis=1)


def along(slopes: Slopes, motion: Array) -> Moving:
    """Return the tangents of each row by its motion, shape (n, 6), alone."""
    return jax.tree.map(lambda x: jnp.einsum("nk,nk...->n...", motion, x, precision="highest"), slopes.by)


def rates(slopes: Slopes, motion: Array, center: Array, geom: Array, touching: Array) -> Moving:
    """Return the tangents of the points of pairs.

    Args:
      slopes: of each pair, by the motion of its first geom.
      motion: of each geom, see `motions`.
      center: positions of the geoms, shape (ngeom, 3) [m], world.
      geom: both geoms of each pair, shape (n, 2).
      touching: which pairs have points, shape (n,).
    """
    own, other = (rows(motion, geom[:, k]) for k in (0, 1))
    own, other = (jnp.where(touching[:, None], x, 0) for x in (own, other))
    second = rows(center, geom[:, 1])
    shift, spin = other[:, :3], other[:, 3:]
    carried = shift + cross(spin, rows(center, geom[:, 0]) - second)
    dist, pos, normal = along(slopes, jnp.concatenate([own[:, :3] - carried, own[:, 3:] - spin], axis=1))
    pos = pos + shift[:, None] + _turned(spin, slopes.at.pos - second[:, None])
    return Moving(dist, pos, normal + _turned(spin, slopes.at.normal))


def _turned(spin: Array, x: Array) -> Array:
    """Return spin x x for each row, shape (n, 3), of vectors with any axes in between."""
    return cross(jnp.broadcast_to(spin.reshape(-1, *(1,) * (x.ndim - 2), 3), x.shape), x)
