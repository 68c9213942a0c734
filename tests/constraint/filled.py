"""Data filled from MuJoCo's MjData, so that a stage is tested without those before it."""

import jax.numpy as jnp
import mujoco
import numpy as np

from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model

FIELDS = (
    "qpos", "qvel", "xpos", "xquat", "xmat", "xipos", "site_xpos", "site_xmat", "subtree_com", "cdof", "cvel",
    "cdof_dot", "ten_length", "eq_active", "qfrc_smooth", "qacc_smooth", "qacc_warmstart",
)  # fmt: skip
CONTACT = (
    "dist",
    "pos",
    "frame",
    "includemargin",
    "friction",
    "solref",
    "solreffriction",
    "solimp",
    "adhesion",
    "surfacevel",
    "dim",
    "geom",
)
ROWS = (
    "efc_type", "efc_id", "efc_pos", "efc_margin", "efc_frictionloss", "efc_diagA", "efc_KBIP", "efc_D", "efc_R",
    "efc_vel", "efc_aref",
)  # fmt: skip


def dense_jacobian(mj: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return efc_J, shape (nefc, nv)."""
    out = np.zeros((data.nefc, mj.nv))
    if data.nefc and mujoco.mj_isSparse(mj):
        mujoco.mju_sparse2dense(out, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    elif data.nefc:
        out[:] = data.efc_J[: out.size].reshape(out.shape)  # contacts without rows leave room at the end
    return out


def mass_matrix(mj: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return M, shape (nv, nv)."""
    out = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, out)
    return out


def filled(mj: mujoco.MjModel, m: Model, data: mujoco.MjData) -> Data:
    """Return Data with all that constraint/ and solver/ read, from `data`; contacts in its order."""
    d, dtype = make_data(m), m.qpos0.dtype
    values = {name: np.asarray(getattr(data, name)).reshape(getattr(d, name).shape) for name in FIELDS}
    if mj.ntendon:
        values["ten_J"] = tendon_jacobian(mj, data)
    values["M"] = mass_matrix(mj, data)
    values["qLD"] = np.linalg.cholesky(values["M"]) if mj.nv else values["M"]
    contact = {}
    for name in CONTACT:
        empty = np.array(getattr(d.contact, name))
        for i, c in enumerate(data.contact):
            empty[i] = np.asarray(getattr(c, name)).reshape(empty[i].shape)
        contact[name] = jnp.asarray(empty)
    values = {k: jnp.asarray(v, bool if k == "eq_active" else dtype) for k, v in values.items()}
    return d.replace(contact=d.contact.replace(**contact), ncon=jnp.int32(data.ncon), **values)


def tendon_jacobian(mj: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return ten_J, shape (ntendon, nv)."""
    out = np.zeros((mj.ntendon, mj.nv))
    for i in range(mj.ntendon):
        adr, num = int(mj.ten_J_rowadr[i]), int(mj.ten_J_rownnz[i])
        out[i, mj.ten_J_colind[adr : adr + num]] = data.ten_J.ravel()[adr : adr + num]
    return out
