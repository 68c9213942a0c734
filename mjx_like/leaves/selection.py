"""Names of leaves of a Model, whole or in part: `geom_friction`, `body_mass@torso`, `geom_friction@foot_*[0]`."""

import fnmatch
import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, closest, shown
from mjx_like.leaves.entries import axes_of
from mjx_like.types.hard import HardContact
from mjx_like.types.model import TERMS, Model
from mjx_like.types.option import OptionFloats
from mjx_like.types.pytree import Role, leaves

Array = jax.Array

# Field -> declaration; what the engine derives or does not read is not for the user to set.
FIELDS = {f.name: f for f in leaves(Model) if f.metadata["role"] not in (Role.DERIVED, Role.KEYFRAME, Role.USER)}
HARD = {f.name: f for f in leaves(HardContact) if f.name in ("gap", "slip", "recovery", "restitution", "rebound_speed")}
OPTIONS = {f.name: f for f in leaves(OptionFloats)} | HARD

_FORM = re.compile(r"(?:opt\.)?(?P<field>\w+)(?:@(?P<objects>[^\[\]]+))?(?:\[(?P<column>-?\d+)\])?")


class Selection(NamedTuple):
    """A part of a leaf.

    name: as the user wrote it; field: of the leaf; entries: flat positions in the leaf, shape `shape`.
    """

    name: str
    field: str
    entries: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the part; that of one number is ()."""
        return self.entries.shape

    def get(self, m: Model) -> Array:
        """Return the part of the leaf."""
        return jnp.ravel(_leaf(m, self.field))[self.entries]

    def put(self, m: Model, value: Array | float) -> Model:
        """Return the Model with the part replaced, derived constants as they are.  value: broadcast to `shape`."""
        old = _leaf(m, self.field)
        source = np.full(old.size, -1)
        source[self.entries.ravel()] = np.arange(self.entries.size)
        new = jnp.broadcast_to(jnp.asarray(value, old.dtype), self.shape).ravel()
        joined = (
            jnp.where(source >= 0, new[np.maximum(source, 0)], jnp.ravel(old)) if (source < 0).any() else new[source]
        )
        changes = {self.field: joined.reshape(old.shape)}
        return m.replace(opt=m.opt.replace(**changes)) if self.field in OPTIONS else m.replace(**changes)


def select(m: Model, name: str) -> Selection:
    """Return the part of a leaf that a name stands for.

    Args:
      m: one model.
      name: `FIELD`, `FIELD@OBJECTS`, `FIELD[COLUMN]` or `FIELD@OBJECTS[COLUMN]`. FIELD is a float field of the Model
        or a float option (`gravity`, `timestep`, `gap` of hard contact); OBJECTS are names with commas between them,
        `*` and `?` standing for what may be in a name; fields of dofs and positions go by the names of joints. COLUMN
        counts from 0 along the last axis. One object has no axis of its own, and a column none either.

    Raises:
      InputError: a field, an object or a column that is not there; a term that the compiled model does not have.
    """
    found = _FORM.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise InputError(
            f"leaf {shown(name)}: must be FIELD, FIELD@OBJECTS or FIELD@OBJECTS[COLUMN], such as 'body_mass@torso'"
        )
    field, objects, column = found["field"], found["objects"], found["column"]
    declared = FIELDS.get(field) or OPTIONS.get(field)
    if declared is None:
        raise InputError(f"leaf '{name}': no float parameter '{field}'{_hint(field)}")
    if field in HARD and m.hard is None:
        raise InputError(f"leaf '{name}' belongs to hard contact: mjx.with_hard_contact(m) has it")
    size = np.shape(_leaf(m, field))
    entries = np.arange(np.prod(size, dtype=int)).reshape(size)
    if objects is not None:
        entries = entries[_rows(m, name, declared.metadata["shape"], objects)]
    if column is not None:
        entries = _column(name, entries, int(column))
    selection = Selection(name, field, entries)
    _check_term(m, selection)
    return selection


def _leaf(m: Model, field: str) -> Array:
    return getattr(m.opt if field in OPTIONS else m, field)


def _hint(field: str) -> str:
    if field in Model.__dataclass_fields__:
        role = Model.__dataclass_fields__[field].metadata.get("role")
        return f": it is a {role.value}, and is not set" if role else ""
    return closest(field, [*FIELDS, *OPTIONS]) or "; docs/reference/fields.md lists them"


def _rows(m: Model, name: str, dims: tuple, objects: str) -> int | np.ndarray:
    """Return the rows of the named objects: a number for one that has one row."""
    named = axes_of(m).get(dims[0], {}) if dims else {}
    if not named:
        raise InputError(f"leaf '{name}': its rows have no names in this model: leave out '@{objects}'")
    rows: list[int] = []
    for wanted in (word.strip() for word in objects.split(",")):
        keys = [wanted] if wanted in named else fnmatch.filter(named, wanted)
        if not keys:
            some = ", ".join(list(named)[:8]) + (", ..." if len(named) > 8 else "")
            raise InputError(f"leaf '{name}': nothing is named '{wanted}'{closest(wanted, named)}; there are: {some}")
        for entry in (named[key] for key in keys):
            rows += range(entry.start, entry.stop) if isinstance(entry, slice) else [entry]
    alone = objects in named and len(rows) == 1
    return rows[0] if alone else np.unique(rows)


def _column(name: str, entries: np.ndarray, column: int) -> np.ndarray:
    width = entries.shape[-1] if entries.ndim else 0
    if not -width <= column < width:
        raise InputError(f"leaf '{name}': column {column}, but its last axis has {width} entries")
    return entries[..., column]


def _check_term(m: Model, s: Selection) -> None:
    """Raise where the compiled model has no term for a part of the leaf, because it was zero."""
    if s.field not in TERMS:
        return
    has = np.asarray(m.topology.has[s.field])
    width = max(1, _leaf(m, s.field).size // max(1, has.size))
    if not np.ravel(has)[s.entries.ravel() // width].all():
        raise InputError(
            f"leaf '{s.name}': was zero when the model was compiled, so its term does not exist; load the model with "
            f"active=('{s.field}',)"
        )
