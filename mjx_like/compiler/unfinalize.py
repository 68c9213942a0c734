"""From a Model back to NumPy arrays with mjModel's names: the inverse of `finalize`."""

import dataclasses
from typing import Any

import jax
import numpy as np

from mjx_like.compiler.finalize import Arrays
from mjx_like.errors import InputError
from mjx_like.types.hard import given_options
from mjx_like.types.model import Model
from mjx_like.types.option import OptionFloats, Statistic
from mjx_like.types.pytree import leaves, shape_in


def unfinalize(m: Model) -> Arrays:
    """Return the arrays of a Model, as `finalize` took them, with the values that its leaves have now.

    Args:
      m: one model, without a batch axis on any leaf.

    Raises:
      InputError: leaves that are traced, or that carry a batch axis.
    """
    if m.smoothing is not None:
        raise InputError("a model with smoothing is no compiled model; take without_smoothing(m)")
    t = m.topology
    fields: dict[str, Any] = {f.name: getattr(t, f.name) for f in dataclasses.fields(t) if f.type is int or f.metadata}
    for field in leaves(Model):
        fields[field.name] = _concrete(field.name, getattr(m, field.name), m, field.metadata["shape"])
    options: dict[str, Any] = dataclasses.asdict(t.flags)
    options |= {
        f.name: _concrete("opt." + f.name, getattr(m.opt_floats, f.name), m, f.metadata["shape"])
        for f in leaves(OptionFloats)
    }
    statistics = {
        f.name: _concrete("stat." + f.name, getattr(m.stat, f.name), m, f.metadata["shape"]) for f in leaves(Statistic)
    }
    options |= {} if m.hard is None else {"cone": m.hard.soft_cone}
    return Arrays(fields, options, statistics, t.vis, t.names, t.declared_unsupported, contact_of(m), t.has)


def contact_of(m: Model) -> dict[str, Any]:
    """Return the options of hard contact that were given, as plain numbers; none with soft contact.

    Raises:
      InputError: one that is traced, or that carries a batch axis.
    """
    if m.hard is None:
        return {}
    given = {name: value for name, value in given_options(m.hard).items() if value is not None}
    floats = {name: value for name, value in given.items() if hasattr(value, "dtype")}
    return given | {name: float(_concrete("opt." + name, value, m, ())) for name, value in floats.items()}


def _concrete(name: str, value: Any, m: Model, shape: tuple[int | str, ...]) -> np.ndarray:
    if isinstance(value, jax.core.Tracer):
        raise InputError(f"{name} is traced; call this outside jit, vmap and grad")
    value, wanted = np.asarray(value, np.float64), shape_in(m.topology, shape)
    if value.shape != wanted:
        raise InputError(f"{name} has shape {value.shape}, one model has {wanted}; take one model of the batch")
    return value
