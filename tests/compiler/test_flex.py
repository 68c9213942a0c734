"""Flexes and flexcomps: every compiled field against MuJoCo's, the report of what cannot run, and errors."""

import mujoco
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError, UnsupportedError
from tests.compiler.compare import compile_source, differences

GRID = 'radius=".01" mass="1" spacing=".1 .1 .1"'


def flexcomp(attributes: str, children: str = "", name: str = "f") -> str:
    return f'<flexcomp name="{name}" {GRID} {attributes}>{children}</flexcomp>'


def world(inside: str, more: str = "") -> str:
    return f"<mujoco><worldbody>{inside}</worldbody>{more}</mujoco>"


ELASTIC = '<elasticity young="1e4" poisson=".2" damping=".1"/>'
SHELL = '<elasticity young="1e4" poisson=".2" thickness=".01" elastic2d="both"/>'
CLOTH = flexcomp('type="grid" count="4 4 1" dim="2" euler="30 20 0"', SHELL + '<pin id="0 3"/>')
PLACES = {
    "world": "{}",
    "body": '<body name="b" pos="0 0 1">{}</body>',
    "frame": '<frame pos="1 0 0" euler="0 40 0"><body name="p"><geom size=".1"/></body>{}</frame>',
}
SHAPES = {
    "edges": flexcomp('type="grid" count="4 3 1" dim="2"', '<edge equality="true"/>'),
    "chain": flexcomp('type="grid" count="5 1 1" dim="1"', '<edge stiffness="3" damping=".1"/>'),
    "block": flexcomp('type="grid" count="3 3 3" dim="3"', ELASTIC + '<contact selfcollide="none"/>'),
    "cloth": CLOTH,
    "box": flexcomp('type="box" count="3 4 3" dim="3" dof="radial"'),
    "cylinder": flexcomp('type="cylinder" count="4 4 3" dim="2"'),
    "ellipsoid": flexcomp('type="ellipsoid" count="4 4 3" dim="2"'),
    "disc": flexcomp('type="disc" count="5 5 1" dim="2"'),
    "square": flexcomp('type="square" count="4 4 1" dim="2"'),
    "circle": flexcomp('type="circle" count="8 1 1" dim="1"'),
    "direct": flexcomp('type="direct" point="0 0 0 0 0 1 0 1 0" element="0 1 2" dim="2"'),
    "planar": flexcomp('type="grid" count="4 4 1" dim="2" dof="2d"'),
    "rigid": flexcomp('type="grid" count="3 3 3" dim="3" rigid="true"'),
    "rod": flexcomp('type="grid" count="6 1 1" dim="1"', '<elasticity young="1e5" poisson=".2"/>'),
    "plastic block": flexcomp('type="grid" count="3 3 3" dim="3"', ELASTIC.replace("/>", ' yield=".1"/>')),
    "plastic cloth": flexcomp('type="grid" count="3 3 1" dim="2"', SHELL.replace("/>", ' yield=".1"/>')),
}
MODELS = {f"{shape} in {place}": world(around.format(SHAPES[shape])) for shape in SHAPES
          for place, around in PLACES.items()} | {
    "trilinear": world(flexcomp('type="grid" count="4 4 4" dim="3" dof="trilinear"', ELASTIC)),
    "quadratic": world(flexcomp('type="grid" count="4 4 4" dim="3" dof="quadratic"', ELASTIC)),
    "cells": world(flexcomp('type="grid" count="5 3 3" dim="3" dof="trilinear" cellcount="2 1 1"', ELASTIC)),
    "two": world(CLOTH + flexcomp('type="grid" count="6 1 1" dim="1"', ELASTIC, "g")),
    "replicated": world(f'<replicate count="2" offset="0 0 2" sep="-"><body name="b">{CLOTH}</body></replicate>'),
    "sleep": "<mujoco><option><flag sleep='enable'/></option>" + world(CLOTH).removeprefix("<mujoco>"),
    "explicit": world(
        '<body name="a" pos="0 0 1"><joint type="slide"/><geom size=".1" mass="1"/></body>'
        '<body name="c" pos="1 0 1"><freejoint/><geom size=".1"/></body>',
        '<deformable><flex name="f" dim="1" body="a c" element="0 1" radius=".02" vertex="0 0 .1 .1 0 0">'
        '<edge stiffness="10" damping="1"/></flex></deformable>',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_same_model(name):
    assert differences(MODELS[name]) == {}


ERRORS = {
    "dimension": (flexcomp('type="grid" count="3 3 1" dim="4"'), "dim 4"),
    "count": (flexcomp('type="grid" count="0 3 1" dim="2"'), "count must be at least 1"),
    "spacing": (flexcomp('type="grid" count="3 3 1" dim="2"').replace('radius=".01"', 'radius=".2"'), "spacing"),
    "pin": (flexcomp('type="grid" count="3 3 1" dim="2"', '<pin id="9"/>'), "id must be from 0 to 8"),
    "grid pin": (flexcomp('type="disc" count="3 3 1" dim="2"', '<pin grid="0 0"/>'), "go with type grid"),
    "direct": (flexcomp('type="direct" dim="2"'), "needs point and element"),
    "point": (flexcomp('type="direct" dim="1" point="0 0 0 1 0 0" element="0 2"'), "there are 2 points"),
    "poisson": (flexcomp('type="grid" count="3 3 3" dim="3"', '<elasticity young="1" poisson=".5"/>'), "poisson"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    part, words = ERRORS[name]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(world(part))
    with pytest.raises(ModelError, match=words) as found:
        compile_source(world(part))
    assert "flexcomp" in str(found.value) or "flex name='f'" in str(found.value) or "<pin>" in str(found.value)


@pytest.mark.parametrize("contact", ["", '<contact contype="0" conaffinity="0"/>'])
def test_reported_by_name(contact):
    model = mjx.Model.from_xml_string(world(flexcomp('type="grid" count="3 3 3" dim="3"', ELASTIC + contact)))
    assert "flex 'f': dynamics are not built yet" in model.unsupported
    with pytest.raises(UnsupportedError, match="flex 'f'"):
        mjx.make_data(model)
