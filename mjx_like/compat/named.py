"""Arrays of a Model and a Data as dm_control shows them: NumPy, to be written to, and indexed by names.

Source: the names of rows and columns are those of dm_control's `physics.named`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mjx_like.leaves.entries import Entry
from mjx_like.types.enums import ObjType

# Length of the last axis -> names of its columns, and which fields have them.
_COLUMNS: dict[int, tuple[tuple[str, ...], Callable[[str], bool]]] = {
    3: (("x", "y", "z"), lambda field: True),
    4: (("qw", "qx", "qy", "qz"), lambda field: field.endswith("quat")),
    9: (tuple(a + b for a in "xyz" for b in "xyz"), lambda field: "mat" in field),
}
_RGBA = ("r", "g", "b", "a")


class Mirror:
    """Copies of a record's arrays on the host, made when they are first read; what is written into them is taken on.

    Rotation matrices have rows of nine numbers, as in MuJoCo, and what has no axes is a number.
    """

    def __init__(self, record: Any) -> None:
        vars(self).update(_record=record, _copies={})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._copies:
            return self._copies[name]
        value = getattr(self._record, name)
        if name not in type(self._record).__dataclass_fields__ or not hasattr(value, "shape"):
            return value
        if not value.shape:
            return value.item()
        copy = np.array(value)
        self._copies[name] = copy.reshape(*copy.shape[:-2], 9) if copy.shape[-2:] == (3, 3) and "mat" in name else copy
        return self._copies[name]

    def __setattr__(self, name: str, value: Any) -> None:
        old = np.asarray(getattr(self._record, name))
        new = np.broadcast_to(np.asarray(value, old.dtype), np.shape(getattr(self, name)))
        self._copies[name] = new.copy() if new.shape else new.item()

    def record(self) -> Any:
        """Return the record with what was written into the copies."""
        old = {name: getattr(self._record, name) for name in self._copies}
        return self._record.replace(**{name: np.reshape(x, old[name].shape) for name, x in self._copies.items()})


class ModelMirror(Mirror):
    """The Mirror of a Model, with dm_control's `name2id` and `id2name`."""

    def name2id(self, name: str, object_type: str | int) -> int:
        """Return the id of an object by its name and type, such as "geom".

        Raises:
          ValueError: there is none.
        """
        index = self._record.name2id(_kind(object_type), name)
        if index < 0:
            raise ValueError(f"no object of type {object_type!r} with name {name!r}")
        return index

    def id2name(self, object_id: int, object_type: str | int) -> str:
        """Return the name of an object by its id and type, "" if it has none."""
        return self._record.id2name(_kind(object_type), object_id) or ""


class Named:
    """The fields of a Mirror, indexed by names: `named.qpos["hinge"]`, `named.xpos[["hand", "foot"], "z"]`."""

    def __init__(self, mirror: Mirror, kind: type, axes: dict[str, dict[str, Entry]]) -> None:
        self._mirror, self._kind, self._axes = mirror, kind, axes

    def __getattr__(self, name: str) -> "Indexer":
        if name.startswith("_"):
            raise AttributeError(name)
        value, declared = getattr(self._mirror, name), self._kind.__dataclass_fields__.get(name)
        if declared is None or not np.ndim(value):
            return Indexer(name, np.asarray(value), [{}])
        columns = _columns(name, value.shape[-1]) if value.ndim > 1 else {}
        return Indexer(name, value, [self._axes.get(declared.metadata["shape"][0], {}), columns])


class Indexer:
    """One array, indexed by names, numbers or both."""

    def __init__(self, field: str, array: np.ndarray, axes: list[dict[str, Entry]]) -> None:
        self._field, self._array, self._axes = field, array, axes

    def __getitem__(self, key: Any) -> Any:
        return self._array[self._numbers(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[self._numbers(key)] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype)

    def __repr__(self) -> str:
        return f"{self._field}: rows {', '.join(self._axes[0]) or 'without names'}\n{self._array}"

    def _numbers(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        return tuple(self._number(item, axis) for item, axis in zip(items, self._axes, strict=False))

    def _number(self, item: Any, axis: dict[str, Entry]) -> Any:
        if isinstance(item, str):
            return self._entry(item, axis)
        if isinstance(item, list | np.ndarray) and len(item) and isinstance(item[0], str):
            return np.concatenate([np.atleast_1d(_range(self._entry(name, axis))) for name in item])
        return item

    def _entry(self, name: str, axis: dict[str, Entry]) -> Entry:
        if name not in axis:
            raise KeyError(f"{self._field} has no entry {name!r}; it has: {', '.join(axis) or 'none with names'}")
        return axis[name]


def _columns(field: str, length: int) -> dict[str, Entry]:
    names, has = (_RGBA, lambda _: True) if field.endswith("rgba") else _COLUMNS.get(length, ((), lambda _: False))
    return {name: i for i, name in enumerate(names)} if has(field) else {}


def _range(entry: Entry) -> Any:
    return np.arange(entry.start, entry.stop) if isinstance(entry, slice) else entry


def _kind(object_type: str | int) -> ObjType:
    return ObjType[object_type.upper()] if isinstance(object_type, str) else ObjType(object_type)
