"""Every attribute of the table with values that are not its default compiles to MuJoCo's arrays, or fails in both.

The cases are generated from the table: for each attribute of each element, also in a default class, a small model
that has it (tests/mjcf/minimal.py) with every other keyword, or two sets of other numbers.
"""

import warnings

import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.schema import ELEMENTS, Attribute, Kind
from tests.compiler.compare import OURS, array_differences, compile_source
from tests.compiler.compare import oracle as compiled_by_oracle
from tests.mjcf.minimal import ROWS, model, write_files
from tests.mjcf.test_defaults import defaults, others, text_of

# Elements and attributes that have no case of their own here, and why.
NO_CASE = {
    "composite": "not in MuJoCo 4.0.0; its tests compare with 3.1.6",
    "plugin": "needs an extension; tests/compiler/test_plugin.py",
    "actuator_plugin": "the same",
    "sensor_plugin": "the same",
    "extension_plugin": "the same",
    "instance": "the same",
    "config": "the same",
    "include": "tests/mjcf/test_include.py",
    "attach": "tests/mjcf/test_attach.py",
    "model": "the same",
}
# Elements that have only names, or of which a model must have several; the models of other elements contain them.
NAMES = {
    "default", "bone", "layer", "numeric", "text", "tuple", "pin", "exclude", "spatial_site", "spatial_geom", "pulley",
    "fixed_joint",
}  # fmt: skip
FILES = {"file", "content_type", "fileback", "filedown", "filefront", "fileleft", "fileright", "fileup"}
STRINGS = {"name", "class", "childclass", "content_type", *FILES}


def texts(kind: str, name: str, row: Attribute) -> list[str]:
    """Legal values of an attribute that are not its default."""
    default = defaults(kind).get(name)
    if row.kind is Kind.KEYWORD:
        return [word for word in row.keywords if default is None or word != text_of(row, default)]
    if row.kind is Kind.KEYWORDS:
        words = [word for word in row.keywords if word not in row.alone]
        return [*row.keywords, " ".join(words)]
    if row.kind is Kind.STRING:
        return others(kind, name, row, default) if default is not None and row.chars else []
    most = row.most if row.most is not None else max(row.least, 3)
    if row.kind is Kind.INT:
        return [" ".join(str(step + i) for i in range(count)) for count in {row.least or 1, most} for step in (1, 2)]
    lists = []
    for count in {row.least or 1, most}:
        lists += [np.arange(1, count + 1) * 0.3 + 0.05, np.linspace(0.9, 0.2, count), -0.7 + 0.35 * np.arange(count)]
    return [" ".join(f"{number:.6g}" for number in numbers) for numbers in lists]


def outcome(make, xml: str, refusal: type[Exception]):
    """What a compiler makes of a model, or the text of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(xml)
    except refusal as error:
        return str(error)


def compared(xml: str, skip: tuple[str, ...] = ()) -> str | None:
    """Return how the two results differ."""
    ours, theirs = outcome(compile_source, xml, ModelError), outcome(compiled_by_oracle, xml, ValueError)
    if isinstance(ours, str) and isinstance(theirs, str):
        return None
    if isinstance(ours, str) or isinstance(theirs, str):
        return f"ours: {ours}" if isinstance(ours, str) else f"theirs: {theirs}"
    found = array_differences(ours, theirs, (*(OURS if "<mesh" in xml else ()), *skip))
    found = {name: error for name, error in found.items() if isinstance(error, str) or not _is_zero(ours, theirs, name)}
    return str(found) if found else None


def _is_zero(ours, theirs, name: str) -> bool:
    """Whether a field is zero in both but for rounding."""
    values = [np.asarray(arrays.fields.get(name, 1.0), float) for arrays in (ours, theirs)]
    return all(np.abs(value).max() < 1e-13 for value in values)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The image and the mesh that some models name, in the working directory."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)


def row_of(kind: str) -> str:
    tag = kind.removeprefix("default_")
    return {"equality": "weld", "tendon": "spatial"}.get(tag, tag) if kind.startswith("default_") else kind


KINDS = [kind for kind in ELEMENTS if row_of(kind) in ROWS and ELEMENTS[kind].attributes and kind not in NO_CASE]
CASES = [
    (kind, name, text)
    for kind in KINDS
    for name, row in ELEMENTS[kind].attributes.items()
    if name not in STRINGS
    for text in texts(kind, name, row)
]
# Values that are left out, and why.
MEANINGLESS = {
    ("flex", "radius", "-0.7"): "a negative radius makes sizes that mean nothing",
    ("flexcomp", "radius", "-0.7"): "the same",
    ("flexstrain", "cell", "-0.7 -0.35 0"): "MuJoCo rounds a negative fraction to zero",
}
# Fields that are free in their signs and order, or come from a simulation that amplifies rounding.
LOOSE = {"flexstrain": ("flex_stiffness",), "lengthrange": ("actuator_lengthrange",)}
SHARE = 100  # of the cases, one in so many is tried in every run


def check(kind: str, name: str, text: str) -> None:
    xml = model(kind, {name: text}, name)
    difference = None if (kind, name, text) in MEANINGLESS else compared(xml, LOOSE.get(kind, ()))
    assert difference is None, f"{kind} {name}={text!r}\n{xml}\n{difference}"


def test_every_element_has_cases():
    left = {kind for kind in ELEMENTS if ELEMENTS[kind].attributes} - {kind for kind, _, _ in CASES}
    left -= {kind for kind in left if kind.startswith("composite")}
    assert left == set(NO_CASE) - {"composite", "include"} | NAMES | {"mujoco"}


def test_some_attributes():
    """Of everything but the ranges of lengths, which are simulated."""
    for case in CASES[::SHARE]:
        if case[0] != "lengthrange":
            check(*case)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_attributes(kind):
    for case in CASES:
        if case[0] == kind:
            check(*case)
