"""Every default of the table: written out, it compiles to the model that the oracle makes without the attribute.

And it can fail: another value makes another model, or a row of SILENT says why none does.
"""

import mujoco
import numpy as np
import pytest

from mjx_like.mjcf.actuator.shortcut import DEFAULTS
from mjx_like.mjcf.schema import ELEMENTS, Attribute, Kind
from tests.mjcf.minimal import OTHERS, ROWS, model, write_files

# (element, attribute) -> why no other value changes what the oracle compiles.
SILENT = {
    ("compiler", "savecanonical"): "read only when a model is saved",
    ("intvelocity", "actlimited"): "an intvelocity needs a range, and is limited by it whatever is said",
}
# Elements whose defaults the oracle cannot show, and why.
UNSEEN = {
    "composite": "not in MuJoCo 4.0.0; tests of the composite compare with 3.1.6",
    "actuator_plugin": "needs a plugin library; its rows are those of general",
    "sensor_plugin": "needs a plugin library",
}


def defaults(kind: str) -> dict[str, object]:
    """Attribute -> default of an element, of a shortcut's own parameters too."""
    shortcut = DEFAULTS.get(kind.removeprefix("default_"), {})
    found = {name: row.default for name, row in ELEMENTS[kind].attributes.items()}
    return {name: shortcut.get(name) if value is None else value for name, value in found.items()}


def text_of(row: Attribute, value: object) -> str:
    """A value as a file gives it, with every digit."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, np.ndarray | float | int):
        return " ".join(repr(int(n) if row.kind is Kind.INT else float(n)) for n in np.ravel(value))
    return value if isinstance(value, str) else " ".join(value)


def others(kind: str, name: str, row: Attribute, value: object) -> list[str]:
    """Values that are not the default."""
    given = OTHERS.get((kind.removeprefix("default_"), name))
    if given is not None:
        return [given]
    if row.kind is Kind.KEYWORD:
        return [word for word in row.keywords if word != text_of(row, value)]
    if row.kind is Kind.KEYWORDS:
        return [next(word for word in row.keywords if word not in value)]
    if row.kind is Kind.STRING:
        return ["zyx" if row.chars else f"{value}x"]
    numbers = np.ravel(value).astype(float)
    if row.kind is Kind.INT:
        return [" ".join(str(int(n) + 1) for n in numbers)]
    return [" ".join(f"{n:.9g}" for n in 0.6 * numbers + 0.21 + 0.125 * np.arange(len(numbers)))]


def outcome(xml: str) -> bytes | str:
    """What the oracle makes of a file: the bytes of its model and what it saves, or what it says against it."""
    try:
        spec = mujoco.MjSpec.from_string(xml)
        compiled = spec.compile()
    except ValueError as error:
        return " ".join(str(error).split())
    buffer = np.zeros(mujoco.mj_sizeModel(compiled), np.uint8)
    mujoco.mj_saveModel(compiled, None, buffer)
    return buffer.tobytes() + spec.to_xml().encode()


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The image and the mesh that some models name, in the working directory."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)


KINDS = [kind for kind in ELEMENTS if any(value is not None for value in defaults(kind).values())]


def test_every_element_with_defaults_is_tried():
    left = {kind for kind in KINDS if kind.removeprefix("default_") not in ROWS and kind != "default_equality"}
    assert {kind.split("_")[0] for kind in left - {"default_tendon"}} <= {"composite"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.split("_")[0] != "composite" and kind not in UNSEEN])
def test_default(kind):
    tag = kind.removeprefix("default_")
    for name, value in defaults(kind).items():
        if value is None:
            continue
        row = ELEMENTS[kind].attributes[name]
        absent = outcome(model(kind, {}, name))
        assert outcome(model(kind, {name: text_of(row, value)}, name)) == absent, f"{kind} {name}"
        changed = [outcome(model(kind, {name: text}, name)) for text in others(kind, name, row, value)]
        assert any(found != absent for found in changed) == ((tag, name) not in SILENT), f"{kind} {name}"
