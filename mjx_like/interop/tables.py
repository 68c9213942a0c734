"""Trajectories as tables: an xarray.Dataset, or a Parquet file for pandas, Polars, DuckDB and the like."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mjx_like.errors import InputError, UnsupportedError
from mjx_like.interop.labels import labels
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

if TYPE_CHECKING:
    import xarray

_AXES = {"qpos": "position", "qvel": "velocity", "act": "activation", "ctrl": "control", "sensordata": "sensor"}


def to_xarray(m: Model, trajectory: Any) -> "xarray.Dataset":
    """Return a trajectory as an xarray.Dataset with names: `ds.qpos.sel(position="root.z")`.

    Args:
      m: the model, without a batch axis.
      trajectory: what `rollout` returned, of one world or a batch; or a mapping with arrays of these names.

    Returns:
      Variables are its fields, of axes (world,) step and position, velocity, activation, control or sensor, labelled by
      joints, actuators and sensors; `time` is a coordinate [s]. Further fields have axes of their own.

    Raises:
      InputError: an array of another model, or no array at all.
      UnsupportedError: xarray is not installed.
    """
    try:
        import xarray
    except ImportError:
        raise UnsupportedError("to_xarray needs xarray: pip install xarray") from None
    fields, lead = _fields("to_xarray", m, trajectory)
    named = labels(m)
    variables, coordinates = {}, {}
    for name, value in fields.items():
        own = [_AXES[name]] if name in _AXES else [f"{name}_{i}" for i in range(value.ndim - len(lead))]
        variables[name] = (lead + own, value)
        if name in _AXES:
            coordinates[_AXES[name]] = np.array(named[name], str)
    if "time" in variables:
        coordinates["time"] = variables.pop("time")
    return xarray.Dataset(variables, coordinates)


def save_parquet(m: Model, trajectory: Any, path: str | Path) -> Path:
    """Write a trajectory as a Parquet file, one row for each world and step.

    Columns are `world`, `step`, then the fields: `time`, `qpos[root.z]`, `sensordata[gyro.x]`, named by joints,
    actuators and sensors, and `name[0]`, ... for further fields.

    Args:
      m: the model, without a batch axis.
      trajectory: what `rollout` returned, of one world or a batch; or a mapping with arrays of these names.
      path: of the file; it is replaced if it exists.

    Returns:
      The path.

    Raises:
      InputError: as `to_xarray`.
      UnsupportedError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError("save_parquet needs pyarrow: pip install pyarrow") from None
    fields, lead = _fields("save_parquet", m, trajectory)
    shape = next(iter(fields.values())).shape[: len(lead)]
    world, step = np.indices((*((1,) * (2 - len(shape))), *shape))
    columns = {"world": world.ravel(), "step": step.ravel()}
    named = labels(m)
    for name, value in fields.items():
        flat = value.reshape(world.size, -1)
        if value.ndim == len(lead):
            columns[name] = flat[:, 0]
            continue
        for i, label in enumerate(named.get(name, range(flat.shape[1]))):
            columns[f"{name}[{label}]"] = np.ascontiguousarray(flat[:, i])
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return Path(path)


def _fields(name: str, m: Model, trajectory: Any) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the arrays of a trajectory and the names of the axes that all of them begin with."""
    one_model(name, m)
    found = dict(trajectory) if isinstance(trajectory, Mapping) else getattr(trajectory, "__dict__", {})
    fields = {key: np.asarray(value) for key, value in found.items() if np.ndim(value)}
    widths = {key: len(entries) for key, entries in labels(m).items()}
    for key in fields.keys() & widths.keys():
        if fields[key].ndim not in (2, 3) or fields[key].shape[-1] != widths[key]:
            raise InputError(
                f"{name}: {key} has shape {fields[key].shape}; this model has (steps, {widths[key]}) or "
                f"(worlds, steps, {widths[key]})"
            )
    known = [fields[key].shape[:-1] for key in fields.keys() & widths.keys()]
    known += [fields["time"].shape] if "time" in fields else []
    if not known:
        raise InputError(f"{name}: the trajectory has none of time, {', '.join(widths)}; give what rollout returned")
    shape = known[0]
    if any(value.shape[: len(shape)] != shape for value in fields.values()):
        shapes = ", ".join(f"{key} {value.shape}" for key, value in fields.items())
        raise InputError(f"{name}: arrays that do not begin with the same axes: {shapes}")
    return fields, ["world", "step"][-len(shape) :]
