"""From `mujoco` objects, where mujoco is installed; it is imported inside functions."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.compiler.contact import contact_of_fields
from mjx_like.compiler.finalize import Arrays, finalize
from mjx_like.compiler.integrator import integrator_of_fields
from mjx_like.compiler.mesh.box_tree import order_of_tree
from mjx_like.compiler.mesh.field import MeshField, field_of_octree
from mjx_like.compiler.plugin.sdf import place_fields
from mjx_like.errors import InputError
from mjx_like.interop.arguments import data_to_put, model_to_put
from mjx_like.interop.compressed import dense_rows
from mjx_like.math.linalg import cholesky
from mjx_like.mjcf.schema.settings import RGBA_DEFAULTS
from mjx_like.state.initial import make_data
from mjx_like.tree import blocks
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType, WarningType
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.model import Model
from mjx_like.types.named import NAMED_KINDS
from mjx_like.types.option import OPTION_FLAGS, OptionFloats, Statistic
from mjx_like.types.pytree import Role, with_role
from mjx_like.types.topology import Topology
from mjx_like.types.visual import SECTIONS, Visual, visual_from

if TYPE_CHECKING:
    import mujoco


def arrays_from_mjmodel(mj_model: "mujoco.MjModel") -> Arrays:
    """Return the fields, options, statistics and names of a compiled mujoco.MjModel as NumPy arrays."""
    import mujoco

    fields: dict[str, Any] = {}
    for owner in (Topology, Model):
        for field in dataclasses.fields(owner):
            if field.name != "vis" and hasattr(mj_model, field.name):
                value = getattr(mj_model, field.name)
                fields[field.name] = np.array(value) if isinstance(value, np.ndarray) else value
    fields["text_data"] = np.frombuffer(bytes(mj_model.text_data), np.uint8).astype(np.int32)
    fields |= {"ncable": 0, "cable_bodyid": np.zeros(0, int)}  # MuJoCo 4 has no cables
    fields |= {name: np.zeros((0, 3)) for name in ("cable_stiffness", "cable_curvature")}
    fields |= {"nsdf": 0, "sdf_geomid": np.zeros(0, int), "sdf_kind": np.zeros(0, int), "sdf_param": np.zeros((0, 5))}
    fields |= place_fields([_field(mj_model, mesh) for mesh in range(mj_model.nmesh)])
    fields |= {"nsdfvalue": len(fields["sdf_value"]), "mesh_faceorder": _face_orders(mujoco, mj_model)}
    lacks = ()
    if mj_model.nplugin:
        lacks = ("an MjModel does not tell what its plugins are; load the XML with Model.from_xml_path",)
    return Arrays(
        fields=fields,
        options={n: np.array(getattr(mj_model.opt, n)) for n in (*OptionFloats.__dataclass_fields__, *OPTION_FLAGS)},
        statistics={n: np.array(getattr(mj_model.stat, n)) for n in Statistic.__dataclass_fields__},
        visual=_visual(mj_model.vis),
        names={kind: _names(mujoco, mj_model, kind) for kind in NAMED_KINDS},
        unsupported=lacks,
    )


def _visual(vis) -> Visual:
    """Return the options; the bindings of mujoco 4.0.0 show no numbers for the two colours of bounding volumes."""
    names = {section: [f.name for f in dataclasses.fields(kind)] for section, kind in SECTIONS.items()}
    return visual_from({section: {n: _number(vis, section, n) for n in found} for section, found in names.items()})


def _number(vis, section: str, name: str):
    value = getattr(getattr(vis, "global_" if section == "global" else section), name)
    return RGBA_DEFAULTS[name] if section == "rgba" and not np.size(value) else value


def _field(mj_model, mesh: int) -> MeshField | None:
    start, count = mj_model.mesh_octadr[mesh], mj_model.mesh_octnum[mesh]
    part = slice(start, start + count)
    columns = (getattr(mj_model, name)[part] for name in ("oct_child", "oct_aabb", "oct_coeff"))
    return field_of_octree(*columns) if count else None


def _face_orders(mujoco, mj_model) -> np.ndarray:
    searched = (mj_model.geom_type == mujoco.mjtGeom.mjGEOM_SDF).any()
    orders = [np.zeros(0, int)]
    for start, count, faces in zip(mj_model.mesh_bvhadr, mj_model.mesh_bvhnum, mj_model.mesh_facenum, strict=True):
        tree = mj_model.bvh_child[start : start + count], mj_model.bvh_nodeid[start : start + count]
        orders.append(order_of_tree(*tree) if searched else np.arange(faces))
    return np.concatenate(orders)


def _names(mujoco, mj_model, kind: ObjType) -> tuple[str, ...]:
    count = getattr(mj_model, "n" + NAMED_KINDS[kind].removesuffix("_"))
    return tuple(mujoco.mj_id2name(mj_model, int(kind), i) or "" for i in range(count))


def put_model(
    m: "mujoco.MjModel",
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
    hooks: Hooks = NO_HOOKS,
    active: tuple[str, ...] = (),
    contact: str | None = None,
    gap: float | None = None,
    slip: float | None = None,
    integrator: int | str | None = None,
) -> Model:
    """Return the Model of a compiled mujoco.MjModel; arguments as `Model.from_xml_path`.

    Raises:
      InputError: `m` is no MjModel, or as `Model.from_xml_path`.
      ModelError: custom fields of contact or the integrator that say what there is not.
    """
    import mujoco

    model_to_put(m, mujoco.MjModel)
    arrays = arrays_from_mjmodel(m)
    arrays.options |= integrator_of_fields(arrays.fields, arrays.names)
    arrays.contact = contact_of_fields(arrays.fields, arrays.names)
    return finalize(arrays, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator)


# What a MjData keeps where its rows are no use.
_KEPT = with_role(Data, Role.STATE, Role.MEMORY, Role.WARMSTART, Role.INPUT, Role.USERDATA)


def put_data(
    m: "mujoco.MjModel",
    d: "mujoco.MjData",
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
) -> Data:
    """Return the Data of a mujoco.MjData, contacts and rows included; without them where the file says hard contact.

    Args:
      m: the model of `d`.
      d: one world.
      nconmax: capacity of the contact buffer, as the Model was loaded with; likewise `njmax`.
      dtype: of the float fields; None for float64 when JAX has x64 enabled, else float32.

    Raises:
      UnsupportedError: as `make_data`.
      InputError: `m` and `d` are no MjModel and its MjData, or `d` holds more contacts or rows than the capacities.
    """
    import mujoco

    data_to_put(m, d, mujoco.MjModel, mujoco.MjData, tuple(STORED_OTHERWISE))
    model = put_model(m, nconmax, njmax, dtype)
    for name, used in (("nconmax", d.ncon), ("njmax", d.nefc)) if model.hard is None else ():
        if used > getattr(model, name):
            raise InputError(f"{name}={getattr(model, name)}, but the MjData uses {used}; give {name}={used} or more")
    data = make_data(model)
    if model.hard is not None:  # the rows are those of soft contact
        return data.replace(**{name: _fill(getattr(d, name), getattr(data, name)) for name in _KEPT})
    con = {name: _fill(getattr(d.contact, name), old) for name, old in vars(data.contact).items()}
    computed = {name: field(m, d) for name, field in STORED_OTHERWISE.items()}
    matrices = {} if model.plans.tree.trees is None else {name: computed[name] for name in _MATRICES}
    data = data.replace(
        contact=data.contact.replace(**con),
        **{
            name: _fill(computed[name] if name in computed else getattr(d, name), old)
            for name, old in vars(data).items()
            if name != "contact" and name not in matrices
        },
    )
    return _as_blocks(model, data, matrices) if matrices else data


# What models of many trees store as blocks.
_MATRICES = ("M", "qLD", "efc_J")


def _as_blocks(m: Model, d: Data, dense: dict[str, np.ndarray]) -> Data:
    """Return `d` with dense matrices as they are stored in a model of many trees."""
    trees, J = m.plans.tree.trees, np.zeros((m.njmax, m.nv))
    J[: len(dense["efc_J"])] = dense["efc_J"]
    stored = {name: blocks.stored(trees, jnp.asarray(dense[name], d.M.dtype)) for name in ("M", "qLD")}
    return d.replace(**stored, efc_J=blocks.parts_of(m, d, jnp.asarray(J, d.M.dtype)))


def _fill(value: Any, old: jax.Array) -> jax.Array:
    """Return a copy of `value` in the shape and dtype of `old`; rows that it does not have are those of `old`."""
    value = np.array(value)  # JAX would share the memory of MjData, which the next mj_step overwrites
    if value.size == old.size:
        return jnp.asarray(value.reshape(old.shape), old.dtype)
    full = np.array(old, np.promote_types(value.dtype, old.dtype))
    full[: len(value)] = value.reshape((len(value), *old.shape[1:]))
    return jnp.asarray(full, old.dtype)


def _mass_matrix(m: "mujoco.MjModel", d: "mujoco.MjData") -> np.ndarray:
    lower = dense_rows(d.M, m.M_rownnz, m.M_rowadr, m.M_colind, m.nv)
    return lower + np.tril(lower, -1).T


def _mass_factor(m: "mujoco.MjModel", d: "mujoco.MjData") -> np.ndarray:
    full = _mass_matrix(m, d)
    if not np.all(np.diag(full) > 0):
        return np.zeros_like(full)  # of a Data that no stage has filled yet
    try:
        return np.linalg.cholesky(full)
    except np.linalg.LinAlgError:  # singular, or nearly so: as the engine itself factors it
        return np.asarray(cholesky(jnp.asarray(full)))


def _row_jacobian(m: "mujoco.MjModel", d: "mujoco.MjData") -> np.ndarray:
    import mujoco

    if not mujoco.mj_isSparse(m):
        return np.reshape(d.efc_J, (d.nefc, m.nv))
    return dense_rows(d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind, m.nv)


def _residual(m: "mujoco.MjModel", d: "mujoco.MjData") -> float:
    count = int(d.solver_niter.max(initial=0))
    return d.solver[min(count, len(d.solver)) - 1].gradient if count else 0.0


# Fields of Data that MjData stores in another way: (mj_model, mj_data) -> dense value.
STORED_OTHERWISE: dict[str, Callable[..., Any]] = {
    "M": _mass_matrix,
    "qLD": _mass_factor,
    "ten_J": lambda m, d: dense_rows(d.ten_J, m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind, m.nv),
    "actuator_moment": lambda m, d: dense_rows(
        d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind, m.nv
    ),
    "efc_J": _row_jacobian,
    "warning": lambda m, d: np.array(d.warning.number)[: len(WarningType)],
    "qvel_mean": lambda m, d: np.zeros(m.nv),
    "unconverged": lambda m, d: 0,
    "solver_niter": lambda m, d: d.solver_niter.max(initial=0),
    "solver_residual": _residual,
}
