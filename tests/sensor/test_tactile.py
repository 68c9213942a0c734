"""Tactile sensors against MuJoCo: depth and sliding speeds at the vertices of a mesh."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision.driver import collision
from mjx_like.sensor.stage import sensor_vel
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data
from tests.models import HERE
from tests.support.oracle import error

MODEL = HERE / "features" / "sensor_tactile.xml"
OTHERS = {
    "sphere": 'size=".02"',
    "capsule": 'type="capsule" size=".01 .02"',
    "ellipsoid": 'type="ellipsoid" size=".03 .02 .015"',
    "cylinder": 'type="cylinder" size=".02 .01"',
    "box": 'type="box" size=".02 .03 .01"',
    "mesh": 'type="mesh" mesh="ball"',
    "torus": 'type="sdf" mesh="torus"',
}
XML = """
<mujoco>
  {plugin}
  <asset>
    <mesh name="plate" builtin="plate" params="13 11" scale=".04 .04 .005"/>
    <mesh name="ball" builtin="sphere" params="1" scale=".02 .02 .005"/>
    {mesh}
  </asset>
  <worldbody>
    <body name="pad" euler="3 4 5">
      <geom type="box" size=".04 .04 .005" contype="2" conaffinity="1"/>
      <geom name="s" type="mesh" mesh="plate" contype="0" conaffinity="0" pos=".001 .002 .0005" euler="3 4 5"/>
      <geom name="r" type="mesh" mesh="ball" contype="0" conaffinity="0" pos=".001 .002 .005"/>
      <body pos="0 0 .004"><geom type="box" size=".02 .04 .005" contype="2" conaffinity="1"/></body>
    </body>
    {others}
  </worldbody>
  <sensor><tactile geom="s" mesh="plate"/><tactile geom="r" mesh="ball"/><tactile geom="s" mesh="plate" cutoff=".002"/>
  </sensor>
</mujoco>"""

PLUGIN = """<extension><plugin plugin="mujoco.sdf.torus"><instance name="i"><config key="radius1" value=".02"/>
  <config key="radius2" value=".008"/></instance></plugin></extension>"""
USE = '<plugin instance="i"/>'


@functools.cache
def _scene(kinds):
    shape = "torus" in kinds
    fielded = '<geom type="sdf" mesh="ball" contype="0" conaffinity="0"/>' * (kinds == ("mesh",))
    others = fielded + "".join(
        f'<body><freejoint/><geom contype="1" conaffinity="2" {OTHERS[kind]}>{USE * (kind == "torus")}</geom></body>'
        for kind in kinds
    )
    mesh = f'<mesh name="torus">{USE}</mesh>' * shape
    xml = XML.format(others=others, plugin=PLUGIN * shape, mesh=mesh)
    return mujoco.MjModel.from_xml_string(xml), mjx.Model.from_xml_string(xml, dtype=np.float64)


def _sensors(m, qpos, qvel):
    d = make_data(m).replace(qpos=qpos, qvel=qvel)
    for stage in (kinematics, com_pos, collision, com_vel, sensor_vel):
        d = stage(m, d)
    return d.sensordata


def _states(mj, count, first=0):
    """Return states in which bodies lie on the pad, turned at random."""
    rng = np.random.default_rng(0)
    qpos, qvel = np.tile(mj.qpos0, (count, 1)), rng.normal(size=(count, mj.nv))
    for adr in range(first, mj.nq, 7):
        qpos[:, adr : adr + 2] = rng.uniform(-0.02, 0.02, (count, 2))
        qpos[:, adr + 2] = rng.uniform(0.01, 0.025, count)
        quat = rng.normal(size=(count, 4))
        qpos[:, adr + 3 : adr + 7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, qvel


def _reference(mj, qpos, qvel):
    d, rows = mujoco.MjData(mj), []
    for q, v in zip(qpos, qvel, strict=True):
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_forward(mj, d)
        rows.append(d.sensordata.copy())
    return np.array(rows)


@pytest.mark.slow
def test_oracle():
    """All types at once, overlapping one another: a mesh counts for nothing, depths are the largest, speeds sums."""
    mj, m = _scene(tuple(kind for kind in OTHERS if kind != "torus"))
    states = _states(mj, 12)
    expected = _reference(mj, *states)
    found = jax.jit(jax.vmap(functools.partial(_sensors, m)))(*map(jnp.asarray, states))
    count = 13 * 11
    assert (expected[:, :count] > 0).sum() > 100 and (expected[:, count : 3 * count] > 0.1).sum() > 100
    assert expected[:, 3 * count : 3 * count + mj.mesh_vertnum[1]].max() > 1e-3
    assert error(found, expected) < 1e-9


def test_moving_pad_on_a_floor():
    mj = mujoco.MjModel.from_xml_path(str(MODEL))
    m = mjx.Model.from_xml_path(str(MODEL), dtype=np.float64)
    states = _states(mj, 6, first=7)
    expected = _reference(mj, *states)
    found = jax.jit(jax.vmap(functools.partial(_sensors, m)))(*map(jnp.asarray, states))
    count = 13 * 11
    assert expected[:, :count].max() > 0.005 and expected[:, 3 * count : 4 * count].max() == 0.002
    assert error(found, expected) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("torus",), ("mesh",)], ids=" ".join)
def test_signed_distances(kinds):
    """A mesh counts where a geom of type sdf has it too; MuJoCo 4.0.0 ends where that geom itself touches."""
    mj, m = _scene(kinds)
    states = _states(mj, 6)
    expected = _reference(mj, *states)
    found = jax.jit(jax.vmap(functools.partial(_sensors, m)))(*map(jnp.asarray, states))
    assert expected.max() > 1e-3
    assert error(found, expected) < 1e-6


@pytest.mark.slow
def test_gradient():
    """Depth and speed of those that touch, by position and velocity, equal central differences."""
    mj, m = _scene(("sphere",))
    qpos, qvel = (jnp.asarray(x[0]) for x in _states(mj, 1))
    rng, step = np.random.default_rng(1), 1e-7
    dq, dv = (jnp.asarray(rng.normal(size=x.shape)) for x in (qpos, qvel))
    weight = jnp.asarray(rng.normal(size=m.nsensordata))

    def value(q, v):
        return weight @ _sensors(m, q, v)

    slope = jax.jit(lambda q, v: jax.jvp(value, (q, v), (dq, dv))[1])(qpos, qvel)
    run = jax.jit(value)
    difference = (run(qpos + step * dq, qvel + step * dv) - run(qpos - step * dq, qvel - step * dv)) / (2 * step)
    assert abs(difference) > 0.1
    assert error(slope, difference) < 1e-5
    back = jax.jit(jax.grad(value, (0, 1)))(qpos, qvel)
    assert error(back[0] @ dq + back[1] @ dv, slope) < 1e-10
