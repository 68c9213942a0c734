"""How many worlds a Model and a Data hold, and whether they fit each other: what entry points ask of their arguments.

Shapes alone decide, so nothing of it is in a traced program. Inside `jax.vmap` the mapped axis is hidden: what is seen
there is one world.
"""

import dataclasses
import functools
import os
from typing import Any, NamedTuple

import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, shape_in
from mjx_like.types.topology import Topology

Shape = tuple[int, ...]

_ROWS = ("nconmax", "njmax")
_FEW = 5  # more fields of another shape are those of another model
_MANY = "or step many worlds with rollout"
_ANEW = "make one with make_data(m)"


def a_model(caller: str, m: Model) -> None:
    """Raise InputError unless `m` is a Model.  caller: name of the function, for the message."""
    if not isinstance(m, Model):
        named = {"MjModel": "put_model(m)", "Spec": "m.compile()"}
        source = named.get(type(m).__name__, "from Model.from_xml_path or put_model")
        source = "Model.from_xml_path(m)" if isinstance(m, str | os.PathLike) else source
        raise InputError(f"{caller}: m is {kind_of(m)}: give a Model, {source}")


def one_model(caller: str, m: Model) -> None:
    """Raise InputError unless `m` is a Model whose leaves have the shapes that they are declared with."""
    a_model(caller, m)
    _check_model(caller, m)


def one_world(caller: str, m: Model, d: Data, *, rows: bool = False) -> None:
    """Raise InputError unless `d` is one world of the Model `m`.

    rows: whether contacts and constraint rows are read; else they are made anew, and their number may be another.
    """
    _model_and_data(caller, m, d)
    _check_model(caller, m, f", {_MANY}")
    found = _misfits(d, m.topology, rows=rows)
    if found:
        raise InputError(_about_data(caller, found, m, d, rows=rows))


def seems_one_world(caller: str, m: Model, d: Data) -> None:
    """Raise InputError where `qpos` is not that of one world: for stages, which a trace calls many times."""
    if not (type(m) is Model and type(d) is Data and getattr(d.qpos, "shape", None) == (m.topology.nq,)):
        one_world(caller, m, d)


def number_of_worlds(caller: str, m: Model, d: Data) -> int | None:
    """Return how many worlds `d` holds, None for one without a world axis; leaves of `m` may have that axis too.

    Raises:
      InputError: arrays of `d` that do not agree in it, or that do not fit `m`; a leaf of `m` that fits neither.
    """
    _model_and_data(caller, m, d)
    worlds = worlds_of_sizes(caller, m.topology, d)
    lead = () if worlds is None else (worlds,)
    for misfit in _misfits(m, m.topology):
        own = misfit.lead()
        if own is None:
            raise InputError(_about_shape(caller, misfit))
        if own != lead:
            worlds = f"the {lead[0]} worlds of d" if lead else "d, which has none: give its arrays one too"
            raise InputError(f"{caller}: {misfit.came()}: its world axis must be that of {worlds}")
    return worlds


def worlds_of_sizes(caller: str, sizes: Any, d: Data, remedy: str = _ANEW) -> int | None:
    """Return how many worlds `d` holds, None for one without a world axis.

    sizes: has nq and the like as attributes; remedy: what to do about the Data of another model, for the message.

    Raises:
      InputError: arrays of `d` that do not agree in their world axis, or have other sizes.
    """
    lead = np.shape(d.qpos)[:-1]
    found = _misfits(d, sizes, lead)
    if found or len(lead) > 1:
        raise InputError(_about_worlds(caller, d, found, lead, remedy))
    return lead[0] if lead else None


def lead_of_worlds(caller: str, m: Model, d: Data) -> Shape:
    """Return the world axes of `d`, any number of them, which all its arrays have; leaves of `m` are not looked at.

    Raises:
      InputError: arrays of `d` that do not agree in these axes, or that do not fit `m`.
    """
    _model_and_data(caller, m, d)
    lead = np.shape(d.qpos)[:-1]
    found = _misfits(d, m.topology, lead)
    if found:
        raise InputError(_about_worlds(caller, d, found, lead[:1], _ANEW))
    return lead


def ranks(r: Record) -> list[int]:
    """Return the number of axes that each leaf of a record has in one world, in the order of `jax.tree.leaves`."""
    found = []
    for field in dataclasses.fields(r):
        value = getattr(r, field.name)
        if isinstance(value, Record):
            found += ranks(value)
        elif value is not None and not field.metadata.get("static"):
            found.append(len(field.metadata["shape"]))
    return found


def kind_of(value: Any) -> str:
    """Return what a message calls a value of the wrong type: "a mujoco.MjData"."""
    if value is None:
        return "None"
    module, name = type(value).__module__, type(value).__qualname__
    package = "mujoco.mjx" if module.startswith("mujoco.mjx") else module.partition(".")[0]
    name = name if package in ("builtins", "mjx_like", "pathlib") else f"{package}.{name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _model_and_data(caller: str, m: Any, d: Any) -> None:
    if isinstance(m, Data) and isinstance(d, Model):
        raise InputError(f"{caller}: m is a Data and d is a Model: the order is (m, d)")
    a_model(caller, m)
    if not isinstance(d, Data):
        source = "put_data(mj_model, d)" if type(d).__name__ == "MjData" else "make_data(m)"
        raise InputError(f"{caller}: d is {kind_of(d)}: give a Data, {source}")


class _Misfit(NamedTuple):
    """An array of another shape than that of one world."""

    name: str
    value: Any
    dims: tuple[int | str, ...]
    shape: Shape  # that `dims` names

    def came(self) -> str:
        return f"{self.name} has shape {np.shape(self.value)}"

    def needed(self) -> str:
        names = "(" + ", ".join(map(str, self.dims)) + ("," if len(self.dims) == 1 else "") + ")"
        return f"{names} = {self.shape}" if any(isinstance(dim, str) for dim in self.dims) else f"{self.shape}"

    def lead(self) -> Shape | None:
        """Axes before those of one world; None where there are none, or where these differ too."""
        came = getattr(self.value, "shape", ())
        extra = len(came) - len(self.shape)
        lead = tuple(came[: max(extra, 0)])
        return lead if lead and _but_rows(came, lead, self.shape, self.dims) else None

    def is_one_world(self) -> bool:
        came = getattr(self.value, "shape", None)
        return came is not None and _but_rows(came, (), self.shape, self.dims)


@functools.lru_cache(maxsize=64)
def _of_topology(kind: type, t: Topology) -> tuple[tuple[str, tuple[int | str, ...] | None, Shape], ...]:
    return _declared(kind, t)


def _declared(kind: type, sizes: Any) -> tuple[tuple[str, tuple[int | str, ...] | None, Shape], ...]:
    """Return name, dimensions and shape of the fields of a record; no dimensions for one that may be missing."""
    fields = [(f.name, f.metadata.get("shape")) for f in dataclasses.fields(kind) if not f.metadata.get("static")]
    return tuple((name, dims, shape_in(sizes, dims or ())) for name, dims in fields)


def _misfits(r: Record, sizes: Any, lead: Shape = (), prefix: str = "", *, rows: bool = False) -> list[_Misfit]:
    """Return the arrays of a record whose shape is not `lead` and that of one world."""
    prefix, found = prefix or ("m." if isinstance(r, Model) else "d."), []
    declared = _of_topology if isinstance(sizes, Topology) else _declared
    for name, dims, shape in declared(type(r), sizes):
        value = getattr(r, name)
        came = getattr(value, "shape", None)
        if came == lead + shape:
            continue
        if isinstance(value, Record):
            found += _misfits(value, sizes, lead, prefix + name.removesuffix("_floats") + ".", rows=rows)
        elif dims is None or (isinstance(value, bool | int | float) and lead + shape == ()):
            continue  # a part that the model does not have; a number where one is declared
        elif rows or not came or not _but_rows(came, lead, shape, dims):
            found.append(_Misfit(prefix + name, value, dims, shape))
    return found


def _but_rows(came: Shape, lead: Shape, shape: Shape, dims: tuple[int | str, ...]) -> bool:
    """Whether a shape is the one declared, or is so up to the number of its rows of contacts or constraints."""
    at, own = len(lead), came[len(lead) :]
    if came[:at] != lead or len(own) != len(shape):
        return False
    return own == shape or (bool(dims) and dims[0] in _ROWS and own[1:] == shape[1:])


def _check_model(caller: str, m: Model, more: str = "") -> None:
    """Raise for leaves of another shape than those of one model; more: what else to do with many models."""
    for misfit in _misfits(m, m.topology):
        if misfit.lead() is None:
            raise InputError(_about_shape(caller, misfit))
        came = f"{misfit.came()}, one has {misfit.needed()}"
        raise InputError(f"{caller} takes one model, but {came}; map over models with jax.vmap{more}")


def _about_shape(caller: str, misfit: _Misfit) -> str:
    if hasattr(misfit.value, "shape"):
        return f"{caller}: {misfit.came()}, the model needs {misfit.needed()}"
    kind = "a Contact" if misfit.name == "d.contact" else f"an array of shape {misfit.needed()}"
    return f"{caller}: {misfit.name}={shown(misfit.value)}: must be {kind}"


def _about_data(caller: str, found: list[_Misfit], m: Model, d: Data, *, rows: bool) -> str:
    wrong = [x for x in found if x.lead() is None]
    if wrong:
        return _about_wrong(caller, wrong, _ANEW)
    named = _first(found)
    lead, came = named.lead(), f"{named.came()}, one world has {named.needed()}"
    if _misfits(d, m.topology, lead, rows=rows):
        return f"{caller} takes one world, but {came}; other arrays of d have no such axis"
    count = " x ".join(map(str, lead))
    return (
        f"{caller} takes one world, but d holds {count}: {came}; "
        f"map it with jax.vmap(mjx.{caller}, in_axes=(None, 0)), {_MANY}"
    )


def _about_wrong(caller: str, wrong: list[_Misfit], remedy: str) -> str:
    named = _first(wrong)
    if len(wrong) <= _FEW:
        return _about_shape(caller, named)
    return f"{caller}: d is the Data of another model: {named.came()}, this one needs {named.needed()}; {remedy}"


def _about_worlds(caller: str, d: Data, found: list[_Misfit], lead: Shape, remedy: str) -> str:
    wrong = [x for x in found if x.lead() is None and not x.is_one_world()]
    if wrong:
        return _about_wrong(caller, wrong, remedy)
    came = f"d.qpos has shape {np.shape(d.qpos)}"
    if len(lead) > 1:
        return f"{caller}: {came}, two world axes or more: give it one, or none"
    return f"{caller}: {came}, but {found[0].came()}: all arrays of d need the same leading world axis, or none"


def _first(found: list[_Misfit]) -> _Misfit:
    return next((x for x in found if x.name == "d.qpos"), found[0])
