"""A compiled Model in one file, `save` and `load`; a Model or a Spec as MJCF, `save_xml`."""

import dataclasses
import hashlib
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from mjx_like.compiler.finalize import Arrays, finalize
from mjx_like.compiler.load import spec_of_model, spec_to_file
from mjx_like.compiler.unfinalize import unfinalize
from mjx_like.errors import InputError, ModelError
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.mjcf.reading.file import path_of
from mjx_like.types.enums import ObjType
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.model import TERMS, Model
from mjx_like.types.option import OPTION_FLAGS, OPTION_TERMS, OptionFloats, Statistic
from mjx_like.types.topology import Topology
from mjx_like.types.visual import SECTIONS, visual_from, visual_values
from mjx_like.worlds import a_model

FORMAT = "mjx_like model"
VERSION = 1
_PARTS = ("fields", "options", "statistics", "has")
_DAMAGE = (
    ValueError, KeyError, EOFError, AttributeError, NotImplementedError, MemoryError, struct.error, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


def save(path: str | Path, m: Model) -> None:
    """Write a Model to a file in NumPy's .npz format; `load` gives it back, leaf for leaf.

    Args:
      path: of the file; it is replaced if it exists.
      m: one model, without a batch axis. Hooks are functions and are not written: give them to `load` again.

    Raises:
      InputError: leaves that are traced or carry a batch axis, or a path that does not end in .npz.
    """
    path = path_of(path)
    if path.suffix != ".npz":
        raise InputError(f"{path}: the name of a compiled model ends in .npz")
    a_model("save", m)
    arrays = unfinalize(m)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout(),
        "dtype": np.dtype(m.qpos0.dtype).name,
        "capacity": m.topology.capacity_args,
        "visual": visual_values(arrays.visual),
        "names": {kind.name: names for kind, names in arrays.names.items()},
        "unsupported": arrays.unsupported,
        "contact": arrays.contact,
    }
    parts = {
        f"{part}.{name}": np.asarray(value) for part in _PARTS for name, value in (getattr(arrays, part) or {}).items()
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **parts)
    path.write_bytes(buffer.getvalue())


def load(
    path: str | Path,
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
    """Return the Model that `save` wrote.

    Args:
      path: of the file.
      nconmax: capacity of the contact buffer; None for what the saved Model was loaded with. Likewise njmax.
      dtype: of the leaves; None for that of the saved Model.
      hooks: user functions.
      active: float fields whose terms exist also where they are zero, besides those that existed.
      contact: "soft" or "hard"; None for that of the saved Model. Likewise gap and slip, of hard contact.
      integrator: its word or number; None for that of the saved Model.

    Raises:
      InputError: a path that is none; options as `Model.from_xml_path`.
      ModelError: the file cannot be read, is damaged, is no model, or was written by another version.
    """
    path = path_of(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        head = json.loads(content.pop("head").tobytes())
    except OSError as e:
        raise ModelError(f"cannot read compiled model '{path}': {e.strerror or e}") from None
    except _DAMAGE:
        remedy = "Model.from_xml_path reads MJCF and URDF" if path.suffix != ".npz" else "write it again with save"
        raise ModelError(f"'{path}' is damaged or is no compiled model; {remedy}") from None
    _check(path, head)
    try:
        arrays, capacity = _arrays(head, content), head["capacity"]
        return finalize(
            arrays,
            capacity[0] if nconmax is None else nconmax,
            capacity[1] if njmax is None else njmax,
            np.dtype(head["dtype"]) if dtype is None else dtype,
            hooks,
            active,
            contact,
            gap,
            slip,
            integrator,
        )
    except (KeyError, TypeError, ValueError, IndexError) as e:
        if isinstance(e, InputError):
            raise
        raise ModelError(f"'{path}' is damaged: its arrays do not fit together; write it again with save") from None


def save_xml(path: str | Path, m: Model | Spec) -> None:
    """Write canonical MJCF that compiles to the same Model.

    Args:
      path: of the file; it is replaced if it exists.
      m: a Spec, written as it says itself; or a Model, written with the values that its leaves have now, every one
        in full. What the compiler derives (weights, bounding boxes, second anchors) follows from what is written.

    Raises:
      InputError: leaves that are traced or carry a batch axis.
      ModelError: what no MJCF can say, by name.
    """
    if not isinstance(m, Spec):
        a_model("save_xml", m)
        m = spec_of_model(m)
    spec_to_file(m, path)


def layout() -> str:
    """Return a digest of the names of all that a file holds; it changes when a field is added or renamed."""
    owners = (Topology, Model, OptionFloats, Statistic)
    names = [f.name for owner in owners for f in dataclasses.fields(owner)]
    names += [*OPTION_FLAGS, *TERMS, *OPTION_TERMS]
    names += [f.name for kind in SECTIONS.values() for f in dataclasses.fields(kind)]
    return hashlib.sha256(" ".join(names).encode()).hexdigest()[:16]


def _check(path: str | Path, head: Any) -> None:
    """Raise ModelError for a file of another format or version."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelError(f"'{path}' is no compiled model of mjx_like; write one with save")
    if (head.get("version"), head.get("layout")) != (VERSION, layout()):
        raise ModelError(
            f"'{path}' was written by another version of mjx_like (format {head.get('version')}, this one reads "
            f"{VERSION} with its own fields); compile the model file again and save it"
        )


def _arrays(head: dict[str, Any], content: dict[str, np.ndarray]) -> Arrays:
    parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    for key, value in content.items():
        part, _, name = key.partition(".")
        parts[part][name] = value if value.ndim or part == "has" else value.item()
    names = {ObjType[kind]: tuple(found) for kind, found in head["names"].items()}
    return Arrays(
        **parts,
        visual=visual_from(head["visual"]),
        names=names,
        unsupported=tuple(head["unsupported"]),
        contact=head.get("contact", {}),
    )
