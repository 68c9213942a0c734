"""Options, sizes and visual settings of an attached model against those of the model it joins.

The compiler element's `conflict` says what happens where both files give a value and the values differ, or where only
the attached one does. Source: documents, model editing, attribute merging.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema.settings import FLAG
from mjx_like.mjcf.spec import Spec

_LEAST = (
    "timestep", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "sleep_tolerance", "znear",
    "realtime",
)  # fmt: skip
_MOST = (
    "iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations", "sdf_initpoints", "memory",
    "nkey", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam", "nuser_tendon",
    "nuser_actuator", "nuser_sensor", "zfar",
)  # fmt: skip
_SAME = (
    "gravity", "wind", "magnetic", "density", "viscosity", "integrator", "cone", "jacobian", "solver", "impratio",
    "o_margin", "o_solref", "o_solimp", "o_friction",
)  # fmt: skip
_FIELDS = frozenset((*_LEAST, *_MOST, *_SAME))


def merge_settings(element: Element, parent: Spec, child: Spec) -> None:
    """Settle the settings of a model that another one is attached to.

    element: the attach element, for messages.
    Raises ModelError where the two models contradict one another and the parent's `conflict` does not allow it.
    """
    policy = parent.compiler.get("conflict", "warning")
    notes: list[str] = []
    errors: list[str] = []
    for section, mine, name, value in _differing(parent, child):
        given = name in parent.authored[section]
        text = f"{name}: the model has {_text(mine.get(name))}, the attached one {_text(value)}"
        if given and (policy == "error" or (policy == "merge" and name in _SAME)):
            errors.append(text)
        else:
            notes.append(text)
        if policy == "merge":
            rule = {**dict.fromkeys(_LEAST, min), **dict.fromkeys(_MOST, max)}.get(name)
            mine[name] = rule(mine[name], value) if given and rule else value
            parent.authored[section][name] = mine[name]
    _merge_flags(parent, child, policy, errors)
    if errors:
        raise element.error(f"conflicts with the model it is attached to: {'; '.join(errors)}")
    if notes and policy != "merge":
        warnings.warn(f"{element.where}: {element.label}: keeps the model's settings: {'; '.join(notes)}", stacklevel=2)


def _text(value: Any) -> str:
    return " ".join(f"{v:g}" for v in value) if isinstance(value, np.ndarray) else str(value)


def _settings(spec: Spec) -> dict[str, dict[str, Any]]:
    return {"option": spec.option, "size": spec.size, "map": spec.visual["map"], "global": spec.visual["global"]}


def _differing(parent: Spec, child: Spec) -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    """(section, the parent's settings, name, the child's value) of what the child gives otherwise than the parent."""
    mine, theirs = _settings(parent), _settings(child)
    for section, values in theirs.items():
        for name in child.authored[section]:
            if name in _FIELDS and not np.array_equal(mine[section].get(name), values[name]):
                yield section, mine[section], name, values[name]


def _merge_flags(parent: Spec, child: Spec, policy: str, errors: list[str]) -> None:
    """Flags that one of the two sets are set; so are disabled actuator groups."""
    mine, theirs = parent.authored["flag"], child.authored["flag"]
    if policy == "error":
        errors += [
            f"flag {name}: the model has {mine[name]}, the attached one {value}"
            for name, value in theirs.items()
            if mine.get(name, value) != value
        ]
    if policy != "merge":
        return
    for name, value in theirs.items():
        if value != FLAG.attributes[name].default:
            parent.flag[name] = mine[name] = value
    groups = [*parent.option.get("actuatorgroupdisable", ()), *child.option.get("actuatorgroupdisable", ())]
    if groups:
        parent.option["actuatorgroupdisable"] = np.array(sorted(set(groups)))
