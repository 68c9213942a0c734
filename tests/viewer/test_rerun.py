"""What Rerun is given: meshes once, poses and sensors along the time."""

import sys

import jax
import numpy as np
import pytest

import mjx_like as mjx

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="box" pos="0 0 1"><freejoint name="root"/><geom type="box" size=".1 .2 .3" rgba="1 0 0 1"/></body>
  </worldbody>
  <sensor><clock name="now"/></sensor>
</mujoco>
"""


@pytest.fixture(scope="module")
def made():
    m = mjx.Model.from_xml_string(XML)
    d = mjx.make_data(m)
    worlds = jax.vmap(lambda v: d.replace(qvel=d.qvel.at[4].set(v)))(np.arange(2.0))
    return m, mjx.rollout(m, worlds, steps=30)


@pytest.mark.slow
def test_poses_and_sensors(made, tmp_path, monkeypatch):
    rerun = pytest.importorskip("rerun")
    m, trajectory = made
    logged, sent = {}, {}
    log, send = rerun.log, rerun.send_columns
    monkeypatch.setattr(rerun, "log", lambda path, *a, **k: (logged.update({path: a[0]}), log(path, *a, **k)))
    monkeypatch.setattr(rerun, "send_columns", lambda path, **k: (sent.update({path: k}), send(path, **k)))
    rerun.init("test")
    rerun.save(tmp_path / "run.rrd")
    mjx.log_rerun(m, trajectory, fps=100)
    assert (tmp_path / "run.rrd").stat().st_size > 1000
    assert "mjx_like/ground/0" in logged and sorted(sent) == [
        "mjx_like/sensors/now", "mjx_like/world0/bodies/box", "mjx_like/world1/bodies/box",
    ]  # fmt: skip
    mesh = logged["mjx_like/world1/bodies/box/0"]
    assert np.abs(np.array(mesh.vertex_positions.as_arrow_array().to_pylist())).max(0) == pytest.approx([0.1, 0.2, 0.3])
    pose = {str(c.descriptor).split(":")[-1].split("(")[0]: c for c in sent["mjx_like/world1/bodies/box"]["columns"]}
    turned = next(c for name, c in pose.items() if "quaternion" in name).as_arrow_array().to_pylist()
    wxyz = np.array(trajectory.qpos[1, ::5, 3:])
    np.testing.assert_allclose(np.array(turned)[:, 0], np.roll(wxyz, -1, axis=1)[: len(turned)], atol=1e-6)


def test_without_rerun(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(mjx.UnsupportedError, match="pip install rerun-sdk"):
        mjx.log_rerun(*made)
