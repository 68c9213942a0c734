"""Values of leaves by name, read and set, with the derived constants that follow."""

from collections.abc import Mapping

import jax
import numpy as np

from mjx_like.errors import InputError
from mjx_like.leaves.selection import Selection, select
from mjx_like.set_const import READ, set_const
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

Array = jax.Array


def leaf_value(m: Model, name: str) -> Array:
    """Return a leaf of the Model, or a part of it, by name: `leaf_value(m, "body_mass@torso")`.

    Raises:
      InputError: a name that stands for nothing; `leaves.selection.select` has the grammar.
    """
    one_model("leaf_value", m)
    return select(m, name).get(m)


def with_leaves(m: Model, values: Mapping[str, Array | float], *, derive: bool = True) -> Model:
    """Return the Model with leaves, or parts of them, set by name, and the derived constants that follow.

    `with_leaves(m, {"body_mass@torso": 3.0, "geom_friction[0]": 0.8, "gravity": [0, 0, -1.6]})`; later names are set
    over earlier ones. Differentiable and vmappable by the values.

    Args:
      m: one model.
      values: by name; each is broadcast to the shape of its part.
      derive: whether to call `set_const` where a leaf that it reads is set. It costs more than a step.

    Raises:
      InputError: a name that stands for nothing, a value that does not fit its part, or a term that does not exist.
    """
    one_model("with_leaves", m)
    chosen = [select(m, name) for name in values]
    for selection, value in zip(chosen, values.values(), strict=True):
        _check_shape(selection, value)
        m = selection.put(m, value)
    return set_const(m) if derive and derives(chosen) else m


def derives(selections: list[Selection]) -> bool:
    """Return whether derived constants follow from any of these parts."""
    return any(s.field in READ for s in selections)


def _check_shape(selection: Selection, value: Array | float) -> None:
    try:
        np.broadcast_shapes(np.shape(value), selection.shape)
        fits = np.ndim(value) <= len(selection.shape)
    except ValueError:
        fits = False
    if not fits or np.broadcast_shapes(np.shape(value), selection.shape) != selection.shape:
        raise InputError(f"leaf '{selection.name}' has shape {selection.shape}, its value {np.shape(value)}")
