"""Data of a Model: at qpos0 or a keyframe, with every result empty."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import capacity, whole_number
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.math import quaternion
from mjx_like.math.select import scatter, take
from mjx_like.state.history import initial_history
from mjx_like.tree.spring import joint_plastic, tendon_plastic
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, leaves, shape_in, with_role
from mjx_like.worlds import a_model

# What a step starts from and a reset sets.
STATE = with_role(Data, Role.STATE, Role.WARMSTART, Role.INPUT, Role.SOLUTION, Role.USERDATA, Role.MEMORY)


def make_data(m: Model, key: int | str | None = None, *, nconmax: int | None = None, njmax: int | None = None) -> Data:
    """Return the Data of one world at `qpos0`, or at the keyframe named or numbered `key`.

    Args:
      m: the model.
      key: keyframe name or id; None for qpos0 at rest.
      nconmax: if given, must equal the capacity that the model was loaded with; likewise `njmax`.

    Raises:
      UnsupportedError: the model has something that the engine cannot run yet; the message lists all of it.
      InputError: another capacity than the model's, or an unknown keyframe.
    """
    a_model("make_data", m)
    _check_supported(m)
    for name, value in (("nconmax", nconmax), ("njmax", njmax)):
        value = capacity(name, value)
        if value is not None and value != getattr(m, name):
            raise InputError(
                f"{name}={value}, but the model was loaded with {getattr(m, name)}; load it with {name}={value}"
            )
    d = empty_data(m)
    return d if key is None else reset_to_key(m, d, key)


def _check_supported(m: Model) -> None:
    if m.unsupported:
        raise UnsupportedError("the engine cannot run this model yet: " + "; ".join(m.unsupported))


def empty_data(m: Model) -> Data:
    """Return the Data of one world at `qpos0`, also of a model with parts that the engine cannot run."""
    dtype = m.qpos0.dtype
    contact = Contact(**_zeros(m, leaves(Contact)) | dict(
        dist=np.ones(m.nconmax, dtype), geom=np.full((m.nconmax, 2), -1, np.int32),
        efc_address=np.full(m.nconmax, -1, np.int32), exclude=np.ones(m.nconmax, np.int32),
    ))  # fmt: skip
    results = [f for f in leaves(Data) if f.name not in STATE]
    d = Data(**_zeros(m, results), **_initial_state(m), contact=contact)
    return jax.device_put(d)  # all at once: one by one each shape would be a program to compile


def initial_state(m: Model) -> dict[str, Any]:
    """Return what a step starts from, the fields STATE of Data, at `qpos0`; what does not depend on `m` is NumPy's.

    Raises:
      UnsupportedError: as `make_data`; options may have changed since Data was made.
    """
    _check_supported(m)
    return _initial_state(m)


def _initial_state(m: Model) -> dict[str, Any]:
    state = _zeros(m, [Data.__dataclass_fields__[name] for name in STATE])
    state |= dict(qpos=m.qpos0, plastic=_unyielded(m), eq_active=m.eq_active0)
    if m.nmocap:
        bodies = _mocap_bodies(m)
        state |= dict(mocap_pos=m.body_pos[bodies], mocap_quat=quaternion.normalize(m.body_quat[bodies]))
    return state | dict(history=initial_history(m)) if m.nhistory else state


def reset(m: Model, d: Data) -> Data:
    """Return `d` with state and inputs of `make_data`; results and counters stay as they are.  Source: mj_resetData."""
    a_model("reset", m)
    return d.replace(**jax.device_put(initial_state(m)))


def reset_to_key(m: Model, d: Data, key: int | str) -> Data:
    """Return `d` with time, positions, velocities, activations, controls and mocap poses of a keyframe.

    All else that a step starts from is as `make_data` has it: history, applied forces, warm start, active equalities.

    Raises:
      InputError: no keyframe of that name or id, or an id that is traced.

    Source: mj_resetDataKeyframe.
    """
    index = (
        m.name2id(ObjType.KEY, key)
        if isinstance(key, str)
        else whole_number("key", key, also=", or the name of a keyframe")
    )
    if not 0 <= index < m.nkey:
        names = ", ".join(n or str(i) for i, n in enumerate(m.names[ObjType.KEY])) or "none"
        raise InputError(f"no keyframe {key!r}; the model has: {names}")
    return reset(m, d).replace(
        time=m.key_time[index],
        qpos=m.key_qpos[index],
        qvel=m.key_qvel[index],
        act=m.key_act[index],
        plastic=m.key_plastic[index],
        ctrl=m.key_ctrl[index],
        mocap_pos=m.key_mpos[index].reshape(m.nmocap, 3),
        mocap_quat=quaternion.normalize(m.key_mquat[index].reshape(m.nmocap, 4)),
    )


def _unyielded(m: Model) -> jnp.ndarray:
    """Return the plastic state in which no spring has yielded."""
    plastic = np.zeros(m.nplastic, m.qpos0.dtype)
    for index, rest in ((joint_plastic(m), m.qpos_spring), (tendon_plastic(m), m.tendon_lengthspring)):
        used = index < m.nplastic
        if used.any():
            plastic = plastic + scatter(take(rest.ravel(), np.flatnonzero(used)), index[used], m.nplastic)
    return plastic


def _mocap_bodies(m: Model) -> np.ndarray:
    bodies = np.flatnonzero(m.body_mocapid >= 0)
    return bodies[np.argsort(m.body_mocapid[bodies])]


def _zeros(m: Model, fields: Iterable[dataclasses.Field]) -> dict[str, np.ndarray]:
    """Return fields of a record as they are declared, zero."""
    types = {float: m.qpos0.dtype, int: np.int32, bool: bool}
    declared = ((f.name, f.metadata) for f in fields)
    return {name: np.zeros(shape_in(m.topology, x["shape"]), types[x["dtype"]]) for name, x in declared}
