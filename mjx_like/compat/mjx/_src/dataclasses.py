"""Records that are pytrees by the types of their fields, as MJX's clients subclass them."""

import dataclasses
import typing
from typing import Any, Self, TypeVar

import jax

from mjx_like.types.pytree import Record

R = TypeVar("R", bound=type)


def dataclass(cls: R) -> R:
    """Make `cls` a frozen dataclass and register it as a pytree: fields are children where their type has arrays."""
    cls = dataclasses.dataclass(frozen=True, eq=False, repr=False, kw_only=True)(cls)
    children, structure = [], []
    for field in dataclasses.fields(cls):
        (children if _is_child(field) else structure).append(field.name)
    jax.tree_util.register_dataclass(cls, data_fields=children, meta_fields=structure)
    return cls


def _is_child(field: dataclasses.Field) -> bool:
    if "static" in field.metadata:
        return not field.metadata["static"]
    return "shape" in field.metadata or _has_arrays(field.type)


def _has_arrays(kind: Any) -> bool:
    if isinstance(kind, str):
        return "Array" in kind
    if dataclasses.is_dataclass(kind):
        return any(_is_child(field) for field in dataclasses.fields(kind))
    return kind is jax.Array or any(_has_arrays(inner) for inner in typing.get_args(kind))


class PyTreeNode(Record):
    """Base of records: every subclass is a frozen dataclass and a pytree."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(cls)
        cls.replace = PyTreeNode.replace  # before that of other bases

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed."""
        return dataclasses.replace(self, **changes)
