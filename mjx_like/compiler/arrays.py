"""From rows, one dict a compiled object, to the arrays of mjModel."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

# What a field without any row is filled with, where that is not zero.
_FILL = {
    "jnt_actuatorid": -1, "jnt_plasticadr": -1, "tendon_actuatorid": -1, "tendon_plasticadr": -1, "geom_dataid": -1,
    "site_dataid": -1, "body_mocapid": -1, "tendon_treeid": -1,
}  # fmt: skip
# Fields that mjModel keeps in single precision.
_SINGLE = (
    "geom_rgba", "site_rgba", "tendon_rgba", "cam_sensorsize", "cam_intrinsic", "light_bulbradius",
    "light_intensity", "light_range", "light_attenuation", "light_cutoff", "light_softness", "light_exponent",
    "light_ambient", "light_diffuse", "light_specular", "mat_texrepeat", "mat_emission", "mat_specular",
    "mat_shininess", "mat_reflectance", "mat_metallic", "mat_roughness", "mat_rgba", "hfield_data", "skin_rgba",
    "flex_rgba", "flex_texcoord",
    "skin_inflate", "skin_vert", "skin_texcoord", "skin_bonebindpos", "skin_bonebindquat", "skin_bonevertweight",
    "mesh_vert", "mesh_normal", "mesh_texcoord",
)  # fmt: skip

Row = dict[str, Any]


def stack(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return the rows of one kind of object as columns, by field name."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def assemble(sizes: dict[str, int], columns: dict[str, Any]) -> dict[str, Any]:
    """Return every size and array of mjModel that Topology and Model have, zero where `columns` has none.

    Args:
      sizes: mjModel's sizes by name.
      columns: values by field name, of the number of entries that the field's shape has.
    """
    fields: dict[str, Any] = dict(sizes)
    for owner in (Topology, Model):
        for field in dataclasses.fields(owner):
            if not field.metadata or "shape" not in field.metadata or field.name in ("opt_floats", "stat", "topology"):
                continue
            shape = tuple(_dimension(sizes, dim) for dim in field.metadata["shape"])
            kind = field.metadata.get("dtype", np.float64)
            fields[field.name] = _array(field.name, columns.get(field.name), shape, kind)
    return fields


def _array(name: str, column: Any, shape: tuple[int, ...], kind: type) -> np.ndarray:
    if column is None:
        return np.full(shape, _FILL.get(name, 0), kind)
    if name in _SINGLE:
        column = np.asarray(column, np.float32)
    return np.ascontiguousarray(np.asarray(column), kind).reshape(shape)


def _dimension(sizes: dict[str, int], dim: int | str) -> int:
    if isinstance(dim, int):
        return dim
    factor, _, name = dim.rpartition("*")
    return (int(factor) if factor else 1) * sizes[name]
