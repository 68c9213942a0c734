"""Checks of what `interop` takes: types of `mujoco`, handed in by the one module that imports it, and their sizes."""

import math
import os
import types
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError
from mjx_like.tree.many import make_trees
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves, shape_in
from mjx_like.worlds import kind_of, worlds_of_sizes

_ITS_MODEL = "give the mujoco.MjModel that the Model was put from"


def model_to_put(m: Any, mj_model: type) -> None:
    """Raise InputError unless `m` is a MjModel."""
    if isinstance(m, Model):
        raise InputError("put_model: m is a Model already")
    more = "; Model.from_xml_path loads a file" if isinstance(m, str | os.PathLike) else ""
    _require("put_model: m", m, mj_model, f"give a mujoco.MjModel{more}")


def data_to_put(m: Any, d: Any, mj_model: type, mj_data: type, apart: tuple[str, ...]) -> None:
    """Raise InputError unless `m` is a MjModel and `d` a MjData of it.

    apart: fields that MjData stores in other shapes.
    """
    _require("put_data: m", m, mj_model, _ITS_MODEL)
    if isinstance(d, Data):
        raise InputError("put_data: d is a Data already")
    _require("put_data: d", d, mj_data, "give a mujoco.MjData")
    _of_model("put_data", "d", m, d, apart)


class _Sizes:
    """The sizes of a MjModel, with those that Data has besides."""

    def __init__(self, m: Any):
        self._m = m
        self.flags = types.SimpleNamespace(jacobian=m.opt.jacobian)
        trees = make_trees(self)
        self.ncolM = m.nv if trees is None else trees.dof.shape[1]
        self.ncolJ = m.nv if trees is None else 2 * self.ncolM

    def __getattr__(self, name: str) -> Any:
        return getattr(self._m, name)


def data_to_get(caller: str, m: Any, d: Any, mj_model: type) -> int | None:
    """Return how many worlds `d` holds, None for one without a world axis.

    Raises:
      InputError: `m` is no MjModel; `d` is no Data of it, is traced, or has the axis in part.
    """
    _require(f"{caller}: m", m, mj_model, _ITS_MODEL)
    _require(f"{caller}: d", d, Data, "give a Data")
    if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(d)):
        raise InputError(f"{caller}: d is traced: call it outside jit, vmap and grad")
    return worlds_of_sizes(caller, _Sizes(m), d, _ITS_MODEL)


def results_to_fill(result: Any, m: Any, worlds: int | None, mj_data: type, apart: tuple[str, ...]) -> None:
    """Raise InputError unless `result` is a MjData of `m`, or for a number of worlds a list of as many."""
    many, caller = isinstance(result, list), "get_data_into"
    if not many:
        _require(f"{caller}: result", result, mj_data, "give a mujoco.MjData, or a list of them for a batch")
    if (len(result) if many else None) != worlds:
        given = f"a list of {len(result)}" if many else "one MjData"
        held = "one world" if worlds is None else f"{worlds} worlds"
        raise InputError(f"{caller}: result is {given}, but d holds {held}")
    for name, one in [(f"result[{i}]", x) for i, x in enumerate(result)] if many else [("result", result)]:
        _require(f"{caller}: {name}", one, mj_data, "give a mujoco.MjData")
        _of_model(caller, name, m, one, apart)


def _require(what: str, value: Any, kind: type, remedy: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{what} is {kind_of(value)}: {remedy}")


def _of_model(caller: str, name: str, m: Any, d: Any, apart: tuple[str, ...]) -> None:
    """Raise unless a MjData has the sizes of a MjModel."""
    for field in leaves(Data):
        dims = field.metadata["shape"]
        if field.name in apart or "njmax" in dims:
            continue
        came, needed = np.shape(getattr(d, field.name)), shape_in(m, dims)
        if math.prod(came) != math.prod(needed):
            raise InputError(
                f"{caller}: {name} is the MjData of another MjModel: {name}.{field.name} has shape {came}, "
                f"m needs ({', '.join(map(str, dims))},) = {needed}"
            )
