"""The dual problem: minimise over the forces 1/2 f'(A + R) f + f'b within the bounds and cones of the rows.

A = J M^-1 J', b = J a0 - aref with a0 the acceleration without constraints.  Source: Computation chapter, dual problem.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import cho_solve, cholesky, half_solve, matmul
from mjx_like.solver.capacity import split
from mjx_like.solver.law import Law
from mjx_like.solver.problem import Problem, times
from mjx_like.types.enums import ConstraintState

Array = jax.Array

_SINGULAR = 1e-10  # determinant or pivot below which a block is not solved
_ROOT_STEPS = 20


class Dual(NamedTuple):
    """The dual problem; rows that are not in use have A = 0, R = 1 and b = 0."""

    A: Array  # (nrow, nrow)
    R: Array  # (nrow,)
    b: Array  # (nrow,)
    low: Array  # (nrow,) bounds of the forces of rows without a cone
    high: Array
    friction: Array  # (ncone, ndim - 1); axes that a contact does not use are 0


class Response(NamedTuple):
    """How the acceleration responds to forces of the rows: by M^-1 J' f, with M = L L'."""

    factor: Array  # (nv, nv) L
    half: Array  # (nv, nrow) L^-1 J'

    def acceleration(self, force: Array, at_once: bool = False) -> Array:
        """Return M^-1 J' f, shape (nv,)."""
        return half_solve(self.factor, times(self.half, force)[:, None], transposed=True, at_once=at_once)[:, 0]


def response(p: Problem, at_once: bool = False) -> Response:
    """Return the response of one world; at_once: see `lapack.cholesky`."""
    factor = cholesky(p.M, at_once)
    return Response(factor, half_solve(factor, p.J.T, at_once=at_once))


def dual(p: Problem, unconstrained: Array, response: Response) -> Dual:
    """Return the dual of a primal problem; unconstrained: acceleration without constraints, shape (nv,)."""
    ncone = split(p.law)[1]
    used, loss = p.law.D > 0, p.law.loss
    return Dual(
        A=matmul(response.half.T, response.half),
        R=safe.divide(1, p.law.D, 1, where=used),
        b=times(p.J, unconstrained) - p.aref,
        low=jnp.where(loss > 0, -loss, jnp.where(p.law.high == jnp.inf, -jnp.inf, 0)),
        high=jnp.where(loss > 0, loss, jnp.inf),
        friction=p.law.cone.scale[:, 1:] if ncone else jnp.zeros((0, 0), p.q.dtype),
    )


def dual_state(law: Law, force: Array) -> Array:
    """Return the ConstraintState of rows with given forces.  Source: dualState of engine_solver."""
    s = ConstraintState
    loss = law.loss > 0
    one_sided = jnp.where(force <= 0, int(s.SATISFIED), int(s.QUADRATIC))
    slip = jnp.where(force >= law.loss, int(s.LINEARNEG), int(s.QUADRATIC))
    slip = jnp.where(force <= -law.loss, int(s.LINEARPOS), slip)
    out = jnp.where(loss, slip, jnp.where(law.high == jnp.inf, int(s.QUADRATIC), one_sided))
    nplain, ncone, ndim = split(law)
    if not ncone:
        return out
    cones, mu, friction = force[nplain:].reshape(ncone, ndim), law.cone.mu, law.cone.scale[:, 1:]
    normal, tangent = safe.ratio(cones[:, 0], mu), safe.norm(safe.divide(cones[:, 1:], friction))
    zone = jnp.where(normal + mu * tangent <= 0, int(s.QUADRATIC), int(s.CONE))
    zone = jnp.where(mu * normal >= tangent, int(s.SATISFIED), zone)
    flat = jnp.all(friction == 0, axis=1)
    zone = jnp.where(flat, one_sided[nplain:].reshape(ncone, ndim)[:, 0], zone)
    return jnp.concatenate([out[:nplain], jnp.repeat(zone, ndim)])


def within_ellipsoid(A: Array, b: Array, friction: Array, normal: Array) -> Array:
    """Return the v that minimises 1/2 v'Av + v'b with |v / friction| <= normal; zero where A is singular.

    Newton's method on the multiplier; on the surface v is scaled to lie on it.
    A: shape (n, n); b, friction: shape (n,), friction 0 on axes that are not used.
    Source: mju_QCQP, mju_QCQP2, mju_QCQP3.
    """
    n, used = b.shape[0], friction > 0
    scaled = A * friction * friction[:, None] + jnp.diag(jnp.where(used, 0, 1.0))
    target, radius = b * friction, normal * normal
    eye = jnp.eye(n, dtype=b.dtype)
    pivots = jnp.diag(cholesky(scaled)) ** 2
    regular = jnp.where(jnp.sum(used) > 3, jnp.min(pivots), jnp.prod(pivots)) >= _SINGULAR
    scaled = jnp.where(regular, scaled, eye)

    def point(multiplier: Array) -> tuple[Array, Array]:
        factor = cholesky(scaled + multiplier * eye)
        v = -cho_solve(factor, target)
        return v, factor

    def improve(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        multiplier, _, count, _ = carry
        v, factor = point(multiplier)
        excess = jnp.sum(v * v) - radius
        slope = -2 * jnp.sum(v * cho_solve(factor, v))
        step = -excess / jnp.where(slope == 0, -MINVAL, slope)
        done = (excess < _SINGULAR) | (step < _SINGULAR)
        return jnp.where(done, multiplier, multiplier + step), v, count + 1, done

    zero = jnp.zeros((), b.dtype)
    start = (zero, jnp.zeros_like(b), jnp.int32(0), jnp.zeros((), bool))
    multiplier, v, _, _ = lax.while_loop(lambda c: (c[2] < _ROOT_STEPS) & ~c[3], improve, start)
    v = jnp.where(regular, v * friction, 0)
    active = regular & (multiplier != 0)
    return jnp.where(active, on_ellipsoid(v, friction, normal), v)


def on_ellipsoid(v: Array, friction: Array, normal: Array) -> Array:
    """Return `v` scaled to |v / friction| = normal.  v, friction: shape (..., n); normal: shape (...)."""
    square = jnp.sum(safe.divide(v, friction) ** 2, axis=-1)
    return v * safe.sqrt(safe.ratio(normal * normal, jnp.maximum(MINVAL, square)))[..., None]
