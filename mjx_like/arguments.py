"""Checks of plain arguments: each returns the value, or raises an InputError that names the argument."""

import operator
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError, shown


def whole_number(name: str, value: Any, least: int | None = None, instead: str = "") -> int:
    """Return a whole number, also NumPy's, as an int.

    Args:
      name: of the argument.
      value: what came.
      least: the smallest that is allowed; None for any.
      instead: what a message adds for one that is traced, besides making it static.

    Raises:
      InputError: no whole number (bools are none), one that is too small, or one that is traced.
    """
    if isinstance(value, jax.core.Tracer):
        raise InputError(
            f"{name} is traced, but decides shapes: make it static, jax.jit(f, static_argnames={name!r})" + instead
        )
    allowed = "must be a whole number" + ("" if least is None else f" of at least {least}")
    try:
        if isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_:
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name}={shown(value)}: {allowed}") from None
    if least is not None and number < least:
        raise InputError(f"{name}={number}: {allowed}")
    return number
