"""What is drawn, and where, against MuJoCo's own abstract scene: colours, visibility, poses, skins, tendons."""

import importlib.util
import pathlib

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.types.enums import ObjType
from mjx_like.visual.frames import frames_of, poses
from mjx_like.visual.grid import offsets
from mjx_like.visual.look import look_of, mean_color
from mjx_like.visual.part import bounds, parts, rotation
from mjx_like.visual.skin import skins
from tests.models import HERE
from tests.support.oracle import GYM

SUITE = pathlib.Path(importlib.util.find_spec("dm_control").origin).parent / "suite"
LOOKS = """<mujoco><asset><texture name="flat" type="2d" builtin="checker" width="4" height="2" rgb1="1 0 0"/>
    <texture name="cube" type="cube" builtin="flat" width="4" rgb1=".2 .4 .6" rgb2=".2 .4 .6"/>
    <material name="red" rgba="1 0 0 .5" specular=".1" shininess=".2" reflectance=".3" emission=".4"/>
    <material name="tiled" texture="flat" texrepeat="3 5" texuniform="true" rgba=".9 1 1 1"/>
    <material name="dice" texture="cube" rgba="1 .5 1 1"/></asset><worldbody>
  <geom size="1"/><geom size="1" rgba=".1 .2 .3 .4"/><geom size="1" material="red"/>
  <geom size="1" material="red" rgba=".1 .2 .3 .4"/><geom size="1" material="tiled" group="1"/>
  <geom size="1" material="dice"/><geom size="1" group="3"/><geom size="1" rgba="1 1 1 0"/>
  <site size="1" material="red"/><site size="1" group="4"/></worldbody></mujoco>"""


def abstract_scene(m: mujoco.MjModel, d: mujoco.MjData) -> mujoco.MjvScene:
    scene = mujoco.MjvScene(m, 2000)
    mujoco.mjv_updateScene(
        m, d, mujoco.MjvOption(), mujoco.MjvPerturb(), mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL, scene
    )
    return scene


@pytest.mark.parametrize("source", [LOOKS, GYM / "ant.xml", SUITE / "finger.xml"], ids=["looks", "ant", "finger"])
def test_colours_and_visibility_are_those_of_mujoco(source):
    if isinstance(source, str):
        mj_model, m = mujoco.MjModel.from_xml_string(source), mjx.Model.from_xml_string(source)
    else:
        mj_model, m = mujoco.MjModel.from_xml_path(str(source)), mjx.Model.from_xml_path(source)
    data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, data)
    scene = abstract_scene(mj_model, data)
    drawn = scene.geoms[: scene.ngeom]
    for kind in (ObjType.GEOM, ObjType.SITE):
        prefix = kind.name.lower()
        shown = {g.objid: np.array(g.rgba) for g in drawn if g.objtype == kind}
        ours = {part.id for part in parts(m) if part.kind == kind}
        assert ours <= shown.keys() and bool(ours) == bool(shown)
        for index, rgba in shown.items():
            look = look_of(m, getattr(m, f"{prefix}_rgba")[index], int(getattr(m, f"{prefix}_matid")[index]))
            material = int(getattr(m, f"{prefix}_matid")[index])
            if material < 0 or m.mat_texid[material][1] < 0:
                np.testing.assert_allclose(look.rgba, rgba, atol=1e-6)


def test_looks():
    m = mjx.Model.from_xml_string(LOOKS)
    looks = [look_of(m, m.geom_rgba[i], int(m.geom_matid[i])) for i in range(m.ngeom)]
    np.testing.assert_allclose([looks[2].specular, looks[2].shininess], [0.1, 0.2], rtol=1e-6)
    np.testing.assert_allclose([looks[2].reflectance, looks[2].emission], [0.3, 0.4], rtol=1e-6)
    assert looks[4].picture.shape == (2, 4, 3) and looks[4].uniform and list(looks[4].repeat) == [3, 5]
    assert looks[5].picture.shape == (24, 4, 3) and looks[5].sides == 6
    np.testing.assert_allclose(mean_color(looks[5]), [0.2, 0.2, 0.6, 1], atol=0.002)
    assert sum(len(part.surface.face) for part in parts(m, sites=False, groups=[3])) > 0
    assert len(parts(m, groups=[5])) == 0


@pytest.mark.parametrize("path", [GYM / "humanoid.xml", SUITE / "quadruped.xml", HERE / "features" / "wrap_pulley.xml"])
def test_poses_and_tendons_are_those_of_mujoco(path):
    mj_model, m = mujoco.MjModel.from_xml_path(str(path)), mjx.Model.from_xml_path(path, dtype=np.float64)
    rng, data = np.random.default_rng(0), mujoco.MjData(mj_model)
    qpos = np.zeros((3, 2, m.nq))
    for frame, world in np.ndindex(3, 2):
        mujoco.mj_integratePos(mj_model, data.qpos, rng.normal(size=m.nv), 0.3)
        qpos[frame, world] = data.qpos
    frames = poses(m, qpos, 0.1)
    for frame, world in np.ndindex(3, 2):
        data.qpos = qpos[frame, world]
        mujoco.mj_fwdPosition(mj_model, data)
        np.testing.assert_allclose(frames.xpos[frame, world], data.xpos, atol=1e-12)
        np.testing.assert_allclose(rotation(frames.xquat[frame, world]).reshape(-1, 9), data.xmat, atol=1e-12)
        for index in range(m.ntendon):
            segments = frames.segments(frame, world, index)
            lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum()
            if m.wrap_type[m.tendon_adr[index]] == mujoco.mjtWrap.mjWRAP_SITE and len(segments):
                start = data.ten_wrapadr[index]
                np.testing.assert_allclose(segments[0, 0], data.wrap_xpos.reshape(-1, 3)[start], atol=1e-12)
                assert lengths > 0


def test_skins_follow_their_bones():
    path = SUITE / "dog.xml"
    mj_model, m = mujoco.MjModel.from_xml_path(str(path)), mjx.Model.from_xml_path(path, dtype=np.float64)
    data = mujoco.MjData(mj_model)
    mujoco.mj_integratePos(mj_model, data.qpos, np.random.default_rng(0).normal(size=m.nv), 0.1)
    mujoco.mj_forward(mj_model, data)
    mj_model.skin_inflate[:] = 0
    scene = abstract_scene(mj_model, data)
    found = skins(m)
    assert len(found) == mj_model.nskin >= 1
    frames = poses(m, np.array(data.qpos)[None, None], 0.1)
    vertices = []
    for skin in found:
        back = rotation(skin.bind_quat).swapaxes(1, 2)
        local = np.einsum("bij,vbj->vbi", back, skin.surface.vertex[:, None] - skin.bind_pos)
        turn = rotation(frames.xquat[0, 0, skin.body])
        moved = np.einsum("bij,vbj->vbi", turn, local) + frames.xpos[0, 0, skin.body]
        vertices.append(np.einsum("vb,vbi->vi", skin.weight, moved))
    np.testing.assert_allclose(np.concatenate(vertices).ravel(), scene.skinvert[: 3 * mj_model.nskinvert], atol=2e-5)


def test_frames_are_at_equal_times():
    m = mjx.Model.from_xml_path(GYM / "hopper.xml")
    steps = np.arange(1, 101)
    qpos = np.tile(np.asarray(m.qpos0), (100, 1))
    qpos[:, 0] = steps
    frames = frames_of(m, {"qpos": qpos, "time": 0.002 * steps}, fps=50)
    np.testing.assert_allclose(np.diff(frames.xpos[:, 0, 1, 0]), 10)
    assert frames.dt == pytest.approx(0.02) and len(frames.xpos) == 10
    assert frames_of(m, {"qpos": qpos[None].repeat(20, 0)}, worlds=4).xpos.shape[1] == 4
    assert len(frames_of(m, {"qpos": qpos}, fps=1e9).xpos) == 100


def test_bounds_are_those_of_what_moves():
    m = mjx.Model.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="9 9 1"/><geom size="5" pos="0 0 -6"/>'
        '<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body></worldbody></mujoco>'
    )
    frames = poses(m, np.asarray(m.qpos0)[None, None], 0.1)
    low, high = bounds(m, parts(m), frames.xpos[0, 0], frames.xquat[0, 0])
    np.testing.assert_allclose([low, high], [[-0.1, -0.2, 0.7], [0.1, 0.2, 1.3]], rtol=1e-6)


def test_worlds_stand_in_a_square():
    grid = offsets(4, 2.0)
    np.testing.assert_allclose(grid, [[-1, 1, 0], [1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    np.testing.assert_allclose(offsets(1, 2.0), [[0, 0, 0]])
    assert len(np.unique(offsets(7, 1.0), axis=0)) == 7


@pytest.mark.parametrize(
    ("trajectory", "options", "message"),
    [
        ({"qvel": np.zeros((3, 6))}, {}, "has no qpos"),
        ({"qpos": np.zeros((3, 5))}, {}, r"qpos has shape \(3, 5\); this model has \(steps, 6\)"),
        ({"qpos": np.full((3, 6), np.nan)}, {}, "not finite"),
        ({"qpos": np.zeros((3, 6))}, {"fps": 0}, "fps=0: must be positive"),
    ],
)
def test_errors(trajectory, options, message):
    m = mjx.Model.from_xml_path(GYM / "hopper.xml")
    with pytest.raises(mjx.InputError, match=message):
        frames_of(m, trajectory, **options)
