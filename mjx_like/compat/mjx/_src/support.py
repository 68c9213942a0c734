"""Products with the inertia matrix, Jacobians, forces, names."""

from typing import Any

import jax

from mjx_like.compat.mjx._src.types import JacobianType, adapted
from mjx_like.constraint.contact_force import contact_force as _contact_force
from mjx_like.math import quaternion
from mjx_like.math.pose import mul_pose
from mjx_like.smooth.crb import full_m as _full_m
from mjx_like.smooth.crb import mul_m as _mul_m
from mjx_like.smooth.xfrc import apply_ft as _apply_ft
from mjx_like.smooth.xfrc import xfrc_accumulate as _xfrc_accumulate
from mjx_like.tree.jacobian import jac as _jac
from mjx_like.tree.jacobian import jac_dot as _jac_dot
from mjx_like.types.named import id2name as _id2name
from mjx_like.types.named import name2id as _name2id

SPARSE_FROM = 60  # degrees of freedom

full_m = adapted(_full_m)
mul_m = adapted(_mul_m)
jac = adapted(_jac)
jac_dot = adapted(_jac_dot)
apply_ft = adapted(_apply_ft)
xfrc_accumulate = adapted(_xfrc_accumulate)
contact_force = adapted(_contact_force)


def local_to_global(
    world_pos: jax.Array, world_quat: jax.Array, local_pos: jax.Array, local_quat: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return position, shape (3,), and rotation matrix, shape (3, 3), in the world of a pose in another's frame."""
    pos, quat = mul_pose(world_pos, world_quat, local_pos, local_quat)
    return pos, quaternion.matrix(quat)


def is_sparse(m: Any) -> bool:
    """Return whether MJX would store the inertia matrix of a Model or MjModel sparse; this engine never does."""
    kind = m.opt.jacobian
    return bool(m.nv >= SPARSE_FROM if kind == JacobianType.AUTO else kind == JacobianType.SPARSE)


def name2id(m: Any, typ: Any, name: str) -> int:
    """Return the id of the object of that type and name in a Model or MjModel, or -1."""
    if hasattr(m, "topology"):
        return _name2id(m, int(typ), name)
    import mujoco

    return mujoco.mj_name2id(m, int(typ), name)


def id2name(m: Any, typ: Any, i: int) -> str | None:
    """Return the name of an object of a Model or MjModel, or None if it has none."""
    if hasattr(m, "topology"):
        return _id2name(m, int(typ), i)
    import mujoco

    return mujoco.mj_id2name(m, int(typ), i)
