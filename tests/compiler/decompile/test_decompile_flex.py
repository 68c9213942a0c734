"""Interpolated flexes and elastic rods of a compiled model, written and compiled again."""

import mujoco
import numpy as np
import pytest

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.decompile.model import decompile
from mjx_like.compiler.finalize import finalize
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.writer import to_xml
from tests.compiler.compare import array_differences, oracle


def model(attributes: str, children: str) -> str:
    """Return a model with a flexcomp in a body of a tree."""
    return (
        "<mujoco><worldbody><body name='b' pos='1 2 3' euler='10 20 30'><joint/><geom size='.1'/>"
        f"<flexcomp name='f' mass='1' radius='.001' {attributes}>{children}<pin id='0'/></flexcomp></body></worldbody>"
        "</mujoco>"
    ).replace("radius='.001'" if "section=" in children else "\0", "")


CHAIN = 'type="grid" count="5 1 1" dim="1" spacing=".2 .2 .2"'
CURVE = 'type="direct" dim="1" point="0 0 0 1 0 0 1 1 0 1 1 1 0 2 1 3 3 3"'
TET = 'type="direct" dim="3" point="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 3"'
BOX = 'type="box" count="4 3 4" spacing=".3 .2 .1" dim="2"'


def elasticity(more: str) -> str:
    """Return an elasticity with a Young's modulus."""
    return f'<elasticity young="3e4" {more}/>'


MODELS = {
    "rod": (CHAIN, elasticity('poisson=".2" damping=".1"')),
    "rod with a box section": (CHAIN, elasticity('poisson=".2" section="box" sectionsize=".01 .02"')),
    "its axes the other way": (CHAIN, elasticity('shear="4e4" section="box" sectionsize=".03 .02"')),
    "stiff twist": (CHAIN, elasticity('shear="3e6"')),
    "soft twist": (CHAIN, elasticity('shear="3e2"')),
    "ring": ('type="circle" count="9 1 1" dim="1" spacing=".2 .2 .2"', elasticity('poisson=".3"')),
    "curved, with a branch": (CURVE + ' element="0 1 1 2 2 3 3 4 1 5"', elasticity('poisson=".1"')),
    "curved": (CURVE + ' element="0 1 1 2 2 3 3 4 4 5"', elasticity('poisson=".1"')),
    "cells": (TET + ' dof="trilinear" cellcount="2 2 2"', elasticity('poisson=".3" yield=".1"')),
    "quadratic": (TET + ' dof="quadratic"', elasticity('poisson=".3"')),
    "shell": (BOX + ' dof="trilinear"', elasticity('poisson=".2" thickness=".03" elastic2d="both"')),
    "bending": (BOX + ' dof="quadratic"', elasticity('poisson=".2" thickness=".03" elastic2d="bend"')),
    "stretching": (BOX + ' dof="trilinear" euler="10 20 30"', elasticity('thickness=".03" elastic2d="stretch"')),
}


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name):
    first = compile_spec(parse_string(model(*MODELS[name])))
    text = to_xml(decompile(finalize(first, dtype=np.float64)))
    assert array_differences(compile_spec(parse_string(text)), first) == {}
    assert array_differences(first, oracle(text)) == {}


@pytest.mark.parametrize("kind", ["stretch", "bend", "none"])
def test_strain(kind):
    """The modes of a shell's strain constraints tell its thickness; they are free in their signs and order."""
    more = "" if kind == "none" else f'thickness=".03" elastic2d="{kind}" poisson=".3" young="{3e4 * (kind == "bend")}"'
    first = compile_spec(
        parse_string(model(BOX + ' dof="trilinear"', f'<elasticity {more}/><edge equality="strain"/>'))
    )
    spec = decompile(finalize(first, dtype=np.float64))
    second, theirs = compile_spec(spec), oracle(to_xml(spec))
    assert set(array_differences(second, first)) <= {"flex_stiffness"}
    assert set(array_differences(first, theirs)) <= {"flex_stiffness"}
    size = 12 if kind != "none" else 24
    records = [np.reshape(arrays.fields["flex_stiffness"], (-1, size * size)) for arrays in (first, second, theirs)]
    modes = [r[0, 1 : 1 + size * int(r[0, 0])].reshape(-1, size) for r in records]
    for found in modes[1:]:
        assert np.allclose(found.T @ found, modes[0].T @ modes[0], rtol=0, atol=1e-9 * np.abs(modes[0]).max() ** 2)


def test_changed_stiffness():
    """A stiffness that is scaled is that of a stiffer material; one that is uneven is that of none."""
    for name, field in (("quadratic", "flex_stiffness"), ("rod", "flex_bending")):
        m = finalize(compile_spec(parse_string(model(*MODELS[name]))), dtype=np.float64)
        values = np.asarray(getattr(m, field))
        scaled = 2 * values
        if name == "rod":
            scaled = values.copy()
            rows = scaled[1:].reshape(-1, 10)
            rows[:, [4, 5, 8]] *= 2
        spec = decompile(m.replace(**{field: scaled}))
        assert np.isclose(spec.sections["deformable"][0].find("elasticity").get("young"), 6e4, rtol=1e-9)
        mujoco.MjModel.from_xml_string(to_xml(spec))
        uneven = values.copy()
        uneven[5] *= 3
        with pytest.raises(ModelError, match="flex 'f': its flex_stiffness or flex_bending is that of no elasticity"):
            decompile(m.replace(**{field: uneven}))


def test_moved_vertex():
    m = finalize(compile_spec(parse_string(model(*MODELS["quadratic"]))), dtype=np.float64)
    with pytest.raises(ModelError, match="flex 'f': its flex_vert is in the frame of no body"):
        decompile(m.replace(flex_vert=m.flex_vert + 1))
