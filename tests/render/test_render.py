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
ORACLE = """
import sys, mujoco, numpy as np
m = mujoco.MjModel.from_xml_path(sys.argv[1]); d = mujoco.MjData(m); mujoco.mj_forward(m, d)
r = mujoco.Renderer(m, {height}, {width}); out = {{}}
for name in ("fixed", "lens"):
    r.update_scene(d, name); out[name + " rgb"] = r.render().copy()
    r.enable_depth_rendering(); out[name + " depth"] = r.render().copy(); r.disable_depth_rendering()
    r.enable_segmentation_rendering(); out[name + " geom"] = r.render().copy()[..., 0]
    r.disable_segmentation_rendering()
np.savez(sys.argv[2], **out)
"""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("render")
    (folder / "m.xml").write_text(MODEL)
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
