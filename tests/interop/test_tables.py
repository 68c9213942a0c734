"""Trajectories as xarray and Parquet: labels, values, wrong input, and what is not installed."""

import sys

import jax
import numpy as np
import pyarrow.parquet
import pytest

import mjx_like as mjx
from mjx_like.interop.labels import labels

XML = """
<mujoco>
  <worldbody>
    <body name="box" pos="0 0 1"><freejoint name="root"/><geom size=".1"/><site name="s"/>
      <body><joint name="ball" type="ball"/><geom size=".1"/>
        <body><joint axis="0 1 0"/><geom size=".1"/></body></body></body>
  </worldbody>
  <actuator><motor name="push" joint="ball" gear="1 0 0"/><general name="slow" joint="ball" dyntype="integrator"/></actuator>
  <sensor><gyro name="gyro" site="s"/><framequat name="turn" objtype="site" objname="s"/><clock/></sensor>
</mujoco>
"""  # noqa: E501


@pytest.fixture(scope="module")
def made():
    m = mjx.Model.from_xml_string(XML)
    d = mjx.make_data(m)
    worlds = jax.vmap(lambda v: d.replace(qvel=d.qvel.at[0].set(v)))(np.arange(3.0))
    return m, mjx.rollout(m, worlds, steps=4)


def test_labels(made):
    found = labels(made[0])
    assert found["qpos"] == [f"root.{x}" for x in "x y z qw qx qy qz".split()] + [
        "ball.qw", "ball.qx", "ball.qy", "ball.qz", "joint2",
    ]  # fmt: skip
    assert found["qvel"][3:7] == ["root.wx", "root.wy", "root.wz", "ball.wx"] and found["qvel"][-1] == "joint2"
    assert found["act"] == ["slow"] and found["ctrl"] == ["push", "slow"]
    assert found["sensordata"] == ["gyro.x", "gyro.y", "gyro.z", "turn.0", "turn.1", "turn.2", "turn.3", "sensor2"]


def test_xarray_of_a_batch_and_of_one_world(made):
    m, trajectory = made
    ds = mjx.to_xarray(m, trajectory)
    assert dict(ds.sizes) == {"world": 3, "step": 4, "position": 12, "velocity": 10, "activation": 1, "sensor": 8}
    np.testing.assert_array_equal(ds.qpos.sel(position="root.x"), trajectory.qpos[..., 0])
    np.testing.assert_array_equal(ds.sensordata.sel(sensor="gyro.z").isel(world=2), trajectory.sensordata[2, :, 2])
    np.testing.assert_array_equal(ds.time, trajectory.time)
    one = mjx.to_xarray(m, {"qpos": trajectory.qpos[1], "xpos": np.zeros((4, m.nbody, 3))})
    assert dict(one.sizes) == {"step": 4, "position": 12, "xpos_0": m.nbody, "xpos_1": 3}


def test_parquet(made, tmp_path):
    m, trajectory = made
    path = mjx.save_parquet(m, trajectory, tmp_path / "run.parquet")
    table = pyarrow.parquet.read_table(path)
    assert table.num_rows == 12 and table.column_names[:4] == ["world", "step", "time", "qpos[root.x]"]
    assert table["world"].to_pylist() == [0] * 4 + [1] * 4 + [2] * 4 and table["step"].to_pylist() == [0, 1, 2, 3] * 3
    np.testing.assert_array_equal(table["qpos[root.x]"], trajectory.qpos[..., 0].ravel())
    np.testing.assert_array_equal(table["sensordata[turn.1]"], trajectory.sensordata[..., 4].ravel())
    mjx.save_parquet(m, {"time": trajectory.time[0], "cost": np.ones((4, 2))}, path)
    assert pyarrow.parquet.read_table(path).column_names == ["world", "step", "time", "cost[0]", "cost[1]"]


@pytest.mark.parametrize("function", ["to_xarray", "save_parquet"])
def test_errors(made, function, tmp_path, monkeypatch):
    m, trajectory = made

    def call(trajectory):
        return getattr(mjx, function)(m, trajectory, *([tmp_path / "a"] if function == "save_parquet" else []))

    with pytest.raises(mjx.InputError, match=rf"{function}: qpos has shape \(3, 4, 11\); .*\(steps, 12\)"):
        call({"qpos": trajectory.qpos[..., :11]})
    with pytest.raises(mjx.InputError, match="has none of time, qpos"):
        call({})
    with pytest.raises(mjx.InputError, match=r"same axes: time \(3, 4\), qpos \(4, 12\)"):
        call({"time": trajectory.time, "qpos": trajectory.qpos[0]})
    package = {"to_xarray": "xarray", "save_parquet": "pyarrow"}[function]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(mjx.UnsupportedError, match=f"pip install {package}"):
        call(trajectory)
