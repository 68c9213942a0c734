"""Which bodies contacts act on, for sensors that add up contact forces."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.contact_force import contact_wrench as contact_wrench
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def contact_bodies(m: Model, d: Data) -> Array:
    """Return the bodies of the geoms of each contact, shape (nconmax, 2); -1 where there is none."""
    body = jnp.asarray(np.append(m.geom_bodyid, -1).astype(np.int32))
    return body[jnp.where(d.contact.geom >= 0, d.contact.geom, m.ngeom)]
