"""Labels for the entries of a model's vectors: `slide`, `root.qw`, `gyro.x`."""

import numpy as np

from mjx_like.types.enums import JointType, ObjType
from mjx_like.types.model import Model

_QUAT = ("qw", "qx", "qy", "qz")
_POSITION = {JointType.FREE: ("x", "y", "z", *_QUAT), JointType.BALL: _QUAT}
_VELOCITY = {JointType.FREE: ("vx", "vy", "vz", "wx", "wy", "wz"), JointType.BALL: ("wx", "wy", "wz")}


def labels(m: Model) -> dict[str, list[str]]:
    """Return the labels of the entries of qpos, qvel, act, ctrl and sensordata; unnamed objects count as joint0, ..."""
    joints = list(zip(_names(m, ObjType.JOINT, m.njnt), map(JointType, m.jnt_type), strict=True))
    actuators = _names(m, ObjType.ACTUATOR, m.nactuator)
    sensors = zip(_names(m, ObjType.SENSOR, m.nsensor), m.sensor_dim, strict=True)
    return {
        "qpos": [label for name, kind in joints for label in _parts(name, _POSITION.get(kind))],
        "qvel": [label for name, kind in joints for label in _parts(name, _VELOCITY.get(kind))],
        "act": _ragged(actuators, m.actuator_actadr, m.na),
        "ctrl": _ragged(actuators, m.actuator_ctrladr, m.nu),
        "sensordata": [label for name, dim in sensors for label in _numbered(name, int(dim))],
    }


def _names(m: Model, kind: ObjType, count: int) -> list[str]:
    """Return names that differ from each other, for there is one for each object."""
    return [m.id2name(kind, i) or f"{kind.name.lower()}{i}" for i in range(count)]


def _parts(name: str, parts: tuple[str, ...] | None) -> list[str]:
    return [name] if parts is None else [f"{name}.{part}" for part in parts]


def _numbered(name: str, count: int) -> list[str]:
    return _parts(
        name, None if count == 1 else ("x", "y", "z")[:count] if count <= 3 else tuple(map(str, range(count)))
    )


def _ragged(names: list[str], start: np.ndarray, total: int) -> list[str]:
    """Return the labels of entries that lie one object after the other; start is -1 where one has none."""
    has = [i for i, adr in enumerate(start) if adr >= 0]
    ends = [*(int(start[i]) for i in has[1:]), total]
    return [label for i, end in zip(has, ends, strict=False) for label in _numbered(names[i], end - int(start[i]))]
