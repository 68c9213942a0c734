"""Frozen dataclasses that are JAX pytrees."""

import dataclasses
from typing import Any

import jax

from mjx_like.errors import InputError, closest


def leaf(*shape: str | int, unit: str = "") -> Any:
    """Declare an array field; `shape` names sizes of the Model, `unit` is for the reader."""
    return dataclasses.field(metadata={"shape": shape, "unit": unit})


def shape_in(sizes: Any, dims: tuple[int | str, ...]) -> tuple[int, ...]:
    """Return the shape that a field is declared with: numbers, and names such as "nq" or "3*nmocap".

    sizes: has the sizes as attributes, such as a Topology or a mujoco.MjModel.
    """
    return tuple([dim if isinstance(dim, int) else _size(sizes, dim) for dim in dims])


def _size(sizes: Any, dim: str) -> int:
    factor, _, name = dim.rpartition("*")
    return int(factor or 1) * getattr(sizes, name)


def static() -> Any:
    """Declare a field that is part of the tree structure: hashable, never traced."""
    return dataclasses.field(metadata={"static": True})


class Record:
    """Base of every pytree record: frozen, with `replace`."""

    def replace(self, **changes: Any):
        """Return a copy with the named fields changed.

        Raises:
          InputError: a name that is no field; the message has the nearest one.
        """
        for name in (n for n in changes if n not in self.__dataclass_fields__):
            raise InputError(f"a {type(self).__name__} has no field '{name}'{self._hint(name)}")
        return dataclasses.replace(self, **changes)

    def _hint(self, name: str) -> str:
        """Return what a message adds for a name that is no field: the record within that has it, or the nearest."""
        short = type(self).__name__[0].lower()
        for inner in self.__dataclass_fields__:
            if name in getattr(getattr(self, inner), "__dataclass_fields__", ()):
                return f", its {inner} has: {short}.replace({inner}={short}.{inner}.replace({name}=...))"
        return closest(name, self.__dataclass_fields__) or "; printing it shows its fields"


def record(cls):
    """Make `cls` a frozen dataclass and register it as a pytree (fields marked `static()` are structure)."""
    cls = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    fields = dataclasses.fields(cls)
    meta = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if not f.metadata.get("static")]
    jax.tree_util.register_dataclass(cls, data_fields=data, meta_fields=meta)
    return cls
