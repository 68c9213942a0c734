"""Flexes: vertices against MuJoCo's flexvert_xpos, shells closed and turned outwards, ropes as capsules."""

import mujoco
import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.visual.flex import flex_points, flexes
from mjx_like.visual.frames import poses
from mjx_like.visual.tube import tubes

BODY = '<body name="carrier" pos="1 0 .5" euler="0 30 0"><joint axis="0 1 0"/><geom size=".1"/>{}</body>'
BLOCK = '<flexcomp name="f" type="grid" count="5 5 5" spacing=".1 .1 .1" dim="3" pos="0 0 1" {}/>'
FLEXES = {
    "rope": '<flexcomp name="f" type="grid" count="5 1 1" spacing=".1 .1 .1" dim="1" radius=".02" euler="10 20 30"/>',
    "cloth": '<flexcomp name="f" type="grid" count="4 3 1" spacing=".1 .1 .1" dim="2" radius=".01" pos="0 0 1"/>',
    "rigid": BODY.format('<flexcomp name="f" type="grid" count="4 3 1" spacing=".1 .1 .1" dim="2" rigid="true"/>'),
    "pinned": BODY.format(
        '<flexcomp name="f" type="grid" count="4 3 1" spacing=".1 .1 .1" dim="2"><pin id="0 1"/></flexcomp>'
    ),
    "in the plane": BODY.format('<flexcomp name="f" type="grid" count="4 3 1" spacing=".1 .1 .1" dim="2" dof="2d"/>'),
    "block": BLOCK.format(""),
    "radial": '<flexcomp name="f" type="ellipsoid" count="5 5 5" spacing=".1 .1 .1" dim="3" dof="radial"/>',
    "trilinear": BLOCK.format('dof="trilinear"'),
    "cells": BLOCK.format('dof="trilinear" cellcount="2 1 3"'),
    "quadratic": BLOCK.format('dof="quadratic" cellcount="2 1 3"'),
    "on bodies": """<body name="a"><freejoint/><geom size=".1"/></body>
      <body name="b" pos="1 0 0"><freejoint/><geom size=".1"/></body><body name="c" pos="0 1 0"><geom size=".1"/></body>
      </worldbody><deformable><flex name="f" dim="2" body="a b c" vertex=".1 0 0  0 .2 0  0 0 .3" element="0 1 2"/>
      </deformable><worldbody>""",
}
TWO_MATERIALS = """<mujoco><asset><texture name="t" type="2d" builtin="checker" width="8" height="8"/>
  <material name="m" texture="t"/></asset><worldbody>
  <flexcomp name="a" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" material="m"/>
  <flexcomp name="b" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" rgba="1 0 0 .5"/>
  <flexcomp name="c" type="grid" count="3 1 1" spacing=".1 .1 .1" dim="1" material="m"/></worldbody></mujoco>"""


def both(name: str) -> tuple[mujoco.MjModel, mjx.Model]:
    text = f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{FLEXES[name]}</worldbody></mujoco>'
    return mujoco.MjModel.from_xml_string(text), mjx.Model.from_xml_string(text, dtype=np.float64)


@pytest.mark.parametrize("name", FLEXES)
def test_vertices_are_those_of_mujoco(name):
    mj_model, m = both(name)
    data = mujoco.MjData(mj_model)
    mujoco.mj_integratePos(mj_model, data.qpos, np.random.default_rng(0).normal(size=mj_model.nv), 0.3)
    mujoco.mj_fwdPosition(mj_model, data)
    frames = poses(m, np.array(data.qpos)[None, None], 0.1)
    point = flex_points(m, frames.xpos[0, 0], frames.xquat[0, 0])
    np.testing.assert_allclose(point, data.flexvert_xpos, atol=1e-6)
    data.qpos = mj_model.qpos0
    mujoco.mj_fwdPosition(mj_model, data)
    assert np.abs(data.flexvert_xpos - point).max() > 1e-3  # they were moved


@pytest.mark.parametrize("name", ["block", "radial", "trilinear"])
def test_shells_are_those_of_mujoco_closed_and_turned_outwards(name):
    mj_model, m = both(name)
    (flex,) = flexes(m)
    start = mj_model.flex_shelldataadr[0]
    theirs = mj_model.flex_shell[start : start + 3 * mj_model.flex_shellnum[0]].reshape(-1, 3)
    ours = np.sort(flex.vertex[flex.face], axis=1)
    np.testing.assert_array_equal(np.unique(ours, axis=0), np.unique(np.sort(theirs, axis=1), axis=0))
    frames = poses(m, np.asarray(m.qpos0)[None, None], 0.1)
    s = flex.surface(flex_points(m, frames.xpos[0, 0], frames.xquat[0, 0]))
    shape = trimesh.Trimesh(s.vertex, s.face)
    assert shape.is_watertight and shape.volume > 0
    if name == "block":
        np.testing.assert_allclose(shape.volume, 0.4**3, rtol=1e-6)


def test_a_rope_is_capsules():
    points = np.array([[[0.0, 0, 0], [0, 0, 1]], [[0, 0, 1], [2, 0, 1]], [[1, 1, 1], [1, 1, 1]]])
    s = tubes(points, 0.1)
    low, high = s.vertex.min(axis=0), s.vertex.max(axis=0)
    np.testing.assert_allclose([low, high], [[-0.1, -0.1, -0.1], [2.1, 1.1, 1.1]], atol=0.01)
    shapes = trimesh.Trimesh(s.vertex, s.face, process=False)
    exact = np.pi * 0.01 * 3 + 3 * 4 / 3 * np.pi * 0.001
    assert shapes.is_watertight and shapes.volume == pytest.approx(exact, rel=0.15)


def test_materials_and_pictures():
    m = mjx.Model.from_xml_string(TWO_MATERIALS)
    cloth, plain, rope = flexes(m)
    assert cloth.look.picture.shape == (8, 8, 3) and cloth.texcoord.shape == (9, 2)
    np.testing.assert_allclose([cloth.texcoord.min(), cloth.texcoord.max()], [0, 1])
    assert plain.texcoord is None and plain.look.rgba.tolist() == [1, 0, 0, 0.5]
    assert rope.look.picture is None and rope.dim == 1 and rope.face.shape == (2, 2)
    assert len(flexes(m, groups=[3])) == 0
