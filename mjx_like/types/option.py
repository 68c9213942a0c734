"""MuJoCo's options and statistics, and the choice of contact: float leaves, integer flags, and the view of all."""

import dataclasses
from enum import IntEnum
from typing import Any

import jax
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, closest, shown
from mjx_like.types.enums import ConeType, IntegratorType, JacobianType, SolverType
from mjx_like.types.hard import CONTACT_OPTIONS, HardContact, changed_contact, contact_options
from mjx_like.types.pytree import Record, Role, leaf, leaves, record, wrapped

Array = jax.Array


@record
class OptionFloats(Record):
    """The float options, each a leaf.  Source: mjOption."""

    timestep: Array = leaf(unit="s", role=Role.PARAMETER)
    impratio: Array = leaf(unit="1", role=Role.PARAMETER)
    tolerance: Array = leaf(unit="1", role=Role.PARAMETER)
    ls_tolerance: Array = leaf(unit="1", role=Role.PARAMETER)
    noslip_tolerance: Array = leaf(unit="1", role=Role.PARAMETER)
    ccd_tolerance: Array = leaf(unit="m", role=Role.PARAMETER)
    sleep_tolerance: Array = leaf(unit="m/s", role=Role.PARAMETER)
    gravity: Array = leaf(3, unit="m/s^2, world", role=Role.PARAMETER)
    wind: Array = leaf(3, unit="m/s, world", role=Role.PARAMETER, term=0)
    magnetic: Array = leaf(3, unit="T, world", role=Role.PARAMETER)
    density: Array = leaf(unit="kg/m^3", role=Role.PARAMETER, term=0)
    viscosity: Array = leaf(unit="Pa s", role=Role.PARAMETER, term=0)
    o_margin: Array = leaf(unit="m", role=Role.PARAMETER)
    o_solref: Array = leaf(2, unit="s, 1 or 1/s^2, 1/s", role=Role.PARAMETER)
    o_solimp: Array = leaf(5, unit="1, 1, m, 1, 1", role=Role.PARAMETER)
    o_friction: Array = leaf(5, unit="1, 1, m, m, m: tangents, spin, rolls", role=Role.PARAMETER)


@dataclasses.dataclass(frozen=True)
class OptionFlags:
    """The integer options, static.  Source: mjOption."""

    integrator: int
    cone: int
    jacobian: int
    solver: int
    iterations: int
    ls_iterations: int
    noslip_iterations: int
    ccd_iterations: int
    disableflags: int
    enableflags: int
    disableactuator: int
    sdf_initpoints: int
    sdf_iterations: int


OPTION_FLAGS = tuple(OptionFlags.__dataclass_fields__)

# Options whose zero decides whether a term exists.
OPTION_TERMS = tuple(f.name for f in leaves(OptionFloats) if f.metadata["term"] is not None)


_KINDS: dict[str, type[IntEnum]] = {
    "integrator": IntegratorType,
    "cone": ConeType,
    "jacobian": JacobianType,
    "solver": SolverType,
}
_INTEGRATORS = {kind.keyword: kind for kind in IntegratorType}
_KNOWN = "; its fields are " + ", ".join((*OptionFloats.__dataclass_fields__, *OPTION_FLAGS, *CONTACT_OPTIONS))


def integer_option(name: str, value: Any) -> int:
    """Return an integer option; raise InputError for what is none."""
    kind = _KINDS.get(name)
    value = _INTEGRATORS.get(value, value) if name == "integrator" and isinstance(value, str) else value
    if kind is None or isinstance(value, jax.core.Tracer):
        return whole_number(name, value)
    try:
        return int(kind(whole_number(name, value)))
    except ValueError:  # an InputError is one too
        members = ", ".join(f"{member.name}={member.value}" for member in kind)
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InputError(f"{name}={shown(value)}: must be {article} {kind.__name__}: {members}") from None


def _numbers(name: str, value: Any) -> Any:
    """Return a float option as it is, lists as an array; raise for what is no number."""
    try:
        given = jax.numpy.asarray(None if isinstance(value, str) else value)
    except (TypeError, ValueError):
        raise InputError(f"{name}={shown(value)}: must be a number or an array of numbers") from None
    return given if isinstance(value, list | tuple) else value


def _printed(name: str, value: Any) -> str:
    """Return the value of an option; its type and shape where it is traced, batched or gone."""
    if name in _KINDS:
        return _KINDS[name](value).name
    if not hasattr(value, "dtype") and name in CONTACT_OPTIONS:
        return str(value)
    declared = OptionFloats.__dataclass_fields__.get(name)
    rank = 0 if declared is None else len(declared.metadata["shape"])
    gone = isinstance(value, jax.core.Tracer) or (isinstance(value, jax.Array) and value.is_deleted())
    if gone or np.ndim(value) != rank:
        return f"{value.dtype} {value.shape}"
    return np.array2string(np.asarray(value), formatter={"float_kind": "{:g}".format})


class Option:
    """A view of all options of a Model; change it with `replace` and put it back with `m.replace(opt=...)`.

    MuJoCo's options, and those of contact:
      integrator: an IntegratorType or its word, such as "implicitfast" or "variational".
      contact: "soft", MuJoCo's, or "hard", see `with_hard_contact`. `cone` is the choice for soft contact.
      gap, slip, grad_gap, recovery, contact_iterations, refresh, restitution, rebound_speed: of hard contact, its
        arguments there; None with soft contact. `slip` is ten times the gap until it is given, and again when None is
        given.
    """

    __slots__ = ("__dict__", "hard")

    def __init__(self, hard: HardContact | None = None, **values: Any) -> None:
        self.hard = hard
        self.__dict__.update(values, **contact_options(hard))

    def __getattr__(self, name: str) -> Any:
        """Raise for what is no option; those that are stand in the instance."""
        raise AttributeError(f"an Option has no field '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Raise, for a view that is changed would change no Model."""
        if name != "hard":
            raise AttributeError(f"options are not set in place: m = m.replace(opt=m.opt.replace({name}=...))")
        object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> "Option":
        """Return a copy with the named options changed.

        Raises:
          InputError: a name that is no option, the message has the nearest one; a value that the option cannot have.
        """
        for name in (n for n in changes if n not in self.__dict__):
            raise InputError(f"an Option has no field '{name}'{closest(name, self.__dict__) or _KNOWN}")
        contact = {n: changes[n] for n in CONTACT_OPTIONS if n in changes}
        mujoco = {n: value for n, value in changes.items() if n not in contact}
        checked = {n: (integer_option if n in OPTION_FLAGS else _numbers)(n, value) for n, value in mujoco.items()}
        values = {**self._mujoco(), **checked}
        hard = changed_contact(self.hard, contact, int(values["cone"]), self._dtype()) if contact else self.hard
        return Option(hard, **values)

    def __repr__(self) -> str:
        said = {name: value for name, value in self.__dict__.items() if value is not None}
        return "Option\n  " + wrapped("", [f"{name} {_printed(name, value)}" for name, value in said.items()])

    def _mujoco(self) -> dict[str, Any]:
        """The options that MuJoCo has too."""
        return {n: value for n, value in self.__dict__.items() if n not in CONTACT_OPTIONS}

    def _dtype(self) -> Any:
        """The type of floats."""
        return jax.numpy.result_type(float, self.gravity)

    def floats(self) -> OptionFloats:
        """The float options as leaves, in the dtype that they had or that JAX gives them."""
        values = {n: getattr(self, n) for n in OptionFloats.__dataclass_fields__}
        if any(x is None for x in values.values()):  # a tree of axes, for `vmap`
            return OptionFloats(**values)
        dtype = self._dtype()
        return OptionFloats(**{n: jax.numpy.asarray(x, dtype) for n, x in values.items()})

    def flags(self) -> OptionFlags:
        """The integer options, as the engine takes them: hard contact has the elliptic cone."""
        flags = {n: int(getattr(self, n)) for n in OPTION_FLAGS}
        return OptionFlags(**flags | ({} if self.hard is None else {"cone": int(ConeType.ELLIPTIC)}))

    def hard_contact(self) -> HardContact | None:
        """The record of hard contact, with the cone that soft contact would have; None for soft contact."""
        return None if self.hard is None else self.hard.replace(soft_cone=int(self.cone))


@record
class Statistic(Record):
    """Statistics of the model at qpos0.  Source: mjStatistic."""

    meaninertia: Array = leaf(unit="kg m^2", role=Role.DERIVED)
    meanmass: Array = leaf(unit="kg", role=Role.DERIVED)
    meansize: Array = leaf(unit="m", role=Role.DERIVED)
    extent: Array = leaf(unit="m", role=Role.DERIVED)
    center: Array = leaf(3, unit="m, world", role=Role.DERIVED)
