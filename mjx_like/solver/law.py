"""The law of constraint rows: force, zone, cost and curvature as functions of the row's residual acceleration.

A row with residual `jar = J qacc - aref` costs s(jar) and acts with the force -ds/djar. Without cones the law is one
formula: the residual is clipped to [low, high], inside it is a spring of mass D, outside the force is constant.
Equalities have no bounds, friction loss is clipped at +-R frictionloss, one-sided rows above 0. The rows of an elliptic
cone obey a joint law: nothing above the cone, springs below it, the squared distance to its surface between.
Arrays have shape (..., nrow), any axes before; the rows of cones come last, cone by cone.
Source: Computation chapter, constraint model; mj_constraintUpdate.
"""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.select import total
from mjx_like.types.enums import ConstraintState, ConstraintType
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

# zones of a row; those of a cone stand on all its rows
_INSIDE, _BELOW, _ABOVE, _MIDDLE = 0, 1, 2, 3


@record
class Cone(Record):
    """The elliptic cones; axes that a contact does not use have scale 0."""

    scale: Array = leaf("ncone", "ndim")  # mu of the regularised cone, then the friction coefficients
    mu: Array = leaf("ncone")  # mu of the regularised cone


@record
class Law(Record):
    """The laws of all rows."""

    D: Array = leaf("nrow")
    low: Array = leaf("nrow")
    high: Array = leaf("nrow")
    loss: Array = leaf("nrow")  # size of the force outside the bounds
    cone: Cone | None = leaf()


def row_bounds(kind: Array, R: Array, frictionloss: Array) -> tuple[Array, Array]:
    """Return the bounds within which a row is a spring.  kind: ConstraintType, shape (..., nrow)."""
    friction = (kind == ConstraintType.FRICTION_DOF) | (kind == ConstraintType.FRICTION_TENDON)
    free = kind == ConstraintType.EQUALITY
    bound = R * frictionloss
    return jnp.where(friction, -bound, -jnp.inf), jnp.where(friction, bound, jnp.where(free, jnp.inf, 0))


def zones(law: Law, jar: Array) -> Array:
    """Return the zone of each row, an integer; two residuals with equal zones share the Hessian, cones aside."""
    plain = jnp.where(jar <= law.low, _BELOW, jnp.where(jar >= law.high, _ABOVE, _INSIDE))
    if law.cone is None:
        return plain
    c = _Decomposed(law, jar)
    cone = jnp.where(c.middle, _MIDDLE, jnp.where(c.bottom, _INSIDE, _ABOVE))
    return _join(law, plain, jnp.broadcast_to(cone[..., None], c.jar.shape))


def curved(law: Law, zone: Array) -> Array:
    """Return whether the Hessian changes within the zones of any row, shape (...)."""
    return jnp.any(zone == _MIDDLE, axis=-1) if law.cone is not None else jnp.zeros(zone.shape[:-1], bool)


def state(law: Law, zone: Array) -> Array:
    """Return the ConstraintState of rows in given zones."""
    s = ConstraintState
    below = jnp.where(law.loss > 0, int(s.LINEARNEG), int(s.QUADRATIC))
    above = jnp.where(law.loss > 0, int(s.LINEARPOS), int(s.SATISFIED))
    out = jnp.where(zone == _BELOW, below, jnp.where(zone == _ABOVE, above, int(s.QUADRATIC)))
    return jnp.where(zone == _MIDDLE, int(s.CONE), out)


def clipped(law: Law, jar: Array) -> Array:
    """Return the residual limited to the bounds."""
    return safe.clip(jar, law.low, law.high)


def force(law: Law, jar: Array) -> Array:
    """Return the force of each row."""
    plain = -law.D * clipped(law, jar)
    if law.cone is None:
        return plain
    c = _Decomposed(law, jar)
    normal = -c.mass * c.gap * law.cone.mu
    slip = -normal[..., None] * c.unit * law.cone.scale[..., 1:]
    middle = jnp.concatenate([normal[..., None], slip], axis=-1)
    return _join(law, plain, c.pick(middle, -c.D * c.jar))


def cost_change(law: Law, start: Array, end: Array) -> Array:
    """Return the sum over rows of the cost at `end` less that at `start`, shape (...).

    Row by row it is a product of differences, so that little is lost where the two are close.
    """
    rows = _plain_cost_change(law, start, end)
    if law.cone is None:
        return total(rows)
    cones = _cone_cost(_Decomposed(law, end)) - _cone_cost(_Decomposed(law, start))
    return total(rows[..., : _plain(law)]) + jnp.sum(cones, axis=(-1, -2))


def cost_changes(law: Law, start: Array, end: Array) -> Array:
    """Return the cost of each row at `end` less that at `start`, shape (..., nrow); a cone spreads over its rows."""
    rows = _plain_cost_change(law, start, end)
    if law.cone is None:
        return rows
    return _join(law, rows, _cone_cost(_Decomposed(law, end)) - _cone_cost(_Decomposed(law, start)))


def _plain_cost_change(law: Law, start: Array, end: Array) -> Array:
    a, b = clipped(law, start), clipped(law, end)
    return 0.5 * law.D * (b - a) * (b + a) + law.loss * (jnp.abs(end - b) - jnp.abs(start - a))


def curvature(law: Law, zone: Array, jar: Array, J: Array) -> tuple[Array, Array]:
    """Return weights w, shape (..., nrow), and rows K, shape (..., nrow, n), with K' diag(w) K the Hessian J' s'' J.

    zone: of `jar`; J: shape (..., nrow, n). Without cones K is J. In the middle of a cone the normal row becomes the
    gradient of the distance to the surface, and the tangents lose their part along the slip.
    """
    weight = jnp.where(zone == _INSIDE, law.D, 0)
    if law.cone is None:
        return weight, J
    c, n = _Decomposed(law, jar), _plain(law)
    cone_rows = J[..., n:, :].reshape(*c.jar.shape, J.shape[-1])
    scaled = law.cone.scale[..., None] * cone_rows
    along = jnp.sum(c.unit[..., None] * scaled[..., 1:, :], axis=-2, keepdims=True)
    lost = jnp.concatenate([law.cone.mu[..., None], c.unit], axis=-1)
    K = c.pick(scaled - lost[..., None] * along, cone_rows, cone_rows)
    ratio = (-c.mass * c.gap * law.cone.mu * c.inverse_slip)[..., None]
    middle = jnp.concatenate([c.mass[..., None], jnp.broadcast_to(ratio, c.unit.shape)], axis=-1)
    weight = _join(law, weight, c.pick(middle, c.D))
    return weight, jnp.concatenate([J[..., :n, :], K.reshape(J[..., n:, :].shape)], axis=-2)


class _Decomposed:
    """Residuals of the cones taken apart; shapes (..., ncone) and, by axis, (..., ncone, ndim)."""

    def __init__(self, law: Law, jar: Array):
        cone, n = law.cone, _plain(law)
        shape = (*jar.shape[:-1], *cone.scale.shape[-2:])
        self.jar, self.D = jar[..., n:].reshape(shape), law.D[..., n:].reshape(shape)
        scaled = self.jar * cone.scale
        normal, slip = scaled[..., 0], safe.norm(scaled[..., 1:])
        self.inverse_slip = safe.divide(jnp.ones_like(slip), slip)
        self.unit = scaled[..., 1:] * self.inverse_slip[..., None]
        self.gap = normal - cone.mu * slip  # distance to the surface, scaled
        top = self.gap >= 0
        self.bottom = ~top & (cone.mu * normal + slip <= 0)
        self.middle = ~top & ~self.bottom
        square = cone.mu * cone.mu
        self.mass = safe.ratio(self.D[..., 0], jnp.maximum(square * (1 + square), MINVAL))

    def pick(self, middle: Array, bottom: Array, top: Array | float = 0.0) -> Array:
        """Return one of three values by the zone of the cone."""

        def of(mask: Array) -> Array:
            return mask.reshape(mask.shape + (1,) * (middle.ndim - mask.ndim))

        return jnp.where(of(self.middle), middle, jnp.where(of(self.bottom), bottom, top))


def _cone_cost(c: _Decomposed) -> Array:
    """Return the cost of cones axis by axis; in the middle zone it stands on axis 0."""
    middle = 0.5 * (c.mass * c.gap * c.gap)[..., None]
    first = jnp.arange(c.jar.shape[-1]) == 0
    return c.pick(jnp.where(first, middle, 0), 0.5 * c.D * c.jar * c.jar)


def _plain(law: Law) -> int:
    """Return the number of rows that are not in a cone."""
    return law.D.shape[-1] - law.cone.scale.shape[-1] * law.cone.scale.shape[-2]


def _join(law: Law, plain: Array, cones: Array) -> Array:
    """Return `plain` with the values of the cones, shape (..., ncone, ndim), in their rows."""
    return jnp.concatenate([plain[..., : _plain(law)], cones.reshape(*plain.shape[:-1], -1)], axis=-1)
