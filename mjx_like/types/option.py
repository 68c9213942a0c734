"""MuJoCo's options and statistics: float leaves, integer flags, and the view that shows both."""

import dataclasses
from enum import IntEnum
from typing import Any

import jax
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, closest, shown
from mjx_like.types.enums import ConeType, IntegratorType, JacobianType, SolverType
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
_KNOWN = "; its fields are " + ", ".join((*OptionFloats.__dataclass_fields__, *OPTION_FLAGS))


def _flag(name: str, value: Any) -> int:
    """Return an integer option; raise for what is none."""
    kind = _KINDS.get(name)
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
    rank = len(OptionFloats.__dataclass_fields__[name].metadata["shape"]) if name not in OPTION_FLAGS else 0
    gone = isinstance(value, jax.core.Tracer) or (isinstance(value, jax.Array) and value.is_deleted())
    if gone or np.ndim(value) != rank:
        return f"{value.dtype} {value.shape}"
    return np.array2string(np.asarray(value), formatter={"float_kind": "{:g}".format})


class Option:
    """A view of all options of a Model; change it with `replace` and put it back with `m.replace(opt=...)`."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        """Raise for what is no option; those that are stand in the instance."""
        raise AttributeError(f"an Option has no field '{name}'", name=name, obj=self)

    def replace(self, **changes: Any) -> "Option":
        """Return a copy with the named options changed.

        Raises:
          InputError: a name that is no option, the message has the nearest one; a value that the option cannot have.
        """
        for name in (n for n in changes if n not in self.__dict__):
            raise InputError(f"an Option has no field '{name}'{closest(name, self.__dict__) or _KNOWN}")
        checked = {n: (_flag if n in OPTION_FLAGS else _numbers)(n, value) for n, value in changes.items()}
        return Option(**{**self.__dict__, **checked})

    def __repr__(self) -> str:
        return "Option\n  " + wrapped("", [f"{name} {_printed(name, value)}" for name, value in self.__dict__.items()])

    def floats(self) -> OptionFloats:
        """The float options as leaves, in the dtype that they had or that JAX gives them."""
        values = {n: getattr(self, n) for n in OptionFloats.__dataclass_fields__}
        if any(x is None for x in values.values()):  # a tree of axes, for `vmap`
            return OptionFloats(**values)
        dtype = jax.numpy.result_type(self.gravity)
        return OptionFloats(**{n: jax.numpy.asarray(x, dtype) for n, x in values.items()})

    def flags(self) -> OptionFlags:
        """The integer options."""
        return OptionFlags(**{n: int(getattr(self, n)) for n in OPTION_FLAGS})


@record
class Statistic(Record):
    """Statistics of the model at qpos0.  Source: mjStatistic."""

    meaninertia: Array = leaf(unit="kg m^2", role=Role.DERIVED)
    meanmass: Array = leaf(unit="kg", role=Role.DERIVED)
    meansize: Array = leaf(unit="m", role=Role.DERIVED)
    extent: Array = leaf(unit="m", role=Role.DERIVED)
    center: Array = leaf(3, unit="m, world", role=Role.DERIVED)
