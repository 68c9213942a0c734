"""How contacts and limits are smoothed for gradients, where a user asks for it."""

import jax

from mjx_like.types.pytree import Record, Role, leaf, record, static

Array = jax.Array


@record
class Smoothing(Record):
    """Widths of the activation of contacts and limits; see `with_smoothing`."""

    limits: bool = static()  # whether joint and tendon limits are smoothed as contacts are
    straight_through: bool = static()  # whether values are those without smoothing
    width: Array = leaf(unit="m or rad", role=Role.PARAMETER)
    reach: Array = leaf(unit="m or rad", role=Role.PARAMETER)
    strength: Array = leaf(unit="1, share of the force at contact", role=Role.PARAMETER)
