"""The public loaders: from MJCF to a Model."""

import copy
from pathlib import Path
from typing import IO, Any

import numpy as np

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.decompile.asset import KEY_VECTORS
from mjx_like.compiler.decompile.model import decompile
from mjx_like.compiler.finalize import finalize
from mjx_like.mjcf.attach.keyframe import layout
from mjx_like.mjcf.edit.archive import files_of, write_zip
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.spec import Spec as SpecRecord
from mjx_like.mjcf.writer import to_xml, write_xml
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.model import Model
from mjx_like.worlds import a_model


def from_xml_path(
    path: str,
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
    hooks: Hooks = NO_HOOKS,
    active: tuple[str, ...] = (),
) -> Model:
    """Return the Model of an MJCF file.

    Args:
      path: of the file; what it includes and its assets are found from its folder.
      nconmax: capacity of the contact buffer; None for a default from the model.
      njmax: capacity of the constraint buffer; None for a default from the model.
      dtype: of the leaves; None for float64 when JAX has x64 enabled, else float32.
      hooks: user functions.
      active: float fields whose terms exist also where they are zero.

    Raises:
      InputError: an argument of another kind than these, or a capacity that no buffer can have.
      ModelError: anything wrong with the file, with place and remedy.
    """
    return finalize(compile_spec(parse_file(path)), nconmax, njmax, dtype, hooks, active)


def from_xml_string(
    xml: str,
    assets: dict[str, bytes] | None = None,
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
    hooks: Hooks = NO_HOOKS,
    active: tuple[str, ...] = (),
) -> Model:
    """Return the Model of an MJCF string; arguments as `from_xml_path`.

    Args:
      xml: the text.
      assets: contents of the files that it names, by name.
    """
    return finalize(compile_spec(parse_string(xml, assets=assets)), nconmax, njmax, dtype, hooks, active)


def compile_model(
    spec: Spec,
    nconmax: int | None = None,
    njmax: int | None = None,
    dtype: Any = None,
    hooks: Hooks = NO_HOOKS,
    active: tuple[str, ...] = (),
) -> Model:
    """Return the Model of a Spec, which stays as it is and can be edited further; arguments as `from_xml_path`."""
    model = finalize(compile_spec(spec.checked()), nconmax, njmax, dtype, hooks, active)
    spec._layout = layout(spec._record)
    return model


def spec_to_xml(spec: Spec) -> str:
    """Return the MJCF of a Spec; it compiles to the same Model.

    Raises:
      ModelError: what contradicts, repeats, names nothing, or cannot be said by MJCF.
    """
    return to_xml(_with_keyframes(spec.checked()))


def spec_to_file(spec: Spec, path: str | Path) -> None:
    """Write the MJCF of a Spec to a file; files that it names are found from there. Raises as `spec_to_xml`."""
    write_xml(_with_keyframes(spec.checked()), path)


def spec_to_zip(spec: Spec, file: str | Path | IO[bytes]) -> None:
    """Write the MJCF of a Spec and the files that it names into a zip archive, for `Spec.from_zip`.

    Raises:
      ModelError: as `spec_to_xml`; a file that is missing.
    """
    write_zip(spec.modelname, spec_to_xml(spec), files_of(spec._record), file)


def _with_keyframes(found: SpecRecord) -> SpecRecord:
    """The same model, its keyframes in full where a part was attached or deleted after they were given."""
    if found.layouts:
        fields = compile_spec(copy.deepcopy(found)).fields
        for index, key in enumerate(found.sections["keyframe"]):
            for name in KEY_VECTORS if key in found.layouts else ():
                key.attrib.pop(name, None)
                if np.size(fields[f"key_{name}"][index]):
                    key.attrib[name] = np.array(fields[f"key_{name}"][index])
        found.layouts = {}
    return found


def spec_of_model(m: Model) -> Spec:
    """Return a Spec that compiles to this Model, values that were changed in it included.

    Raises:
      InputError, ModelError: as `decompile`.
    """
    a_model("Spec.from_model", m)
    return Spec.from_record(decompile(m))
