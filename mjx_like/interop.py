"""To and from `mujoco` objects, where mujoco is installed: the only module that imports it, inside functions."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from mjx_like.compiler.finalize import Arrays, finalize
from mjx_like.types.enums import ObjType
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.model import Model
from mjx_like.types.named import NAMED_KINDS
from mjx_like.types.option import OPTION_FLAGS, OptionFloats, Statistic
from mjx_like.types.topology import Topology

if TYPE_CHECKING:
    import mujoco


def arrays_from_mjmodel(mj_model: "mujoco.MjModel") -> Arrays:
    """Return the fields, options, statistics and names of a compiled mujoco.MjModel as NumPy arrays."""
    import mujoco

    fields: dict[str, Any] = {}
    for owner in (Topology, Model):
        for field in dataclasses.fields(owner):
            if hasattr(mj_model, field.name):
                value = getattr(mj_model, field.name)
                fields[field.name] = np.array(value) if isinstance(value, np.ndarray) else value
    fields["text_data"] = np.frombuffer(bytes(mj_model.text_data), np.uint8).astype(np.int32)
    return Arrays(
        fields=fields,
        options={n: np.array(getattr(mj_model.opt, n)) for n in (*OptionFloats.__dataclass_fields__, *OPTION_FLAGS)},
        statistics={n: np.array(getattr(mj_model.stat, n)) for n in Statistic.__dataclass_fields__},
        names={kind: _names(mujoco, mj_model, kind) for kind in NAMED_KINDS},
    )


_COUNTS = {
    ObjType.BODY: "nbody", ObjType.JOINT: "njnt", ObjType.GEOM: "ngeom", ObjType.SITE: "nsite",
    ObjType.CAMERA: "ncam", ObjType.LIGHT: "nlight", ObjType.FLEX: "nflex", ObjType.MESH: "nmesh",
    ObjType.SKIN: "nskin", ObjType.HFIELD: "nhfield", ObjType.TEXTURE: "ntex", ObjType.MATERIAL: "nmat",
    ObjType.PAIR: "npair", ObjType.EXCLUDE: "nexclude", ObjType.EQUALITY: "neq", ObjType.TENDON: "ntendon",
    ObjType.ACTUATOR: "nactuator", ObjType.SENSOR: "nsensor", ObjType.NUMERIC: "nnumeric", ObjType.TEXT: "ntext",
    ObjType.TUPLE: "ntuple", ObjType.KEY: "nkey",
}  # fmt: skip


def _names(mujoco, mj_model, kind: ObjType) -> tuple[str, ...]:
    return tuple(mujoco.mj_id2name(mj_model, int(kind), i) or "" for i in range(getattr(mj_model, _COUNTS[kind])))


def put_model(
    mj_model: "mujoco.MjModel",
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
    hooks: Hooks = NO_HOOKS,
    active: tuple[str, ...] = (),
) -> Model:
    """Return the Model of a compiled mujoco.MjModel; arguments as `Model.from_xml_path`."""
    return finalize(arrays_from_mjmodel(mj_model), nconmax, njmax, dtype, hooks, active)
