"""How hard contact is solved, where a user asks for it."""

import jax

from mjx_like.types.pytree import Record, Role, leaf, record, static

Array = jax.Array


@record
class HardContact(Record):
    """Smoothness and budget of hard contact; see `with_hard_contact`."""

    iterations: int = static()  # most steps of the interior point method
    refresh: int = static()  # how often contacts are found again where the step ends
    soft_cone: int = static()  # ConeType of the model with soft contact
    biased: bool = static()  # whether derivatives are those at grad_gap
    gap: Array = leaf(unit="m", role=Role.PARAMETER)
    slip: Array = leaf(unit="m/s", role=Role.PARAMETER)
    recovery: Array = leaf(unit="m/s", role=Role.PARAMETER)
    grad_gap: Array = leaf(unit="m", role=Role.PARAMETER)
