"""MJX's records and enums: Model and Contact are those of the top level, Data has MJX's division in two."""

import enum
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.compat.mjx._src.bind import BoundData, BoundModel
from mjx_like.compat.mjx._src.dataclasses import PyTreeNode as PyTreeNode
from mjx_like.compat.mjx._src.dataclasses import dataclass
from mjx_like.types import data, model
from mjx_like.types.enums import BiasType as BiasType
from mjx_like.types.enums import CamLightType as CamLightType
from mjx_like.types.enums import ConeType as ConeType
from mjx_like.types.enums import ConstraintType as ConstraintType
from mjx_like.types.enums import DisableBit as DisableBit
from mjx_like.types.enums import DynType as DynType
from mjx_like.types.enums import EnableBit as EnableBit
from mjx_like.types.enums import EqType as EqType
from mjx_like.types.enums import GainType as GainType
from mjx_like.types.enums import GeomType as GeomType
from mjx_like.types.enums import IntegratorType as IntegratorType
from mjx_like.types.enums import JacobianType as JacobianType
from mjx_like.types.enums import JointType as JointType
from mjx_like.types.enums import ObjType as ObjType
from mjx_like.types.enums import SensorType as SensorType
from mjx_like.types.enums import SolverType as SolverType
from mjx_like.types.enums import TrnType as TrnType
from mjx_like.types.enums import WrapType as WrapType
from mjx_like.types.option import Option as Option
from mjx_like.types.option import Statistic as Statistic
from mjx_like.types.pytree import part


class Impl(enum.Enum):
    """What `impl` may name; all run on this engine, and a Model and a Data say JAX."""

    CPP = "cpp"
    C = "cpp"
    JAX = "jax"
    WARP = "warp"

    @classmethod
    def _missing_(cls, value: object) -> "Impl | None":
        return next((member for member in cls if isinstance(value, str) and member.value == value.lower()), None)


class Model(model.Model):
    """A Model of the top level with MJX's `impl`, `_impl` and `bind`; subclasses are pytrees with their own fields."""

    impl = Impl.JAX

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(cls)

    @property
    def _impl(self) -> "Model":
        return self

    def bind(self, specs: Any) -> BoundModel:
        """Return the rows of fields that belong to elements of a mujoco.MjSpec: `m.bind(spec.body("arm")).mass`."""
        return BoundModel(self, specs)


dataclass(Model)


class Contact(data.Contact):
    """A Contact of the top level; subclasses are pytrees with fields of their own."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(cls)


dataclass(Contact)


class Data(PyTreeNode):
    """The fields of MJX's Data, with all others of the top level's Data in `_impl`.

    Fields of `_impl` can be read here too. `ncon` is the number of rows of `contact`, as MJX has it; the number of
    contacts is `_impl.ncon`.
    """

    time: jax.Array
    qpos: jax.Array
    qvel: jax.Array
    act: jax.Array
    history: jax.Array
    qacc_warmstart: jax.Array
    plugin_state: jax.Array
    ctrl: jax.Array
    qfrc_applied: jax.Array
    xfrc_applied: jax.Array
    eq_active: jax.Array
    mocap_pos: jax.Array
    mocap_quat: jax.Array
    qacc: jax.Array
    act_dot: jax.Array
    userdata: jax.Array
    sensordata: jax.Array
    xpos: jax.Array
    xquat: jax.Array
    xmat: jax.Array
    xipos: jax.Array
    ximat: jax.Array
    xanchor: jax.Array
    xaxis: jax.Array
    ten_length: jax.Array
    geom_xpos: jax.Array
    geom_xmat: jax.Array
    site_xpos: jax.Array
    site_xmat: jax.Array
    cam_xpos: jax.Array
    cam_xmat: jax.Array
    subtree_com: jax.Array
    cvel: jax.Array
    cdof: jax.Array
    cdof_dot: jax.Array
    qfrc_bias: jax.Array
    qfrc_gravcomp: jax.Array
    qfrc_fluid: jax.Array
    qfrc_passive: jax.Array
    qfrc_actuator: jax.Array
    actuator_force: jax.Array
    actuator_length: jax.Array
    qfrc_smooth: jax.Array
    qacc_smooth: jax.Array
    qfrc_constraint: jax.Array
    qfrc_inverse: jax.Array
    _impl: Any = part()

    __getitem__ = data.Data.__getitem__
    __iter__ = None
    where = data.Data.where

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_impl":
            raise AttributeError(name)
        try:
            return getattr(self._impl, name)
        except AttributeError:
            raise AttributeError(f"a Data has no field '{name}'", name=name, obj=self) from None

    @property
    def impl(self) -> Impl:
        """The engine, in MJX's words."""
        return Impl.JAX

    @property
    def ncon(self) -> int:
        """Rows of `contact`, a static number."""
        return self._impl.contact.dist.shape[-1]

    def bind(self, m: Model, specs: Any) -> BoundData:
        """Return the entries that belong to elements of a mujoco.MjSpec: `d.bind(m, spec.joint("arm")).qpos`."""
        return BoundData(self, m, specs)


_PUBLIC = tuple(f.name for f in Data.fields() if f.name not in ("plugin_state", "_impl"))
_INNER = {f.name: jax.Array for f in data.Data.fields() if f.name not in (*_PUBLIC, "contact")}

DataJAX = type(
    "DataJAX",
    (PyTreeNode,),
    {
        "__annotations__": {"contact": Contact, **_INNER},
        "__module__": __name__,
        "__doc__": "What the top level's Data has and MJX's does not show; contacts, constraint rows, counters.",
    },
)


def native(record: Any) -> Any:
    """Return a Model or Data of `mjx_like.compat.mjx` as that of the top level; anything else as it is."""
    if isinstance(record, model.Model):
        return _as(model.Model, record)
    if not isinstance(record, Data):
        return record
    public, inner = vars(record), vars(record._impl)
    fields = {name: public[name] for name in _PUBLIC} | {name: inner[name] for name in _INNER}
    return data.Data(**fields, contact=_as(data.Contact, inner["contact"]))


def _as(kind: type, record: Any) -> Any:
    return record if type(record) is kind else kind(**{f.name: vars(record)[f.name] for f in kind.fields()})


def model_of(m: model.Model) -> Model:
    """Return a Model of the top level as MJX's clients have it."""
    return _as(Model, m)


def data_of(d: data.Data, like: Data | None = None) -> Data:
    """Return a Data of the top level as MJX's clients have it; like: of a subclass, with fields of its own."""
    fields = {name: vars(d)[name] for name in _PUBLIC}
    inner = DataJAX(**{name: vars(d)[name] for name in _INNER}, contact=_as(Contact, d.contact))
    if like is not None:
        return like.replace(**fields, _impl=inner)
    return Data(**fields, plugin_state=jnp.zeros(0, d.qpos.dtype), _impl=inner)


def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the top level for these records and subclasses of them; a Data comes back as it came."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*map(native, args), **{name: native(value) for name, value in kwargs.items()})
        given = next((x for x in (*args, *kwargs.values()) if isinstance(x, Data)), None)
        return data_of(result, given) if isinstance(result, data.Data) and given is not None else result

    return call
