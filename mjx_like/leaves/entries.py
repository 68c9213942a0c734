"""Where the entries of named objects are in the arrays of a Model and a Data."""

import numpy as np

from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model
from mjx_like.types.named import NAMED_KINDS

Entry = int | slice


def axes_of(m: Model) -> dict[str, dict[str, Entry]]:
    """Return, for each size of a Model that counts named objects or their entries, where the entries of a name are."""
    names = {kind: m.names.get(kind, ()) for kind in NAMED_KINDS}
    axes = {
        "n" + prefix.removesuffix("_"): {name: i for i, name in enumerate(names[kind]) if name}
        for kind, prefix in NAMED_KINDS.items()
    }
    axes["nactuator"] = axes[f"n{NAMED_KINDS[ObjType.ACTUATOR].removesuffix('_')}"]
    mocap = np.asarray(m.body_mocapid)
    axes["nmocap"] = {name: int(mocap[i]) for name, i in axes["nbody"].items() if mocap[i] >= 0}
    joints = names[ObjType.JOINT]
    actuators = names[ObjType.ACTUATOR]
    axes["nq"] = _ragged(joints, m.jnt_qposadr, m.nq)
    axes["nv"] = _ragged(joints, m.jnt_dofadr, m.nv)
    axes["nsensordata"] = _ragged(names[ObjType.SENSOR], m.sensor_adr, m.nsensordata)
    axes["nu"] = _single(_ragged(actuators, m.actuator_ctrladr, m.nu))
    axes["nout"] = _single(_ragged(actuators, m.actuator_outadr, m.nout))
    axes["na"] = _single(_ragged(actuators, m.actuator_actadr, m.na))
    return axes


def _ragged(names: tuple[str, ...], start: np.ndarray, total: int) -> dict[str, Entry]:
    """Return the entries of objects, which lie one after the other; start is -1 where an object has none."""
    has = np.flatnonzero(np.asarray(start) >= 0)
    ends = [*np.asarray(start)[has[1:]], total]
    return {names[i]: slice(int(start[i]), int(end)) for i, end in zip(has, ends, strict=False) if names[i]}


def _single(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Return numbers in place of slices of one entry."""
    return {name: entry.start if entry.stop == entry.start + 1 else entry for name, entry in entries.items()}
