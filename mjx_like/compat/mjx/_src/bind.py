"""Entries of a Model and a Data that belong to elements of a mujoco.MjSpec."""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model

# Type of the element -> prefix of its fields in a Model.
_MODEL = {
    "MjsBody": "body_",
    "MjsJoint": "jnt_",
    "MjsGeom": "geom_",
    "MjsSite": "site_",
    "MjsLight": "light_",
    "MjsCamera": "cam_",
    "MjsMesh": "mesh_",
    "MjsHField": "hfield_",
    "MjsPair": "pair_",
    "MjsTendon": "tendon_",
    "MjsActuator": "actuator_",
    "MjsSensor": "sensor_",
    "MjsNumeric": "numeric_",
    "MjsText": "text_",
    "MjsTuple": "tuple_",
    "MjsKey": "key_",
    "MjsEquality": "eq_",
    "MjsExclude": "exclude_",
    "MjsSkin": "skin_",
    "MjsMaterial": "mat_",
}

# And in a Data, where bodies have fields of their own names.
_DATA = _MODEL | {"MjsBody": "", "MjsTendon": "ten_"}

# Fields of a Data that go by another index than the element's id.
_OF_JOINT = ("qpos", "qvel", "qacc")
_OF_MOCAP = ("mocap_pos", "mocap_quat")


class _Bound:
    """Elements of one type, and the record that has their fields."""

    _declared: type  # where their shapes are declared

    def __init__(self, record: Any, specs: Any, prefixes: dict[str, str]) -> None:
        several = list(specs) if isinstance(specs, Iterable) else [specs]
        kinds = {type(spec).__name__ for spec in several}
        if len(kinds) != 1 or not kinds <= prefixes.keys():
            raise ValueError(f"invalid spec type: {', '.join(sorted(kinds)) or 'none given'}")
        for spec in several:
            if spec.id < 0:
                raise KeyError(f"invalid id: {spec.id}; compile the MjSpec first")
        self._record = record
        self._kind = kinds.pop()
        self._prefix = prefixes[self._kind]
        self._ids = np.array([spec.id for spec in several])
        self._one = len(several) == 1

    @property
    def id(self) -> Any:
        """Return the ids of the elements, of one element a number."""
        return int(self._ids[0]) if self._one else self._ids

    def _rows(self, name: str, index: np.ndarray, one: bool) -> jax.Array:
        """Return rows of a field, with the world axes before them."""
        value = getattr(self._record, name)
        declared = self._declared.__dataclass_fields__.get(name)
        worlds = value.ndim - len(declared.metadata["shape"]) if declared else 0
        return value[(slice(None),) * worlds + (int(index[0]) if one else index,)]


class BoundModel(_Bound):
    """What `m.bind(specs)` returns: its attributes are rows of the fields of a Model."""

    _declared = Model

    def __init__(self, m: Any, specs: Any) -> None:
        super().__init__(m, specs, _MODEL)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._rows(self._prefix + name, self._ids, self._one)


class BoundData(_Bound):
    """What `d.bind(m, specs)` returns: its attributes are entries of the fields of a Data; `set` changes them."""

    _declared = Data

    def __init__(self, d: Any, m: Any, specs: Any) -> None:
        super().__init__(d, specs, _DATA)
        self._model = m

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        field, index, one = self._entries(name)
        return self._rows(field, index, one)

    def set(self, name: str, value: Any) -> Any:
        """Return the Data with these entries of a field changed."""
        if name == "sensordata":
            raise AttributeError("sensordata is readonly")
        field, index, _ = self._entries(name)
        array = getattr(self._record, field)
        rows = jnp.reshape(jnp.asarray(value, array.dtype), (len(index), *array.shape[1:]))
        return self._record.replace(**{field: array.at[index].set(rows)})

    def _entries(self, name: str) -> tuple[str, np.ndarray, bool]:
        """Return the name of the field, the entries that belong to the elements, and whether there is just one."""
        if name == "sensordata":
            self._require("MjsSensor", name)
            return name, *self._ranges(self._model.sensor_adr, self._model.sensor_dim)
        if name in _OF_JOINT or name.startswith("qfrc_"):
            self._require("MjsJoint", name)
            kinds = [JointType(kind) for kind in self._model.jnt_type]
            if name == "qpos":
                return name, *self._ranges(self._model.jnt_qposadr, [kind.qpos_width() for kind in kinds])
            return name, *self._ranges(self._model.jnt_dofadr, [kind.dof_width() for kind in kinds])
        if name in _OF_MOCAP:
            return name, np.asarray(self._model.body_mocapid)[self._ids], self._one
        if name == "ctrl":
            self._require("MjsActuator", name)
            return name, np.asarray(self._model.actuator_ctrladr)[self._ids], self._one
        return self._prefix + name, self._ids, self._one

    def _ranges(self, start: Any, count: Any) -> tuple[np.ndarray, bool]:
        found = [np.arange(count[i]) + start[i] for i in self._ids]
        return np.concatenate(found), self._one and len(found[0]) == 1

    def _require(self, kind: str, name: str) -> None:
        if self._kind != kind:
            raise AttributeError(f"{name} is not available for this type: {self._kind}")
