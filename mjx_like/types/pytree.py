"""Frozen dataclasses that are JAX pytrees."""

import dataclasses
from typing import Any

import jax


def leaf(*shape: str | int, unit: str = "") -> Any:
    """Declare an array field; `shape` names sizes of the Model, `unit` is for the reader."""
    return dataclasses.field(metadata={"shape": shape, "unit": unit})


def static() -> Any:
    """Declare a field that is part of the tree structure: hashable, never traced."""
    return dataclasses.field(metadata={"static": True})


class Record:
    """Base of every pytree record: frozen, with `replace`."""

    def replace(self, **changes: Any):
        """Return a copy with the named fields changed; an unknown name raises TypeError."""
        return dataclasses.replace(self, **changes)


def record(cls):
    """Make `cls` a frozen dataclass and register it as a pytree (fields marked `static()` are structure)."""
    cls = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    fields = dataclasses.fields(cls)
    meta = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if not f.metadata.get("static")]
    jax.tree_util.register_dataclass(cls, data_fields=data, meta_fields=meta)
    return cls
