"""The mass of all bodies of a Model, read and set."""

import jax
import jax.numpy as jnp

from mjx_like.math import safe
from mjx_like.types.model import Model

Array = jax.Array


def get_totalmass(m: Model) -> Array:
    """Return the mass of all bodies [kg].  Source: mj_getTotalmass."""
    return jnp.sum(m.body_mass)


def set_totalmass(m: Model, mass: Array | float) -> Model:
    """Return the model with masses and inertias scaled to a total mass [kg]; derived constants stay.

    Source: mj_setTotalmass.
    """
    scale = safe.ratio(mass, get_totalmass(m))
    return m.replace(body_mass=m.body_mass * scale, body_inertia=m.body_inertia * scale)
