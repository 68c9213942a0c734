"""From NumPy arrays with mjModel's names to a Model: the one place where Topology and plans are made."""

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator import plan as actuator_plan
from mjx_like.arguments import capacity
from mjx_like.collision import plan as collision_plan
from mjx_like.compiler.limits import MAX_BODIES, MAX_DOFS
from mjx_like.compiler.mesh.curve import along_curve
from mjx_like.compiler.reference.kinematics import local_frames
from mjx_like.constraint import plan as constraint_plan
from mjx_like.errors import InputError, ModelError, closest, shown
from mjx_like.integrator import plan as integrator_plan
from mjx_like.passive import plan as passive_plan
from mjx_like.sensor import plan as sensor_plan
from mjx_like.smooth import plan as smooth_plan
from mjx_like.tendon import plan as tendon_plan
from mjx_like.tree import plan as tree_plan
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import ConeType, DynType, GeomType, ObjType, WrapType
from mjx_like.types.hard import HardContact, changed_contact, refuse_hard
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.model import TERMS, Model
from mjx_like.types.option import OPTION_FLAGS, OPTION_TERMS, OptionFlags, OptionFloats, Statistic, integer_option
from mjx_like.types.plans import Plans
from mjx_like.types.pytree import leaves, shape_in
from mjx_like.types.topology import Topology
from mjx_like.types.visual import Visual

FAMILIES = {
    "tree": tree_plan,
    "smooth": smooth_plan,
    "tendon": tendon_plan,
    "actuator": actuator_plan,
    "passive": passive_plan,
    "collision": collision_plan,
    "sensor": sensor_plan,
    "integrator": integrator_plan,
}
_DECIDED = (
    "flags", "hard_contact", "vis", "names", "has", "wrap_sideid", "hfield_cells", "frame_nudge", "mesh_facecurve",
    "declared_unsupported", "unsupported", "hooks", "nconmax", "njmax", "capacity_args", "planner", "plans",
)  # fmt: skip
_MOST_NUMBERS = 2**31 - 1  # of one array, whose indices are int32


@dataclasses.dataclass
class Arrays:
    """What the compiler, `put_model` and `load` all produce: a model as NumPy float64 arrays.

    fields: mjModel's sizes (int) and arrays (float, int or bool) by name; options: mjOption's fields by name;
    statistics: mjStatistic's fields by name; visual: how it is drawn; names: object names by kind; unsupported: what
    the engine cannot run; contact: options of contact by their names in `m.opt`, none for soft; has: which terms exist,
    where that is known already (as in Topology), else None: where their floats are not zero.
    """

    fields: dict[str, Any]
    options: dict[str, Any]
    statistics: dict[str, Any]
    visual: Visual
    names: dict[ObjType, tuple[str, ...]]
    unsupported: tuple[str, ...] = ()
    contact: dict[str, Any] = dataclasses.field(default_factory=dict)
    has: dict[str, np.ndarray] | None = None


def finalize(
    arrays: Arrays,
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
    """Return the Model of `arrays`: Topology, plans and leaves.

    Args:
      arrays: the compiled model, every field of Topology and Model present.
      nconmax: capacity of the contact buffer; None for the default of the collision plan.
      njmax: capacity of the constraint buffer; None for all rows of the constraint plan.
      dtype: of the leaves; None for float64 when JAX has x64 enabled, else float32.
      hooks: user functions, static by identity.
      active: float fields, named in TERMS or OPTION_TERMS, whose terms exist also where they are zero.
      contact: "soft" or "hard"; None for what the arrays say. Likewise gap and slip, of hard contact, and integrator.

    Raises:
      InputError: a capacity that is no whole number, negative or too large; a dtype that is not of floats; hooks that
        are no Hooks; a name in `active` that decides no term; an option that is none; a gap or slip of soft contact.
      ModelError: more bodies, degrees of freedom or pairs of geoms than tables hold.
      UnsupportedError: what hard contact does not do.
    """
    nconmax, njmax = capacity("nconmax", nconmax), capacity("njmax", njmax)
    dtype = _float_type(dtype)
    if not isinstance(hooks, Hooks):
        raise InputError(f"hooks={shown(hooks)}: must be a Hooks, mjx.Hooks(control=...)")
    _check_active(active)
    for name, most in (("nbody", MAX_BODIES), ("nv", MAX_DOFS)):
        if arrays.fields[name] > most:
            raise ModelError(f"{name} is {arrays.fields[name]}; {most} is the most")
    hard = _hard_contact(arrays, {"contact": contact, "gap": gap, "slip": slip}, dtype)
    changes = {} if hard is None else {"cone": ConeType.ELLIPTIC}
    changes |= {} if integrator is None else {"integrator": integer_option("integrator", integrator)}
    arrays = dataclasses.replace(arrays, options=arrays.options | changes)
    topology = _topology(arrays, hard is not None, nconmax, njmax, hooks, active)
    if hard is not None:
        refuse_hard(topology, smoothed=False)
    topology = make_plans(topology)
    _check_room(topology)
    return _model(arrays, topology, dtype).replace(hard=hard)


def _hard_contact(arrays: Arrays, asked: dict[str, Any], dtype: np.dtype) -> HardContact | None:
    """Return the record of hard contact, None for soft: as it is asked for, and as the arrays say for the rest."""
    asked = {name: value for name, value in asked.items() if value is not None}
    options = arrays.contact | asked
    options = options if options.get("contact") == "hard" else asked  # what a file says of hard contact may rest
    return changed_contact(None, options, int(arrays.options["cone"]), dtype)


def _float_type(dtype: Any) -> np.dtype:
    """Return the dtype of the leaves; None gives JAX's own."""
    if dtype is None:
        return jnp.zeros(()).dtype
    with contextlib.suppress(TypeError):  # no dtype at all
        if jnp.issubdtype(jnp.dtype(dtype), jnp.floating):
            return jnp.zeros((), dtype).dtype
    raise InputError(f"dtype={shown(dtype)}: must be a type of floats, such as jnp.float32 or jnp.float64")


def _check_active(active: tuple[str, ...]) -> None:
    if isinstance(active, str) or not isinstance(active, Iterable):
        example = f', ("{active}",)' if isinstance(active, str) else ""
        raise InputError(f"active={shown(active)}: must be a tuple of names{example}")
    allowed = (*TERMS, *OPTION_TERMS)
    for name in active:
        if name not in allowed:
            hint = closest(str(name), allowed) or f"; allowed: {', '.join(allowed)}"
            raise InputError(f"active: {name!r} decides no term{hint}")


def _check_room(t: Topology) -> None:
    """Raise for a capacity that was asked for and that makes an array larger than arrays can be."""
    asked = dict(zip(("nconmax", "njmax"), t.capacity_args, strict=True))
    defaults = {"nconmax": max(1, t.plans.collision.default_nconmax), "njmax": t.plans.constraint.default_njmax}
    for kind, prefix, rows in ((Contact, "contact.", "nconmax"), (Data, "", "njmax")):
        fields = [f for f in leaves(kind) if f.metadata["shape"][:1] == (rows,)]
        size, field = max((math.prod(shape_in(t, f.metadata["shape"])), f.name) for f in fields)
        name = rows if asked[rows] is not None else "nconmax"  # njmax follows from it
        if size > _MOST_NUMBERS and asked[name] is not None:
            raise InputError(
                f"{name}={asked[name]}: {prefix}{field} would have {size} numbers, {_MOST_NUMBERS} are the most; "
                f"by default this model has {name}={defaults[name]}"
            )


def make_plans(t: Topology) -> Topology:
    """Return the Topology with all plans, the capacities that follow from them, and what the engine cannot run."""
    plans = Plans(**{name: family.make_plan(t) for name, family in FAMILIES.items()}, constraint=None)
    nconmax, njmax = t.capacity_args
    # one neutral row where nothing can touch: tools that reshape contact arrays trip over none
    t = dataclasses.replace(
        t, plans=plans, nconmax=max(1, plans.collision.default_nconmax) if nconmax is None else nconmax
    )
    constraint = constraint_plan.make_plan(t)
    t = dataclasses.replace(t, plans=dataclasses.replace(plans, constraint=constraint))
    families = (*FAMILIES.values(), constraint_plan)
    lacks = (family.unsupported(t) for family in families if hasattr(family, "unsupported"))
    return dataclasses.replace(
        t,
        njmax=constraint.default_njmax if njmax is None else njmax,
        unsupported=t.declared_unsupported + tuple(itertools.chain.from_iterable(lacks)),
    )


def _topology(
    arrays: Arrays, hard: bool, nconmax: int | None, njmax: int | None, hooks: Hooks, active: tuple[str, ...]
) -> Topology:
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(Topology):
        if field.name in _DECIDED:
            continue
        value = arrays.fields[field.name]
        fields[field.name] = np.ascontiguousarray(value, field.metadata["dtype"]) if field.metadata else int(value)
    flags = OptionFlags(**{name: int(arrays.options[name]) for name in OPTION_FLAGS})
    has = {name: _nonzero(arrays.fields[name], trailing) for name, trailing in TERMS.items()}
    plain = ~np.isin(arrays.fields["actuator_dyntype"], (DynType.DCMOTOR, DynType.PID))[:, None]
    has |= {name: has[name] | plain for name in ("actuator_dynprm", "actuator_gainprm")}
    has |= {name: np.any(np.asarray(arrays.options[name]) != 0) for name in OPTION_TERMS}
    has |= arrays.has or {}
    has = {name: np.asarray(found | (name in active)) for name, found in has.items()}
    return Topology(
        **fields,
        flags=flags,
        hard_contact=hard,
        vis=arrays.visual,
        names=arrays.names,
        has=has,
        wrap_sideid=_side_sites(arrays.fields),
        hfield_cells=_hfield_cells(arrays.fields, float(arrays.options["o_margin"])),
        frame_nudge=_frame_nudge(arrays.fields),
        mesh_facecurve=_face_curve(arrays.fields),
        declared_unsupported=arrays.unsupported,
        unsupported=(),
        hooks=hooks,
        nconmax=0,
        njmax=0,
        capacity_args=(nconmax, njmax),
        planner=make_plans,
    )


def _side_sites(fields: dict[str, Any]) -> np.ndarray:
    around = np.isin(fields["wrap_type"], (WrapType.SPHERE, WrapType.CYLINDER))
    return np.where(around, np.rint(fields["wrap_prm"]), -1).astype(np.int32)


def _hfield_cells(fields: dict[str, Any], o_margin: float) -> np.ndarray:
    """Return how many rows and columns of cells each geom can be above, for each geom that is a height field.

    Bounding radius, margins and gaps decide; the shape is (height field geoms, ngeom, 2).
    """
    ground = np.flatnonzero(fields["geom_type"] == GeomType.HFIELD)
    field = fields["geom_dataid"][ground]
    count = np.stack([fields["hfield_nrow"][field], fields["hfield_ncol"][field]], axis=1) - 1
    step = 2 * fields["hfield_size"][field][:, 1::-1] / np.maximum(count, 1)
    layer = fields["geom_margin"] + fields["geom_gap"]
    largest = np.max(fields["pair_margin"] + fields["pair_gap"], initial=o_margin)
    reach = fields["geom_rbound"] + np.maximum(layer + layer[ground][:, None], largest)
    cells = np.ceil(2 * reach[..., None] / step[:, None] - 1e-9) + 1
    return np.minimum(cells, count[:, None]).astype(np.int32)


def _face_curve(fields: dict[str, Any]) -> np.ndarray:
    """Return the faces of each mesh in an order in which neighbours are near each other, numbers within the mesh."""
    orders = [np.zeros(0, np.int64)]
    vert, face = (np.asarray(fields[name]).reshape(-1, 3) for name in ("mesh_vert", "mesh_face"))
    for mesh in range(fields["nmesh"]):
        first, start = fields["mesh_vertadr"][mesh], fields["mesh_faceadr"][mesh]
        own = face[start : start + fields["mesh_facenum"][mesh]]
        orders.append(along_curve(vert[first:], own))
    return np.concatenate(orders).astype(np.int32)


def _frame_nudge(fields: dict[str, Any]) -> np.ndarray:
    """Return what moves inertial frames, geoms and sites onto the frame of their body or its inertia, shape (n, 7).

    The compiler of MuJoCo takes frames within 1e-6 of each other for one, and its engine then copies the pose. There
    are no rows where none of them differs.
    Source: body_sameframe, geom_sameframe and site_sameframe in user_model.cc, mj_local2Global.
    """
    kinds = (("body_ipos", "body_iquat"), ("geom_pos", "geom_quat"), ("site_pos", "site_quat"))
    rows = []
    for (pos, quat), (near_pos, near_quat) in zip(kinds, local_frames(fields), strict=True):
        own = fields[quat]
        sign = np.where(np.sum(own * near_quat, axis=1, keepdims=True) < 0, -1, 1)
        rows.append(np.concatenate([near_pos - fields[pos], sign * near_quat - own], axis=1))
    nudge = np.concatenate(rows)
    return nudge if nudge.any() else np.zeros((0, 7))


def _nonzero(value: np.ndarray, trailing: int) -> np.ndarray:
    value = np.asarray(value)
    return np.any(value != 0, axis=tuple(range(value.ndim - trailing, value.ndim)))


def _model(arrays: Arrays, topology: Topology, dtype: Any) -> Model:
    shapes = {f.name: shape_in(topology, f.metadata["shape"]) for f in leaves(Model)}
    values = {name: _cast(arrays.fields[name], dtype).reshape(shape) for name, shape in shapes.items()}
    option = OptionFloats(**{f.name: _cast(arrays.options[f.name], dtype) for f in leaves(OptionFloats)})
    stat = Statistic(**{f.name: _cast(arrays.statistics[f.name], dtype) for f in leaves(Statistic)})
    return jax.device_put(Model(topology=topology, opt_floats=option, stat=stat, **values))


def _cast(value: Any, dtype: Any) -> np.ndarray:
    """Return a copy in the dtype of the leaves; cast here, for JAX would compile a program for every shape."""
    with np.errstate(over="ignore"):
        return np.array(value, np.float64).astype(dtype)
