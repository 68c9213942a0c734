"""Images against MuJoCo's own renderer, in a process of its own, where OpenGL without a screen is installed."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from PIL import Image as Picture

import mjx_like as mjx
from mjx_like.render.camera import fixed_camera, pixel_rays
from mjx_like.render.skin import first_face, skins

WIDTH, HEIGHT = 80, 60
MODEL = """<mujoco><visual><quality numslices="200" numstacks="200" shadowsize="4096" offsamples="0"/></visual>
  <asset><texture name="grid" type="2d" builtin="checker" rgb1=".2 .3 .4" rgb2=".6 .7 .8" width="64" height="64"/>
    <texture type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="64" height="64"/>
    <material name="floor" texture="grid" texrepeat="2 2" texuniform="true"/>
    <material name="red" rgba=".8 .2 .2 1" specular=".9" shininess=".3"/></asset>
  <worldbody><light pos="1 -1 3" dir="-.3 .3 -1" cutoff="60"/>
    <camera name="fixed" pos="0 -3 1.5" xyaxes="1 0 0 0 .4 1" fovy="50"/>
    <camera name="lens" pos="0 -3 1.5" xyaxes="1 0 0 0 .4 1" sensorsize=".02 .015" focal=".03 .03" principal=".002 .001"
      resolution="640 480"/>
    <geom type="plane" size="2 2 1" material="floor"/>
    <body pos="0 0 .5"><freejoint/><geom type="box" size=".3 .2 .4" material="red"/></body>
    <body pos=".8 .2 .4"><freejoint/><geom size=".4" rgba=".2 .7 .3 1"/></body>
    <body pos="-.8 0 .5"><geom type="capsule" size=".15 .3" rgba=".3 .3 .9 1"/></body></worldbody></mujoco>"""
DRAWN = """<mujoco><visual><quality numslices="200" numstacks="200" shadowsize="4096" offsamples="0"/>
    <map haze=".4"/></visual>
  <asset><texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".7 .8 .9" width="64" height="64"/>
    <texture name="slope" type="2d" builtin="gradient" rgb1="1 .2 .1" rgb2=".1 .3 1" width="64" height="64"/>
    <texture type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="64" height="64"/>
    <material name="floor" texture="grid" texrepeat="5 5" texuniform="true"/>
    <material name="slope" texture="slope" texrepeat="2 3"/>
    <material name="rope" rgba=".9 .5 .1 1" specular="0"/>
    <mesh name="ball" builtin="sphere" params="2" scale=".3 .3 .3"/>
    <mesh name="wedge" vertex="0 0 0 .6 0 0 0 .6 0 0 0 .6" texcoord="0 0 1 0 0 1 1 1"
      face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset>
  <worldbody><light pos="0 0 4" dir=".2 .1 -1" type="directional" diffuse=".9 .9 .9"/>
    <camera name="fixed" pos="0 -4 1.4" xyaxes="1 0 0 0 .25 1" fovy="50"/>
    <geom type="plane" size="0 0 1" material="floor"/>
    <geom type="mesh" mesh="ball" pos="-1.3 0 1.2" rgba=".8 .4 .3 1"/>
    <geom type="mesh" mesh="wedge" pos="-1.2 -.8 .1" euler="0 0 -60" material="slope"/>
    <geom type="box" size=".2 .2 .2" pos="1.3 -.5 .2" material="slope" euler="0 0 30"/>
    <geom type="capsule" size=".15 .2" pos="1.4 0 1.2" material="slope"/>
    <site name="a" pos="-.6 0 .2" size=".1" rgba="1 0 0 1"/><site name="b" pos=".6 0 1.4" size=".1"/>
    <site group="4" size=".5" pos="0 -1 .5"/>
    <body name="left" pos="-.4 .3 .9"><joint axis="0 1 0"/><geom size=".05"/></body>
    <body name="right" pos=".4 .3 .8"><geom size=".05"/></body></worldbody>
  <tendon><spatial width=".05" material="rope"><site site="a"/><site site="b"/></spatial></tendon>
  <deformable><skin inflate=".02" material="slope" vertex="-.4 0 .6  0 0 .9  .4 0 .6  -.4 .6 .8  0 .6 1.1  .4 .6 .9"
    face="0 1 3  1 4 3  1 2 4  2 5 4" texcoord="0 0 1 0 2 0 0 1 1 1 2 1">
    <bone body="left" bindpos="-.4 .3 .5" bindquat="1 0 0 0" vertid="0 1 3 4" vertweight="1 .5 1 .5"/>
    <bone body="right" bindpos=".4 .3 .6" bindquat="1 0 0 0" vertid="1 2 4 5" vertweight=".5 1 .5 1"/></skin>
  </deformable></mujoco>"""
ORACLE = """
import sys, mujoco, numpy as np
m = mujoco.MjModel.from_xml_path(sys.argv[1]); d = mujoco.MjData(m); mujoco.mj_forward(m, d)
r = mujoco.Renderer(m, {height}, {width}); out = {{}}
for name in [m.cam(i).name for i in range(m.ncam)]:
    r.update_scene(d, name); out[name + " rgb"] = r.render().copy()
    r.enable_depth_rendering(); out[name + " depth"] = r.render().copy(); r.disable_depth_rendering()
    r.enable_segmentation_rendering(); number, kind = np.moveaxis(r.render(), -1, 0)
    out[name + " geom"] = np.where(kind == mujoco.mjtObj.mjOBJ_GEOM, number, -1)
    r.disable_segmentation_rendering()
np.savez(sys.argv[2], **out)
"""


def _oracle(folder, xml):
    (folder / "m.xml").write_text(xml)
    code, out = ORACLE.format(width=WIDTH, height=HEIGHT), folder / "out.npz"
    for backend in ("egl", "osmesa"):
        done = subprocess.run(
            ["env", f"MUJOCO_GL={backend}", sys.executable, "-c", code, str(folder / "m.xml"), str(out)],
            capture_output=True, check=False,
        )  # fmt: skip
        if out.exists():
            return np.load(out)
    return pytest.skip(f"no OpenGL without a screen: {done.stderr.decode()[-200:]}")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    return _oracle(tmp_path_factory.mktemp("render"), MODEL)


@pytest.fixture(scope="module")
def scene():
    m = mjx.Model.from_xml_string(MODEL)
    return m, jax.jit(lambda m: mjx.camlight(m, mjx.com_pos(m, mjx.kinematics(m, mjx.make_data(m)))))(m)


@pytest.fixture(scope="module")
def images(scene):
    m, d = scene
    draw = {name: jax.jit(lambda m, d, name=name: mjx.render(m, d, name, WIDTH, HEIGHT)) for name in ("fixed", "lens")}
    return {name: jax.tree.map(np.asarray, f(m, d)) for name, f in draw.items()}


@pytest.mark.parametrize("name", ["fixed", "lens"])
def test_depth_and_segmentation_are_those_of_mujoco(oracle, images, name):
    image = images[name]
    same = image.geom == oracle[f"{name} geom"]
    assert same.mean() > 0.99  # but for pixels on edges
    inner = same & (image.geom >= 0)
    error = np.abs(image.depth - oracle[f"{name} depth"])[inner] / image.depth[inner]
    assert np.quantile(error, 0.95) < 1e-4 and np.median(error) < 5e-5


def test_colours_are_close_to_those_of_mujoco(oracle, images):
    ours, theirs = images["fixed"], oracle["fixed rgb"] / 255
    error = np.abs(ours.rgb - theirs).max(axis=-1)
    solid = (ours.geom == oracle["fixed geom"]) & (ours.geom >= 1)
    assert np.median(error[solid]) < 0.02 and np.mean(np.abs(ours.rgb - theirs)) < 0.02


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """All kinds of what is drawn: a world, its image and MuJoCo's."""
    expected = _oracle(tmp_path_factory.mktemp("drawn"), DRAWN)
    m = mjx.Model.from_xml_string(DRAWN)
    place = lambda m, d: mjx.camlight(m, mjx.com_pos(m, mjx.kinematics(m, d)))  # noqa: E731
    d = jax.jit(lambda m: mjx.tendon(m, place(m, mjx.make_data(m))))(m)
    image = jax.jit(lambda m, d: mjx.render(m, d, "fixed", WIDTH, HEIGHT))(m, d)
    return m, d, jax.tree.map(np.asarray, image), expected


@pytest.mark.slow
def test_meshes_sites_tendons_skins_and_haze_are_those_of_mujoco(drawn):
    _, _, image, expected = drawn
    same = image.geom == expected["fixed geom"]
    assert same.mean() > 0.99
    error = np.abs(image.rgb - expected["fixed rgb"] / 255)
    assert error.mean() < 0.006 and np.quantile(error, 0.9) < 0.01
    near = expected["fixed depth"] < 6  # the sky and the haze have a depth there, not here
    far = np.abs(image.depth - expected["fixed depth"])[near] / image.depth[near]
    assert np.quantile(far, 0.95) < 1e-4


def test_distances_to_a_skin_have_the_derivative_of_its_bones(drawn):
    m, d, _, _ = drawn
    start, down = jnp.array([[0.1, 0.3, 3.0], [-0.2, 0.4, 3.0]]), jnp.array([[0, 0, -1.0]] * 2)

    def dist(shift):
        moved = skins(m, d.replace(xpos=d.xpos + shift * jnp.array([0, 0, 1.0])), np.array([0]), 0)
        return jnp.sum(first_face(moved, start, down, jnp.array([True]))[0])

    np.testing.assert_allclose(jax.jit(jax.grad(dist))(0.0), -2, rtol=1e-5)


def test_what_is_not_asked_for_is_not_drawn(drawn):
    m, d, image, _ = drawn
    few = {"shadows": False, "reflections": False, "layers": 1, "sites": False, "tendons": False, "skins": False}
    depth = jax.jit(lambda d: mjx.render(m, d, "fixed", WIDTH, HEIGHT, **few).depth)(d)
    farther = np.asarray(depth) > image.depth + 0.05
    assert farther.mean() > 0.01 and (image.geom[farther] == -1).mean() > 0.95


def test_the_frustum_is_that_of_mujoco(scene):
    m, d = scene
    mj_model = mujoco.MjModel.from_xml_string(MODEL)
    data, view, drawn = mujoco.MjData(mj_model), mujoco.MjvCamera(), mujoco.MjvScene(mj_model, 100)
    mujoco.mj_forward(mj_model, data)
    for index in range(m.ncam):
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, index
        mujoco.mjv_updateScene(mj_model, data, mujoco.MjvOption(), mujoco.MjvPerturb(), view, 7, drawn)
        eye = drawn.camera[0]
        near, half = eye.frustum_near, eye.frustum_width
        left, right, bottom, top = np.asarray(fixed_camera(m, d, index).window) * near
        np.testing.assert_allclose([bottom, top], [eye.frustum_bottom, eye.frustum_top], rtol=1e-4)
        sides = [eye.frustum_center - half, eye.frustum_center + half]
        np.testing.assert_allclose([left, right], sides, rtol=1e-4, atol=1e-7)


def test_depth_has_the_derivative_of_what_is_seen(scene):
    m, d = scene
    pick = (slice(28, 32), slice(38, 42))

    def depth(shift):
        pos = d.geom_xpos.at[1, 1].add(shift)
        small = {"shadows": False, "reflections": False, "layers": 1}
        return jnp.sum(mjx.render(m, d.replace(geom_xpos=pos), "fixed", WIDTH, HEIGHT, **small).depth[pick])

    slope, size = jax.jit(jax.grad(depth))(0.0), 1e-2
    change = jax.jit(lambda: depth(size) - depth(-size))() / (2 * size)
    assert float(jnp.abs(slope)) > 1
    np.testing.assert_allclose(slope, change, rtol=2e-2)


def test_worlds_are_mapped(scene):
    m, d = scene
    worlds = jax.tree.map(lambda x: jnp.stack([x, x]), d)
    worlds = worlds.replace(geom_xpos=worlds.geom_xpos.at[1, 2, 0].add(0.3))
    small = {"width": 16, "height": 12, "shadows": False, "reflections": False, "layers": 1}
    both = jax.jit(jax.vmap(lambda d: mjx.render(m, d, "fixed", **small)))(worlds)
    one = jax.jit(lambda d: mjx.render(m, d, "fixed", **small))(d)
    np.testing.assert_allclose(both.depth[0], one.depth, rtol=1e-6)
    assert np.abs(both.depth[1] - one.depth).max() > 0.1


def test_rays_of_a_free_camera_meet_what_it_looks_at(scene):
    m, _ = scene
    start, direction = pixel_rays(mjx.free_camera(m, [1.0, 2, 3], 2.0, 30.0, -20.0), 3, 3)
    np.testing.assert_allclose(start[1, 1] + 2 * direction[1, 1], [1, 2, 3], atol=1e-5)


@pytest.mark.parametrize("ending", [".gif", ".webp"])
def test_videos(tmp_path, ending):
    m = mjx.Model.from_xml_string('<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
    qpos = np.tile(np.asarray(m.qpos0), (10, 1))
    qpos[:, 2] = np.linspace(0, 0.05, 10)
    path = mjx.save_video(m, {"qpos": qpos, "time": np.arange(10) / 30}, tmp_path / f"a{ending}", width=32, height=24)
    with Picture.open(path) as video:
        assert video.size == (32, 24) and video.n_frames == 10


def test_errors(scene, tmp_path):
    m, d = scene
    with pytest.raises(mjx.InputError, match="no camera 7; the model has: "):
        mjx.render(m, d, 7)
    with pytest.raises(mjx.InputError, match="no camera 'nose'; the model has: "):
        mjx.render(m, d, "nose")
    with pytest.raises(mjx.InputError, match="width=0"):
        mjx.render(m, d, width=0)
    with pytest.raises(mjx.InputError, match="ends in one of .gif, .webp, .mp4"):
        mjx.save_video(m, {"qpos": np.zeros((1, m.nq))}, tmp_path / "a.avi")
