"""From Data to `mujoco.MjData`, where mujoco is installed; it is imported inside functions."""

from typing import TYPE_CHECKING

import jax
import numpy as np

from mjx_like.interop.arguments import data_to_get, results_to_fill
from mjx_like.interop.compressed import dense_rows, entries_of
from mjx_like.interop.convert import STORED_OTHERWISE, put_model
from mjx_like.tree import blocks
from mjx_like.types.data import Data
from mjx_like.types.enums import WarningType

if TYPE_CHECKING:
    import mujoco


def get_data(m: "mujoco.MjModel", d: Data) -> "mujoco.MjData | list[mujoco.MjData]":
    """Return a new mujoco.MjData that holds `d`; a list of them if `d` has a leading batch axis.

    Raises:
      InputError: `m` is no MjModel, or `d` is no Data of it, is traced, or has the axis in part.
    """
    import mujoco

    batch = data_to_get("get_data", m, d, mujoco.MjModel)
    result = mujoco.MjData(m) if batch is None else [mujoco.MjData(m) for _ in range(batch)]
    _write(result, m, d)
    return result


def get_data_into(result: "mujoco.MjData | list[mujoco.MjData]", m: "mujoco.MjModel", d: Data) -> None:
    """Write `d` into an existing mujoco.MjData, or a list of them if `d` has a leading batch axis.

    Fields of MjData that Data does not hold are those that mj_fwdPosition computes at `d.qpos`; buffers of contacts
    and rows get `ncon` and `nefc` entries.

    Raises:
      InputError: a list for one world, one MjData for a batch, a list of another length, or MjData of another MjModel;
        `m` and `d` as for `get_data`.
    """
    import mujoco

    batch = data_to_get("get_data_into", m, d, mujoco.MjModel)
    results_to_fill(result, m, batch, mujoco.MjData, tuple(STORED_OTHERWISE))
    _write(result, m, d)


def _write(result: "mujoco.MjData | list[mujoco.MjData]", m: "mujoco.MjModel", d: Data) -> None:
    d = jax.device_get(d if d.M.shape[-1] == m.nv else _dense(m, d))
    for i, world in enumerate(result if isinstance(result, list) else [result]):
        _get_world(world, m, jax.tree.map(lambda x, i=i: x[i], d) if isinstance(result, list) else d)


def _dense(m: "mujoco.MjModel", d: Data) -> Data:
    """Return `d` with whole matrices in place of blocks."""
    model = put_model(m, d.contact.dist.shape[-1], d.efc_type.shape[-1], d.qpos.dtype)

    def one(d: Data) -> Data:
        return d.replace(M=blocks.full_matrix(model, d.M), efc_J=blocks.full_j(model, d))

    return one(d) if d.qpos.ndim == 1 else jax.vmap(one)(d)


def _get_world(result: "mujoco.MjData", mj_model: "mujoco.MjModel", d: Data) -> None:
    import mujoco

    fields = {name: value for name, value in vars(d).items() if name not in ("contact", *STORED_OTHERWISE)}
    ncon, nefc = min(int(d.ncon), d.contact.dist.shape[0]), min(int(d.nefc), d.efc_type.shape[0])
    for name in _INPUTS:
        getattr(result, name)[...] = fields[name]
    mujoco.mj_fwdPosition(mj_model, result)
    _get_rows(result, mj_model, d, ncon, nefc)
    for name, value in (fields | {"ncon": ncon, "nefc": nefc}).items():
        if np.ndim(value) == 0:
            setattr(result, name, value.item() if hasattr(value, "item") else value)
        else:
            target = getattr(result, name)
            target[...] = np.reshape(value[:nefc] if name.startswith("efc_") else value, target.shape)
    lower = entries_of(mj_model.M_rownnz, mj_model.M_rowadr)
    result.M[lower[1]] = d.M[lower[0], mj_model.M_colind[lower[1]]]
    mujoco.mj_factorM(mj_model, result)
    rows, entries = entries_of(mj_model.ten_J_rownnz, mj_model.ten_J_rowadr)
    result.ten_J[entries] = d.ten_J[rows, mj_model.ten_J_colind[entries]]
    rows, entries = entries_of(result.moment_rownnz, result.moment_rowadr)
    result.actuator_moment[entries] = d.actuator_moment[rows, result.moment_colind[entries]]
    result.warning.number[: len(WarningType)] = d.warning
    result.solver_niter[:] = 0
    result.solver_niter[0] = d.solver_niter


# What mj_fwdPosition reads.
_INPUTS = ("qpos", "eq_active", "mocap_pos", "mocap_quat")


def _get_rows(result: "mujoco.MjData", mj_model: "mujoco.MjModel", d: Data, ncon: int, nefc: int) -> None:
    """Write contacts and the constraint Jacobian, with buffers of the right length."""
    import mujoco

    jacobian, sparse = np.asarray(d.efc_J[:nefc], float), bool(mujoco.mj_isSparse(mj_model))
    same = result.ncon == ncon and result.nefc == nefc and np.array_equal(result.efc_type, d.efc_type[:nefc])
    pattern = dense_rows(np.ones(result.nJ), *_row_layout(result), mj_model.nv) != 0 if sparse and same else None
    if not same or (sparse and np.any(jacobian[~pattern])):
        count = int(np.count_nonzero(jacobian)) if sparse else nefc * mj_model.nv
        mujoco._functions._realloc_con_efc(result, ncon, nefc, count)
        if sparse:
            _write_layout(result, jacobian)
        result.contact.exclude[:] = d.contact.efc_address[:ncon] < 0
        for name in ("flex", "elem", "vert"):
            getattr(result.contact, name)[:] = -1
        for name in ("mu", "H"):
            getattr(result.contact, name)[:] = 0
    if sparse:
        rows, entries = entries_of(result.efc_J_rownnz, result.efc_J_rowadr)
        result.efc_J[entries] = jacobian[rows, result.efc_J_colind[entries]]
    else:
        result.efc_J[:] = jacobian.ravel()
    for name, value in vars(d.contact).items():
        target = getattr(result.contact, name)
        target[:] = np.reshape(value[:ncon], target.shape)
    result.contact.geom1[:], result.contact.geom2[:] = result.contact.geom.T


def _row_layout(d: "mujoco.MjData") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind


def _write_layout(result: "mujoco.MjData", jacobian: np.ndarray) -> None:
    """Write where the non-zero entries of the constraint Jacobian stand."""
    rows, cols = np.nonzero(jacobian)
    nnz = np.bincount(rows, minlength=len(jacobian))
    result.efc_J_rownnz[:], result.efc_J_rowadr[:], result.efc_J_colind[:] = nnz, np.cumsum(nnz) - nnz, cols
