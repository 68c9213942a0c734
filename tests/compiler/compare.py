"""Comparison of compiled arrays with mjModel, field by field."""

import mujoco
import numpy as np

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.finalize import Arrays
from mjx_like.interop.convert import arrays_from_mjmodel
from mjx_like.mjcf.reader import parse_file, parse_string
from tests.support.tolerances import COMPILED

# Hull vertices stand in the order of their ids, where MuJoCo has Qhull's; normals are summed in double precision.
OURS = ("mesh_graph", "mesh_normal")
SINGLE = {"cam_fovy": 2.0**-22}  # of an arctangent in single precision, which libraries of C round differently
_NOT_ARRAYS = ("names", "stat", "nconmax", "njmax")  # members of mjModel with a name that Topology uses otherwise


Assets = dict[str, bytes] | None


def compile_source(source: str, assets: Assets = None) -> Arrays:
    """Return the arrays of an XML string or a path."""
    parse = parse_string if source.lstrip().startswith("<") else parse_file
    return compile_spec(parse(source, assets=assets))


def oracle(source: str, assets: Assets = None) -> Arrays:
    """Return MuJoCo's arrays of an XML string or a path."""
    load = mujoco.MjModel.from_xml_string if source.lstrip().startswith("<") else mujoco.MjModel.from_xml_path
    return arrays_from_mjmodel(load(source, assets))


def differences(source: str, assets: Assets = None, skip: tuple[str, ...] = ()) -> dict[str, float | str]:
    """Return the fields, options, statistics and names that differ from MuJoCo's, with by how much.

    Args:
      source: XML string or path.
      assets: contents of the files that it names, by name.
      skip: beginnings of names of fields that are not compared.
    """
    given = (source,) if assets is None else (source, assets)
    return array_differences(compile_source(*given), oracle(*given), skip)


def array_differences(ours: Arrays, theirs: Arrays, skip: tuple[str, ...] = ()) -> dict[str, float | str]:
    """Return the same of two sets of arrays."""
    found: dict[str, float | str] = {}
    for part, prefix in (("fields", ""), ("options", "opt."), ("statistics", "stat.")):
        mine, reference = getattr(ours, part), getattr(theirs, part)
        for name, value in reference.items():
            if name in ("body_iquat", "body_inertia", *_NOT_ARRAYS) or name.startswith(skip):
                continue
            error = _error(mine.get(name), value, name.endswith("quat"))
            if isinstance(error, str) or error > SINGLE.get(name, COMPILED):
                found[prefix + name] = error
    error = _error(_tensors(ours.fields), _tensors(theirs.fields), False)
    if isinstance(error, str) or error > COMPILED:
        found["inertia tensor"] = error
    moments = _error(ours.fields["body_inertia"], theirs.fields["body_inertia"], False)
    if isinstance(moments, str) or moments > COMPILED:
        found["body_inertia"] = moments
    found |= {f"names.{kind.name}": "differ" for kind, n in theirs.names.items() if tuple(n) != ours.names.get(kind)}
    if ours.visual != theirs.visual:
        found["vis"] = "differs"
    return found


def _error(mine, reference, quaternion: bool) -> float | str:
    if mine is None:
        return "missing"
    mine, reference = np.asarray(mine, float), np.asarray(reference, float)
    if mine.size != reference.size:
        return f"shape {mine.shape} against {reference.shape}"
    if not reference.size:
        return 0.0
    mine = mine.reshape(reference.shape)
    if not np.isfinite(mine).all():
        return "not finite"
    if quaternion:
        mine, reference = mine.reshape(-1, 4), reference.reshape(-1, 4)
        mine = mine * np.where(np.sum(mine * reference, axis=-1, keepdims=True) < 0, -1, 1)
    scale = np.abs(reference) + 1e-3 * np.abs(reference).max() + 1e-300
    return float((np.abs(mine - reference) / scale).max())


def _tensors(fields) -> np.ndarray:
    w, x, y, z = np.moveaxis(np.asarray(fields["body_iquat"], float), -1, 0)
    axes = np.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        ],
        axis=-1,
    ).reshape(-1, 3, 3)  # fmt: skip
    return np.einsum("bij,bj,bkj->bik", axes, fields["body_inertia"], axes)
