"""What the loaders of Model and the methods of Spec call."""

import copy
import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.contact import with_contact_elements
from mjx_like.compiler.decompile.asset import KEY_VECTORS
from mjx_like.compiler.decompile.model import decompile
from mjx_like.compiler.finalize import finalize
from mjx_like.compiler.integrator import with_integrator_element
from mjx_like.compiler.recompile import recompile
from mjx_like.compiler.unfinalize import contact_of
from mjx_like.loaders import Loaders
from mjx_like.mjcf.attach.keyframe import layout
from mjx_like.mjcf.edit.archive import files_of, write_zip
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.schema.keywords import INTEGRATOR
from mjx_like.mjcf.spec import Spec as SpecRecord
from mjx_like.mjcf.writer import to_xml, write_xml
from mjx_like.types.enums import IntegratorType
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
    contact: str | None = None,
    gap: float | None = None,
    slip: float | None = None,
    integrator: int | str | None = None,
) -> Model:
    """Return what `Model.from_xml_path` does."""
    return _told(
        finalize(compile_spec(parse_file(path)), nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator)
    )


def from_xml_string(
    xml: str,
    assets: dict[str, bytes] | None = None,
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
    """Return what `Model.from_xml_string` does."""
    arrays = compile_spec(parse_string(xml, assets=assets))
    return _told(finalize(arrays, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator))


def compile_model(
    spec: Spec,
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
    """Return what `Spec.compile` does, and note its joints, mocap bodies and actuators for `recompile`."""
    arrays = compile_spec(spec.checked())
    model = _told(finalize(arrays, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator))
    spec._layout = layout(spec._record)
    return model


def _told(m: Model) -> Model:
    """Return the model, with a warning where a capacity of 0 leaves out what it has: nothing counts that then."""
    if m.nconmax == 0 and m.plans.collision.default_nconmax:
        warnings.warn("nconmax is 0: contacts are not looked for", stacklevel=4)
    elif m.njmax == 0 and m.plans.constraint.default_njmax:
        warnings.warn("njmax is 0: there are no constraints", stacklevel=4)
    return m


def spec_to_xml(spec: Spec) -> str:
    """Return what `Spec.to_xml` does."""
    return to_xml(_with_keyframes(spec.checked()))


def spec_to_file(spec: Spec, path: str | Path) -> None:
    """Write what `Spec.to_file` does."""
    write_xml(_with_keyframes(spec.checked()), path)


def spec_to_zip(spec: Spec, file: str | Path | IO[bytes]) -> None:
    """Write what `Spec.to_zip` does."""
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
    """Return what `Spec.from_model` does."""
    a_model("Spec.from_model", m)
    return Spec.from_record(decompile(m))


def say_contact(spec: Spec, m: Model) -> None:
    """Make the Spec say in its custom elements which contact a Model has."""
    sections = spec._record.sections
    sections["custom"] = with_contact_elements(sections.get("custom", []), contact_of(m))


def say_integrator(spec: Spec, m: Model) -> None:
    """Make the Spec say which integrator a Model has; one that MuJoCo has not, beside that which it takes."""
    record, kind = spec._record, IntegratorType(m.opt.integrator)
    record.sections["custom"] = with_integrator_element(record.sections.get("custom", []), kind)
    if kind.keyword in INTEGRATOR:
        record.option["integrator"] = kind.keyword


LOADERS = Loaders(
    from_xml_path=from_xml_path,
    from_xml_string=from_xml_string,
    compile_model=compile_model,
    recompile=recompile,
    spec_of_model=spec_of_model,
    spec_to_xml=spec_to_xml,
    spec_to_file=spec_to_file,
    spec_to_zip=spec_to_zip,
)
