"""From rows, one dict a compiled object, to the arrays of mjModel."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves
from mjx_like.types.topology import Topology

Row = dict[str, Any]  # fields of one object, by name

DECLARED = {f.name: f.metadata for owner in (Topology, Model) for f in leaves(owner)}


class Columns(dict[str, Any]):
    """Values of the fields of a model so far, by name; each is one of `DECLARED` and is given once."""

    def add(self, found: Mapping[str, Any]) -> None:
        """Take more fields.

        Raises:
          KeyError: a name that is no field of Topology or Model, or one that is here already.
        """
        for name in found:
            if name not in DECLARED:
                raise KeyError(f"'{name}' is no field of Topology or Model; declare it there")
            if name in self:
                raise KeyError(f"'{name}' is given twice")
        self.update(found)

    def sizes(self) -> dict[str, int]:
        """Return every size that is the first dimension of a field, from the fields that are here; else 0."""
        found: dict[str, int] = {}
        for name, declared in DECLARED.items():
            size = declared["shape"][0]
            if name in self:
                found.setdefault(size, len(self[name]))
        return {declared["shape"][0]: 0 for declared in DECLARED.values()} | found


def stack(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return the rows of one kind of object as columns, by field name."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def assemble(sizes: dict[str, int], columns: Columns) -> dict[str, Any]:
    """Return every size and array of mjModel that Topology and Model have, zero where `columns` has none.

    Args:
      sizes: mjModel's sizes by name.
      columns: values of the number of entries that the field's shape has.
    """
    fields: dict[str, Any] = dict(sizes)
    for name, declared in DECLARED.items():
        shape = tuple(_dimension(sizes, dim) for dim in declared["shape"])
        fields[name] = _array(declared, columns.get(name), shape)
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
