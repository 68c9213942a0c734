"""The law of constraint rows: force, zone, cost and curvature as functions of the row's residual acceleration.

A row with residual `jar = J qacc - aref` costs s(jar) and acts with the force -ds/djar. Without cones the law is one
formula: the residual is clipped to [low, high], inside it is a spring of mass D, outside the force is constant.
Equalities have no bounds, friction loss is clipped at +-R frictionloss, one-sided rows above 0. Rows of a cone
obey a joint law by contact: nothing above the cone, springs below it, the squared distance to its surface between.
Arrays have shape (..., nrow), any axes before.  Source: Computation chapter, constraint model; mj_constraintUpdate.
"""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.types.enums import ConstraintState, ConstraintType
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

_MAXDIM = 6


@record
class Cone(Record):
    """Which rows form elliptic cones; rows of other kinds have dim 0."""

    lane: Array = leaf("nrow")  # number of the row in its contact
    dim: Array = leaf("nrow")  # rows of the contact
    scale: Array = leaf("nrow")  # mu of the regularised cone on lane 0, friction coefficients on the others
    mu: Array = leaf("nrow")  # mu of the regularised cone, on all lanes


@record
class Law(Record):
    """The laws of all rows."""

    D: Array = leaf("nrow")
    low: Array = leaf("nrow")
    high: Array = leaf("nrow")
    loss: Array = leaf("nrow")  # force outside the bounds
    cone: Cone | None = leaf()


def row_bounds(kind: Array, R: Array, frictionloss: Array) -> tuple[Array, Array]:
    """Return the bounds within which a row is a spring.  kind: ConstraintType, shape (..., nrow)."""
    friction = (kind == ConstraintType.FRICTION_DOF) | (kind == ConstraintType.FRICTION_TENDON)
    free = kind == ConstraintType.EQUALITY
    bound = R * frictionloss
    low = jnp.where(friction, -bound, -jnp.inf)
    high = jnp.where(friction, bound, jnp.where(free, jnp.inf, 0))
    return low, high


def clipped(law: Law, jar: Array) -> Array:
    """Return the residual limited to the bounds."""
    return safe.clip(jar, law.low, law.high)


def spring(law: Law, jar: Array) -> Array:
    """Return whether each row is inside its bounds, cones aside."""
    return (jar > law.low) & (jar < law.high)


def force(law: Law, jar: Array) -> Array:
    """Return the force of each row."""
    plain = -law.D * clipped(law, jar)
    if law.cone is None:
        return plain
    c = law.cone
    part = _decompose(c, jar)
    pull = -_mass(law) * part.gap * c.mu
    middle = jnp.where(c.lane == 0, pull, -pull * part.unit * c.scale)
    value = jnp.where(part.bottom, -law.D * jar, jnp.where(part.middle, middle, 0))
    return jnp.where(c.dim > 0, value, plain)


def state(law: Law, jar: Array) -> Array:
    """Return the ConstraintState of each row."""
    below, above = ConstraintState.LINEARNEG, ConstraintState.LINEARPOS
    outside = jnp.where(law.loss > 0, jnp.where(jar <= law.low, int(below), int(above)), int(ConstraintState.SATISFIED))
    plain = jnp.where(spring(law, jar), int(ConstraintState.QUADRATIC), outside)
    if law.cone is None:
        return plain
    part = _decompose(law.cone, jar)
    value = jnp.where(part.middle, int(ConstraintState.CONE), int(ConstraintState.SATISFIED))
    value = jnp.where(part.bottom, int(ConstraintState.QUADRATIC), value)
    return jnp.where(law.cone.dim > 0, value, plain)


def cost_change(law: Law, start: Array, end: Array) -> Array:
    """Return the sum over rows of the cost at `end` less that at `start`, shape (...).

    Row by row it is a product of differences, so that little is lost where the two are close.
    """
    a, b = clipped(law, start), clipped(law, end)
    rows = 0.5 * law.D * (b - a) * (b + a) + law.loss * (_excess(end, b) - _excess(start, a))
    if law.cone is not None:
        rows = jnp.where(law.cone.dim > 0, _cone_cost(law, end) - _cone_cost(law, start), rows)
    return jnp.sum(rows, axis=-1)


def _excess(jar: Array, inside: Array) -> Array:
    return jnp.abs(jar - inside)


def curvature(law: Law, jar: Array, J: Array) -> tuple[Array, Array]:
    """Return weights w, shape (..., nrow), and rows K, shape (..., nrow, n), with K' diag(w) K the Hessian J' s'' J.

    J: shape (..., nrow, n). Without cones K is J itself. In the middle of a cone the normal row becomes the gradient
    of the distance to the surface, and the tangents lose their part along the slip.
    """
    weight = jnp.where(spring(law, jar), law.D, 0)
    if law.cone is None:
        return weight, J
    c = law.cone
    part = _decompose(c, jar)
    mass = _mass(law)
    ratio = -part.gap * c.mu * part.inverse_slip
    middle = jnp.where(c.lane == 0, mass, mass * ratio)
    weight = jnp.where(c.dim > 0, jnp.where(part.middle, middle, jnp.where(part.bottom, law.D, 0)), weight)
    scaled = c.scale[..., None] * J
    along = _spread(c, _gather_tangent(c, part.unit[..., None] * scaled, axis=-2), axis=-2)
    turned = scaled - jnp.where(c.lane == 0, c.mu, part.unit)[..., None] * along
    return weight, jnp.where((part.middle & (c.dim > 0))[..., None], turned, J)


class _Parts:
    """A residual taken apart by contact; every field stands on all lanes."""

    def __init__(self, unit, inverse_slip, gap, middle, bottom):
        self.unit = unit  # scaled tangent components over their norm
        self.inverse_slip = inverse_slip  # 1 over the norm of the scaled tangent
        self.gap = gap  # scaled normal less mu times the norm of the scaled tangent
        self.middle = middle
        self.bottom = bottom


def _decompose(c: Cone, jar: Array) -> _Parts:
    scaled = jar * c.scale
    normal = _spread(c, jnp.where(c.lane == 0, scaled, 0))
    slip = _spread(c, safe.sqrt(_gather_tangent(c, scaled * scaled)))
    top = normal >= c.mu * slip
    bottom = ~top & (c.mu * normal + slip <= 0)
    inverse = safe.divide(jnp.ones_like(slip), slip)
    return _Parts(scaled * inverse, inverse, normal - c.mu * slip, ~top & ~bottom, bottom)


def _mass(law: Law) -> Array:
    """Return the mass of the middle zone, on all lanes."""
    c = law.cone
    mu2 = c.mu * c.mu
    return _spread(c, jnp.where(c.lane == 0, law.D, 0)) / jnp.maximum(mu2 * (1 + mu2), MINVAL)


def _cone_cost(law: Law, jar: Array) -> Array:
    """Return the cost of cones, on lane 0 in the middle zone, row by row below it."""
    c = law.cone
    part = _decompose(c, jar)
    middle = jnp.where(c.lane == 0, 0.5 * _mass(law) * part.gap * part.gap, 0)
    return jnp.where(part.bottom, 0.5 * law.D * jar * jar, jnp.where(part.middle, middle, 0))


def _shift(x: Array, by: int, axis: int) -> Array:
    """Return x with its entries moved `by` places up the axis, zeros moved in."""
    axis = axis % x.ndim
    size = x.shape[axis]
    zero = jnp.zeros_like(jax.lax.slice_in_dim(x, 0, min(abs(by), size), axis=axis))
    if abs(by) >= size:
        return jnp.zeros_like(x)
    if by > 0:
        return jnp.concatenate([zero, jax.lax.slice_in_dim(x, 0, size - by, axis=axis)], axis=axis)
    return jnp.concatenate([jax.lax.slice_in_dim(x, -by, size, axis=axis), zero], axis=axis)


def _along(mask: Array, x: Array) -> Array:
    return mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))


def _gather_tangent(c: Cone, x: Array, axis: int = -1) -> Array:
    """Return, on lane 0, the sum of `x` over the tangent lanes of the contact; elsewhere 0."""
    total = jnp.zeros_like(x)
    for lane in range(1, _MAXDIM):
        total = total + jnp.where(_along((c.lane == 0) & (c.dim > lane), x), _shift(x, -lane, axis), 0)
    return total


def _spread(c: Cone, x: Array, axis: int = -1) -> Array:
    """Return what stands on lane 0 of `x` on all lanes of the contact."""
    out = jnp.where(_along(c.lane == 0, x), x, 0)
    for lane in range(1, _MAXDIM):
        out = jnp.where(_along(c.lane == lane, x), _shift(x, lane, axis), out)
    return out
