"""MuJoCo's options and statistics: float leaves, integer flags, and the view that shows both."""

import dataclasses
from typing import Any

import jax

from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array


@record
class OptionFloats(Record):
    """The float options, each a leaf.  Source: mjOption."""

    timestep: Array = leaf(unit="s")
    impratio: Array = leaf()
    tolerance: Array = leaf()
    ls_tolerance: Array = leaf()
    noslip_tolerance: Array = leaf()
    ccd_tolerance: Array = leaf()
    sleep_tolerance: Array = leaf()
    gravity: Array = leaf(3, unit="m/s^2")
    wind: Array = leaf(3, unit="m/s")
    magnetic: Array = leaf(3)
    density: Array = leaf(unit="kg/m^3")
    viscosity: Array = leaf(unit="Pa s")
    o_margin: Array = leaf()
    o_solref: Array = leaf(2)
    o_solimp: Array = leaf(5)
    o_friction: Array = leaf(5)


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


class Option:
    """A view of all options of a Model; change it with `replace` and put it back with `m.replace(opt=...)`."""

    def __init__(self, **values: Any):
        self.__dict__.update(values)

    def replace(self, **changes: Any) -> "Option":
        """Return a copy with the named options changed; an unknown name raises TypeError."""
        unknown = changes.keys() - self.__dict__.keys()
        if unknown:
            raise TypeError(f"unknown option {sorted(unknown)[0]!r}; known: {', '.join(self.__dict__)}")
        return Option(**{**self.__dict__, **changes})

    def floats(self) -> OptionFloats:
        """The float options as leaves, in the dtype that they had or that JAX gives them."""
        dtype = jax.numpy.result_type(self.gravity)
        return OptionFloats(
            **{n: jax.numpy.asarray(getattr(self, n), dtype) for n in OptionFloats.__dataclass_fields__}
        )

    def flags(self) -> OptionFlags:
        """The integer options."""
        return OptionFlags(**{n: int(getattr(self, n)) for n in OPTION_FLAGS})


@record
class Statistic(Record):
    """Statistics of the model at qpos0.  Source: mjStatistic."""

    meaninertia: Array = leaf()
    meanmass: Array = leaf(unit="kg")
    meansize: Array = leaf(unit="m")
    extent: Array = leaf(unit="m")
    center: Array = leaf(3, unit="m")
