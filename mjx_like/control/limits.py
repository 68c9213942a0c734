"""Limits of the controls."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.types.model import Model

Array = jax.Array


def control_limits(m: Model, limits: Any = None) -> Array:
    """Return lowest and highest controls, shape (nu, 2): `actuator_ctrlrange` where it limits, else infinite.

    limits: others in their place, shape (nu, 2).

    Raises:
      InputError: limits of another shape, or a lowest above a highest.
    """
    if limits is None:
        limited = jnp.asarray(m.actuator_ctrllimited)[:, None]
        return jnp.where(limited, m.actuator_ctrlrange, jnp.array([-jnp.inf, jnp.inf], m.actuator_ctrlrange.dtype))
    if np.shape(limits) != (m.nu, 2):
        raise InputError(
            f"limits have shape {np.shape(limits)}; they must be lowest and highest, (nu, 2) = ({m.nu}, 2)"
        )
    given = jnp.asarray(limits, m.qpos0.dtype)
    if not np.all(given[:, 0] <= given[:, 1]):
        raise InputError(f"limits={shown(limits)}: the lowest must not be above the highest")
    return given
