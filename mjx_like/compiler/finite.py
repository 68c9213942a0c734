"""Numbers that are not finite where a model cannot move without them."""

from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.types.enums import ObjType
from mjx_like.types.named import NAMED_KINDS

_FIELDS = {
    ObjType.BODY: "pos quat ipos iquat mass inertia gravcomp", ObjType.JOINT: "pos axis stiffness",
    ObjType.GEOM: "pos quat size", ObjType.SITE: "pos quat", ObjType.CAMERA: "pos quat", ObjType.LIGHT: "pos dir",
    ObjType.TENDON: "stiffness armature damping", ObjType.ACTUATOR: "armature damping gainprm biasprm dynprm",
}  # fmt: skip
_DOFS = ("dof_armature", "dof_damping", "dof_frictionloss")


def check_finite(ctx: Context, fields: dict[str, Any]) -> None:
    """Raise ModelError for the first object whose place, mass, stiffness or the like is not a finite number.

    MuJoCo makes such a model, and its first step is not a number.
    """
    for kind, names in _FIELDS.items():
        prefix = NAMED_KINDS[kind]
        for name in names.split():
            values = np.asarray(fields[prefix + name], float)
            bad = ~np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
            if bad.any():
                element = ctx.names.elements[kind][int(np.argmax(bad))]
                raise element.error(f"its {name} comes out as a number that is not finite; give finite numbers")
    joints = ctx.names.elements[ObjType.JOINT]
    for name in _DOFS:
        bad = ~np.isfinite(np.asarray(fields[name], float))
        if bad.any():
            element = joints[int(fields["dof_jntid"][int(np.argmax(bad))])]
            raise element.error(f"its {name.removeprefix('dof_')} is not a finite number")
    for name in ("qpos0", "qpos_spring"):
        bad = ~np.isfinite(np.asarray(fields[name], float))
        if bad.any():
            joint = int(np.searchsorted(fields["jnt_qposadr"], int(np.argmax(bad)), side="right")) - 1
            raise joints[joint].error("its reference position is not a finite number")
