"""Composites: what they stand for, against MuJoCo 3.1.6; composite_reference.py writes its numbers."""

from pathlib import Path

import numpy as np
import pytest

from mjx_like.compiler.compile import compile_spec
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.writer import to_xml
from mjx_like.types.enums import ObjType, WrapType
from tests.compiler.compare import array_differences, compile_source, oracle
from tests.mjcf.composite_cases import (
    CABLES,
    CAPSULE,
    CASES,
    DECLARED,
    DEFAULTS,
    LOOP,
    MATERIAL,
    PAIR,
    PLUGIN,
    composite,
    world,
)  # fmt: skip

_EQ_DATA = 11  # numbers that an equality had in MuJoCo 3.1.6
FIXED_LOOKS = ("tendon_matid", "tendon_rgba", "tendon_width")  # MJCF gives fixed tendons no looks
ALL = {**CASES, **CABLES}
REFERENCE = dict(np.load(Path(__file__).parent / "composite_reference.npz"))


def reference(case: str) -> dict[str, np.ndarray]:
    """Return what MuJoCo 3.1.6 compiled of a case."""
    place = list(ALL).index(case)
    found = {}
    for name, values in REFERENCE.items():
        if name.endswith("#"):
            continue
        if name.startswith("names."):
            found[name] = values[place]
        else:
            last = REFERENCE[f"{name}#"][: place + 1].sum()
            found[name] = values[last - REFERENCE[f"{name}#"][place] : last]
    return found


@pytest.mark.parametrize("case", ALL)
def test_as_before(case):
    ours = compile_source(ALL[case])
    found = {}
    for name, value in reference(case).items():
        if name in FIXED_LOOKS and not np.any(ours.fields["wrap_type"] == WrapType.SITE):
            continue
        if name.startswith("names."):
            names = "\n".join(ours.names[ObjType[name.removeprefix("names.")]])
            if names != str(value):
                found[name] = names
        elif name not in ("qpos", "qfrc_passive"):
            mine = np.asarray(ours.fields[name], float)
            mine = (mine[:, :_EQ_DATA] if name == "eq_data" else mine).ravel()
            if mine.shape != value.shape:
                found[name] = f"{mine.shape} against {value.shape}"
            elif len(value) and not (error := np.abs(mine - value).max() / max(np.abs(value).max(), 1e-3)) < 1e-9:
                found[name] = error
    assert found == {}


@pytest.mark.parametrize(
    "case", ["grid_parts", "grid_subgrid", "grid_in_class", "particle_vertex", "loop_joints", "box_parts"]
)
def test_what_is_written(case):
    """The expanded model as MJCF is one that MuJoCo 4 compiles to the same."""
    spec = parse_string(ALL[case])
    assert array_differences(compile_spec(spec), oracle(to_xml(spec))) == {}


def test_copied():
    """Copies by replicate and attach bring tendons, equalities and skins along, under other names."""
    inner = composite("grid", 'count="2 2 1" spacing=".1"', '<geom size=".02"/><skin/>')
    part = world(f'<body name="b">{inner}</body>', DEFAULTS + MATERIAL)
    copies = (
        f'<asset><model name="part" file="part.xml"/></asset><worldbody><replicate count="2" offset="1 0 0">{inner}'
        '</replicate><attach model="part" body="b" prefix="a-"/></worldbody>'
    )
    ours = compile_source(f"<mujoco>{copies}</mujoco>", {"part.xml": part.encode()})
    assert ours.names[ObjType.SKIN] == ("pSkin0", "pSkin1", "a-pSkin")
    assert [name for name in ours.names[ObjType.TENDON] if "T0_0_0" in name] == [
        "pT0_0_00", "pT0_0_01", "a-pT0_0_0",
    ]  # fmt: skip
    assert np.ptp(ours.fields["tendon_width"]) == 0
    assert np.ptp(ours.fields["eq_solref"], axis=0).max() == 0
    assert np.ptp(ours.fields["geom_contype"]) == 0


def line(kind: str, attributes: str = 'count="2" spacing=".1"', children: str = '<geom size=".02"/>') -> str:
    """Return a model with one composite in its world."""
    return world(composite(kind, attributes, children))


LONG = 'count="4" curve="s"'
ERRORS = {
    "rope": (line("rope"), "type rope is deprecated; use cable instead"),
    "cloth": (line("cloth"), "type cloth is deprecated; use shell instead"),
    "geom": (line("grid", children='<geom type="box" size=".1 .1 .1"/>'), "geom type must be one of sphere, capsule"),
    "count": (line("grid", 'count="0" spacing=".1"'), "count must be positive"),
    "order": (line("grid", 'count="2 1 2" spacing=".1"'), "counts of 1 must come last"),
    "spacing": (line("grid", 'count="2" spacing=".01"'), "must be at least the size of the geoms, 0.02"),
    "many": (line("particle", 'count="1000 1000 1000" spacing=".1"'), r"has 1e\+09 points; at most 300000"),
    "joints": (line("grid", children='<geom size=".02"/>' + 2 * '<joint kind="main"/>'), "has 2 joints of kind main"),
    "block": (line("grid", 'count="2 2 2" spacing=".1"'), "a grid must have one or two dimensions"),
    "shear": (line("grid", children='<geom size=".02"/><tendon kind="shear"/>'), "shear need a grid of two dimensions"),
    "skin": (line("grid", children='<geom size=".02"/><skin/>'), "a skin needs a grid of two dimensions"),
    "subgrid": (
        line("grid", 'count="2 2" spacing=".1"', '<geom size=".02"/><skin subgrid="1"/>'),
        "subgrid of the skin needs at least 3 x 3 points",
    ),
    "pin": (line("grid", children='<geom size=".02"/><pin/>'), "<pin>: missing attribute 'coord'"),
    "vertex and count": (line("particle", 'count="2" vertex="0 0 0"'), "vertex and count exclude one another"),
    "vertex": (line("particle", 'vertex="0 0 0 1"'), "vertex must have three numbers a point"),
    "face": (line("particle", 'vertex="0 0 0 1 0 0" face="1 2 3"'), "face must name points from 1 to 2"),
    "cable geom": (line("cable", LONG), "geom type of a cable must be one of cylinder, capsule, box, not sphere"),
    "cable spacing": (line("cable", LONG + ' spacing="1"', CAPSULE), "a cable takes no spacing"),
    "cable size": (line("cable", LONG + ' size="0"', CAPSULE), "size must be positive"),
    "cable curve": (line("cable", 'count="4"', CAPSULE), "a cable needs attribute 'curve' or 'vertex'"),
    "curve": (line("cable", 'count="4" curve="s tan(s)"', CAPSULE), r"'curve' has 'tan\(s\)', needs words out of: s, "),
    "long curve": (line("cable", 'count="4" curve="s 0 0 0"', CAPSULE), "'curve' has 4 words, needs at most 3"),
    "cable dimension": (line("cable", 'count="4 2" curve="s"', CAPSULE), "a cable must have one dimension"),
    "deep": (line("cable", 'count="400" curve="s"', CAPSULE), "a cable has at most 250 points"),
    "loop in world": (line("loop"), "name of the body around it must begin with 'pB', is ''"),
    "loop number": (world(f'<body name="pBx">{LOOP}</body>'), "must have a number after 'pB', is 'pBx'"),
    "loop range": (world(f'<body name="pB9">{LOOP}</body>'), "must be from 0 to 5, is 9"),
    "flat box": (line("box", 'count="3 3" spacing=".1"'), "a box must have three dimensions"),
    "plugin": (world(composite("grid", 'count="2" spacing=".1"', PLUGIN.format("")), DECLARED), "only a cable does"),
    "undeclared": (line("cable", LONG, PLUGIN.format("") + CAPSULE), "is not declared; add it to <extension>"),
    "name": (world(2 * PAIR), "name 'pB0_0' is already taken"),
    "quat": (line("grid", 'count="2" spacing=".1" quat="1 0 0 0"'), "quat"),
    "class": (world(PAIR, '<default><geom mass="1"/></default>'), "class main gives every geom attribute 'mass'"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    xml, message = ERRORS[case]
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
