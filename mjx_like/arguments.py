"""Checks of plain arguments: each returns the value, or raises an InputError that names the argument."""

import operator
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError, shown


def whole_number(name: str, value: Any, least: int | None = None, *, also: str = "", instead: str = "") -> int:
    """Return a whole number, also NumPy's, as an int.

    Args:
      name: of the argument.
      value: what came.
      least: the smallest that is allowed; None for any.
      also: what else is allowed, for the message.
      instead: what can be done with one that is traced, besides making it static, for the message.

    Raises:
      InputError: no whole number (bools are none), one that is too small, or one that is traced.
    """
    if isinstance(value, jax.core.Tracer):
        raise InputError(
            f"{name} is traced, but must be known when the function is compiled: make it static, "
            f"jax.jit(f, static_argnames={name!r}){instead}"
        )
    allowed = "must be a whole number" + ("" if least is None else f" of at least {least}") + also
    try:
        if isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_:
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name}={shown(value)}: {allowed}") from None
    if least is not None and number < least:
        raise InputError(f"{name}={number}: {allowed}")
    return number


def capacity(name: str, value: Any) -> int | None:
    """Return the capacity of a buffer as an int; None stays.  Raises InputError as `whole_number`."""
    return None if value is None else whole_number(name, value, least=0)


def truth(name: str, value: Any) -> bool:
    """Return a bool, also NumPy's; 0 and 1 are bools too.  Raises InputError for all else."""
    if not isinstance(value, bool | np.bool_ | int) or value not in (0, 1):
        raise InputError(f"{name}={shown(value)}: must be True or False")
    return bool(value)
