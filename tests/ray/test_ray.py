"""Rays against MuJoCo's, over all primitive shapes."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import UnsupportedError
from mjx_like.geometry.ray import RAY
from mjx_like.interop import put_model
from mjx_like.ray.stage import ray
from mjx_like.state import make_data
from tests.oracle import TIGHT, error, load

COUNT = 1000

SCENE = """
<mujoco>
  <asset><material name="glass" rgba="1 1 1 0"/><material name="wood" rgba="1 1 1 1"/></asset>
  <option><flag contact="disable"/></option>
  <worldbody>
    <geom type="plane" size="2 2 .1" group="1"/>
    <body name="ball" pos="0 0 1"><freejoint/><geom size=".3"/><geom type="capsule" size=".1 .3" pos=".8 0 0"/></body>
    <body pos="1 1 1"><joint axis="1 1 0"/><geom type="box" size=".2 .3 .4" group="2"/>
      <geom type="cylinder" size=".2 .4" pos="-1 0 0" quat="1 1 0 0" material="wood"/></body>
    <body name="ghost" pos="0 0 2"><geom size=".4" rgba="1 1 1 0"/><geom size=".3" material="glass"/></body>
    <body pos="-1 0 1"><geom type="ellipsoid" size=".2 .3 .4" euler="30 20 10"/></body>
  </worldbody>
</mujoco>
"""


def _rays(seed: int, aimed: int = 300):
    rng = np.random.default_rng(seed)
    point, vector = rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 3))
    vector[:aimed] = np.eye(3)[rng.integers(0, 3, aimed)] * rng.choice([-1, 1], (aimed, 1))
    return point, vector, rng


@pytest.mark.parametrize("kind", RAY, ids=lambda kind: kind.name)
def test_shape_equals_oracle_with_finite_gradient(kind):
    point, vector, rng = _rays(int(kind))
    size = rng.uniform(0.2, 1, (COUNT, 3)) * (rng.uniform(size=(COUNT, 1)) < 0.7 if kind == 0 else 1)
    dist, normal = jax.jit(RAY[kind])(point, vector, size)
    expected, outward = np.zeros(COUNT), np.zeros((COUNT, 3))
    for i in range(COUNT):
        expected[i] = mujoco.mju_rayGeom(
            np.zeros(3), np.eye(3).ravel(), size[i], point[i], vector[i], int(kind), outward[i]
        )
    hit = expected >= 0
    assert hit.sum() > 50 and not hit.all()
    assert error(dist, expected) < TIGHT
    assert error(np.asarray(normal)[hit], outward[hit]) < TIGHT

    def total(point, vector, size):
        return jnp.sum(RAY[kind](point, vector, size)[0])

    gradients = jax.jit(jax.grad(total, argnums=(0, 1, 2)))(point, vector, size)
    assert all(np.isfinite(g).all() for g in gradients)
    step = 1e-6 * rng.normal(size=(COUNT, 3))
    ahead, behind = RAY[kind](point + step, vector, size)[0], RAY[kind](point - step, vector, size)[0]
    smooth = np.asarray(hit & (ahead >= 0) & (behind >= 0) & (np.abs(ahead - behind) < 1e-4))
    change = np.sum(np.asarray(gradients[0]) * step, axis=1)
    assert smooth.sum() > 50
    assert error(2e6 * change[smooth], 1e6 * np.asarray(ahead - behind)[smooth]) < 1e-4


@pytest.mark.parametrize("group, static, body", [((), True, -1), ((1, 0, 1, 1, 1, 1), True, 1), ((), False, 2)])
def test_ray_equals_oracle(group, static, body):
    mj, m = load(SCENE)
    data = mujoco.MjData(mj)
    data.qpos[:] += 0.1
    mujoco.mj_forward(mj, data)
    d = make_data(m).replace(
        geom_xpos=jnp.asarray(data.geom_xpos), geom_xmat=jnp.asarray(data.geom_xmat.reshape(-1, 3, 3))
    )
    point, vector, _ = _rays(7)
    point[:, 2] += 1
    cast = jax.jit(jax.vmap(lambda p, v: ray(m, d, p, v, group, static, body)))
    dist, geomid = cast(point, vector)
    mask = np.array(group, np.uint8) if group else None
    found = np.zeros(1, np.int32)
    for i in range(0, COUNT, 5):
        expected = mujoco.mj_ray(mj, data, point[i], vector[i], mask, static, body, found)
        assert abs(dist[i] - expected) < TIGHT * (1 + abs(expected))
        assert geomid[i] == found[0]
    assert len(np.unique(geomid)) >= 3


def test_unbuilt_type_is_named():
    mj = mujoco.MjModel.from_xml_string("""
      <mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>
        <worldbody><geom name="ground" type="hfield" hfield="hills" contype="0"/></worldbody></mujoco>""")
    m = put_model(mj)
    with pytest.raises(UnsupportedError, match="geom ground: type hfield is not built yet"):
        ray(m, make_data(m), jnp.zeros(3), jnp.ones(3))
