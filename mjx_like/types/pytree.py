"""Frozen dataclasses that are JAX pytrees."""

import dataclasses
import enum
import functools
import textwrap
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import jax

from mjx_like.errors import InputError, closest

R = TypeVar("R")

_FEW = 8  # empty arrays that are named
_WIDTH = 106


class Role(enum.Enum):
    """What a leaf is for; the value is what the page of fields says."""

    PARAMETER = "parameter"  # of a Model: what the files say
    DERIVED = "derived constant"  # of a Model: what follows from the parameters
    VISUAL = "visual"  # of a Model: how it is drawn, and what rays see through
    USER = "user data"  # of a Model: what the engine does not read
    KEYFRAME = "keyframe"  # of a Model: a state to begin from
    STATE = "state"  # of a Data, as all that follow
    WARMSTART = "warm start"
    INPUT = "input"
    SOLUTION = "solution"  # which a reset clears, for it may not be finite
    USERDATA = "user state"
    MEMORY = "memory"  # of delays and of springs that yield
    COUNTER = "counter"  # only grows
    RESULT = "result"


def leaf(
    *shape: str | int,
    unit: str = "",
    role: Role | None = None,
    dtype: type = float,
    bit: int | None = None,
    term: int | None = None,
    wide: bool = False,
    single: bool = False,
) -> Any:
    """Declare an array field: all that others must know of it.

    Args:
      shape: numbers, and names of sizes of the Model.
      unit: and the frame, for the reader; "1" for what has no dimension. Every leaf of a Model and a Data has one.
      role: what it is for. Likewise.
      dtype: float, int or bool.
      bit: of State, of what a state vector may hold.
      term: where zero decides whether a term exists: how many trailing axes belong to one entry.
      wide: whether a step keeps it in a more precise type than that of positions and velocities.
      single: whether mjModel keeps it in single precision.
    """
    declared = {"shape": shape, "unit": unit, "role": role, "dtype": dtype}
    return dataclasses.field(metadata=declared | {"bit": bit, "term": term, "wide": wide, "single": single})


def part() -> Any:
    """Declare a field that is a record itself."""
    return dataclasses.field(metadata={"shape": ()})


def leaves(kind: type) -> tuple[dataclasses.Field, ...]:
    """Return the declarations of the arrays of a record, in their order."""
    return tuple(f for f in dataclasses.fields(kind) if "dtype" in f.metadata)


def with_role(kind: type, *roles: Role) -> tuple[str, ...]:
    """Return the names of the leaves that have one of these roles, role by role."""
    return tuple(f.name for role in roles for f in leaves(kind) if f.metadata["role"] is role)


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
    """Base of every pytree record: frozen, with `replace`; prints the names, shapes and types of its fields."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __repr__(self) -> str:
        return described(self)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed.

        Raises:
          InputError: a name that is no field; the message has the nearest one.
        """
        for name in (n for n in changes if n not in self.__dataclass_fields__):
            raise InputError(f"a {type(self).__name__} has no field '{name}'{self._hint(name)}")
        return dataclasses.replace(self, **changes)

    def tree_replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with fields changed by their paths: `m.tree_replace({"opt.timestep": 1e-3})`.

        Raises:
          InputError: a path to what is no field.
        """
        return functools.reduce(lambda r, path: _replaced(r, path.split("."), changes[path]), changes, self)

    @classmethod
    def fields(cls) -> tuple[dataclasses.Field[Any], ...]:
        """Return the declarations of the fields."""
        return dataclasses.fields(cls)

    def _hint(self, name: str) -> str:
        """Return what a message adds for a name that is no field: the record within that has it, or the nearest."""
        short = type(self).__name__[0].lower()
        for inner in self.__dataclass_fields__:
            if name in getattr(getattr(self, inner), "__dataclass_fields__", ()):
                return f", its {inner} has: {short}.replace({inner}={short}.{inner}.replace({name}=...))"
        return closest(name, self.__dataclass_fields__) or "; printing it shows its fields"


def _replaced(r: Any, path: list[str], value: Any) -> Any:
    name, *rest = path
    return r.replace(**{name: _replaced(getattr(r, name), rest, value) if rest else value})


def described(r: Record) -> str:
    """Return what a record prints: what is no array, names and shapes of arrays by type, its parts, what is empty."""
    plain: list[str] = []
    parts: list[str] = []
    empty: list[str] = []
    arrays: dict[str, list[str]] = {}
    for name in r.__dataclass_fields__:
        value = getattr(r, name)
        if isinstance(value, Record):
            parts.append(f"{name}: " + repr(value).replace("\n", "\n  "))
        elif not hasattr(value, "dtype"):
            plain += [f"{name}: {value!r}"] if value is not None else []
        elif 0 in value.shape:
            empty.append(f"{name} {value.shape}")
        else:
            arrays.setdefault(f"{value.dtype}", []).append(f"{name} {value.shape}")
    more = len(empty) - _FEW
    empty = [*empty[:_FEW], f"and {more} more"] if more > 1 else empty
    lines = [*plain, *(wrapped(f"{kind}: ", items) for kind, items in arrays.items()), *parts]
    lines += [wrapped("empty: ", empty)] if empty else []
    return "\n  ".join([type(r).__name__, *lines])


def wrapped(title: str, items: list[str]) -> str:
    """Return a title and items in lines that end between items, all but the first indented by four."""
    text = ", ".join(item.replace(" ", "\0") for item in items)
    lines = textwrap.wrap(
        title + text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(leaf, part, static))
def record(cls: type[R]) -> type[R]:
    """Make `cls` a frozen dataclass and register it as a pytree (fields marked `static()` are structure)."""
    cls = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # it is one since the line above
    meta = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if not f.metadata.get("static")]
    jax.tree_util.register_dataclass(cls, data_fields=data, meta_fields=meta)
    return cls
