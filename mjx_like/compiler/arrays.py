"""From rows, one dict a compiled object, to the arrays of mjModel."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves
from mjx_like.types.topology import Topology

Row = dict[str, Any]


def stack(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return the rows of one kind of object as columns, by field name."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def assemble(sizes: dict[str, int], columns: dict[str, Any]) -> dict[str, Any]:
    """Return every size and array of mjModel that Topology and Model have, zero where `columns` has none.

    Args:
      sizes: mjModel's sizes by name.
      columns: values by field name, of the number of entries that the field's shape has.
    """
    fields: dict[str, Any] = dict(sizes)
    for owner in (Topology, Model):
        for field in leaves(owner):
            shape = tuple(_dimension(sizes, dim) for dim in field.metadata["shape"])
            fields[field.name] = _array(field.metadata, columns.get(field.name), shape)
    return fields


def _array(declared: Mapping[str, Any], column: Any, shape: tuple[int, ...]) -> np.ndarray:
    if column is None:
        return np.full(shape, declared.get("fill", 0), declared["dtype"])
    if declared.get("single"):
        column = np.asarray(column, np.float32)
    return np.ascontiguousarray(np.asarray(column), declared["dtype"]).reshape(shape)


def _dimension(sizes: dict[str, int], dim: int | str) -> int:
    if isinstance(dim, int):
        return dim
    factor, _, name = dim.rpartition("*")
    return (int(factor) if factor else 1) * sizes[name]
