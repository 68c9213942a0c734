"""Rays against MuJoCo's, over all primitive shapes."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import UnsupportedError
from mjx_like.geometry.ray import RAY
from mjx_like.ray.stage import multi_ray, ray
from mjx_like.state.initial import make_data
from tests.support.oracle import TIGHT, error, load

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


SURFACE = """
<mujoco>
  <option><flag contact="disable"/></option>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 2  .3 .3 .1" refpos="1 0 0"/>
    <mesh name="cube" vertex="-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1" scale=".4 .3 .2"/>
    <hfield name="hills" nrow="3" ncol="6" size="2 1 .5 .3"
      elevation="0 .1 .5 .2 .9 .3  .3 1 .2 .7 .4 .1 .6 .2 .8 .1 .05 .6"/>
    <hfield name="tall" nrow="7" ncol="2" size=".5 1 1 .1" elevation="0 1 2 0 1 3 2 2 1 0 4 1 2 0"/>
  </asset>
  <worldbody>
    <geom name="wedge" type="mesh" mesh="wedge" pos="0 0 2" euler="10 20 30"/>
    <geom type="hfield" hfield="hills" pos="0 0 -1"/>
    <body pos="1 1 1"><freejoint/><geom type="mesh" mesh="cube" group="2"/><geom size=".2" pos=".4 0 0"/></body>
    <geom type="mesh" mesh="wedge" pos="-2 0 0"/><geom type="mesh" mesh="cube" pos="-1 -1 1" rgba="1 1 1 0"/>
    <geom type="hfield" hfield="tall" pos="-2 -1 2" euler="80 0 20" group="1"/>
    <body name="below" pos="0 0 -3"><geom type="plane" size="1 1 1"/></body>
  </worldbody>
</mujoco>
"""


def _placed(xml: str, lift: float = 0.3):
    mj, m = load(xml)
    data = mujoco.MjData(mj)
    data.qpos[:] += lift
    mujoco.mj_forward(mj, data)
    poses = dict(geom_xpos=jnp.asarray(data.geom_xpos), geom_xmat=jnp.asarray(data.geom_xmat.reshape(-1, 3, 3)))
    return mj, m, data, make_data(m).replace(**poses)


def _fan(seed: int, count: int):
    """Return rays of all directions, some along axes, from inside and outside."""
    point, vector, _ = _rays(seed)
    point[:, 0] -= 0.5
    return 1.5 * point[-count:] + np.array([0, 0, 0.5]), np.concatenate([vector[: count // 3], vector[-count:]])[:count]


@pytest.mark.parametrize("group, static, body", [((), True, -1), ((1, 0, 1, 1, 1, 1), True, 2), ((), False, -1)])
def test_surfaces_equal_oracle(group, static, body):
    mj, m, data, d = _placed(SURFACE)
    point, vector = _fan(3, 400)
    dist, geomid = jax.jit(jax.vmap(lambda p, v: ray(m, d, p, v, group, static, body)))(point, vector)
    mask = np.array(group, np.uint8) if group else None
    found, expected, ids = np.zeros(1, np.int32), np.zeros(400), np.zeros(400)
    for i in range(400):
        expected[i] = mujoco.mj_ray(mj, data, point[i], vector[i], mask, static, body, found)
        ids[i] = found[0]
    assert error(dist, expected) < TIGHT
    np.testing.assert_array_equal(geomid, ids)
    assert len(np.unique(geomid)) > (6 if static and not group else 1)


@pytest.mark.parametrize("nrow, ncol, flat", [(40, 25, False), (9, 60, False), (30, 30, True)])
def test_large_height_field_equals_oracle(nrow, ncol, flat):
    rng = np.random.default_rng(2)
    heights = np.zeros(nrow * ncol) if flat else rng.uniform(size=nrow * ncol)
    mj, m, data, d = _placed(f"""
    <mujoco>
      <asset><hfield name="h" nrow="{nrow}" ncol="{ncol}" size="3 2 .6 .2"
        elevation="{" ".join(map(str, heights))}"/></asset>
      <worldbody><geom type="hfield" hfield="h"/></worldbody>
    </mujoco>""")
    point = rng.normal(size=(400, 3)) * np.array([3, 2, 1])
    vector = rng.normal(size=(400, 3)) * rng.choice([1, 1, 0.03, 0], (400, 3))
    vector[:, 2] += (np.abs(vector).sum(axis=1) == 0) - 0.1 * (rng.uniform(size=400) < 0.3)
    point[::7] *= 30
    vector[::7] = -point[::7] + rng.normal(size=vector[::7].shape)  # from afar
    dist = jax.jit(jax.vmap(lambda p, v: ray(m, d, p, v)[0]))(point, vector)
    found, expected = np.zeros(1, np.int32), np.zeros(400)
    for i in range(400):
        expected[i] = mujoco.mj_ray(mj, data, point[i], vector[i], None, True, -1, found)
    assert error(dist, expected) < TIGHT
    assert np.sum(expected > 0) > 80

    def dists(p, heights):
        return jax.vmap(lambda p, v: ray(m.replace(hfield_data=heights), d, p, v)[0])(p, vector)

    step = 1e-7 * rng.normal(size=point.shape), 1e-7 * rng.normal(size=heights.shape) * (not flat)  # base as high
    ahead, behind = (jax.jit(dists)(point + s * step[0], m.hfield_data + s * step[1]) for s in (1, -1))
    smooth = (np.asarray(ahead) > 0) & (np.abs(ahead - behind) < 1e-5)
    assert np.sum(smooth) > 60
    slopes = jax.jit(jax.grad(lambda *x: jnp.sum(dists(*x)[smooth]), (0, 1)))(point, m.hfield_data)
    change = sum(np.sum(x * y) for x, y in zip(slopes, step, strict=True))
    assert error(1e7 * change, 5e6 * np.sum((ahead - behind)[smooth])) < 1e-4


@pytest.mark.parametrize("cutoff", [1e10, 1.5])
def test_multi_ray_equals_oracle_with_normals(cutoff):
    mj, m, data, d = _placed(SURFACE)
    _, vector = _fan(3, 400)
    cast = jax.jit(lambda p: multi_ray(m, d, p, vector, cutoff=cutoff))
    seen = set()
    for point in ([0.1, 0.2, 0.7], [-1.5, -0.9, 1.3], [0.3, 0.1, -0.6], [0, 0, -2.0]):
        dist, geomid, normal = (np.zeros(400), np.zeros(400, np.int32), np.zeros((400, 3)))
        mujoco.mj_multiRay(mj, data, point, vector.ravel(), None, True, -1, geomid, dist, normal.ravel(), 400, cutoff)
        ours = cast(jnp.array(point))
        assert error(ours[0], dist) < TIGHT
        np.testing.assert_array_equal(ours[1], geomid)
        seen |= set(geomid.tolist())
        for i in range(0, 400, 7):
            outward = np.zeros(3)
            if geomid[i] >= 0:
                mujoco.mj_ray(mj, data, point, vector[i], None, True, -1, np.zeros(1, np.int32), outward)
                assert error(ours[2][i], outward) < TIGHT
    assert len(seen) > (6 if cutoff > 100 else 3)


@pytest.mark.slow
def test_surface_gradients_equal_differences():
    _, m, _, d = _placed(SURFACE)
    point, vector = map(jnp.asarray, _fan(5, 300))
    rng = np.random.default_rng(0)
    names = ("mesh_vert", "hfield_data", "hfield_size")
    move = {name: jnp.asarray(rng.normal(size=getattr(m, name).shape)) for name in names}
    shift, turn, aim = (jnp.asarray(rng.normal(size=x.shape)) for x in (d.geom_xpos, point, vector))
    weight = jnp.asarray(rng.normal(size=300))

    def total(scale):
        model = m.replace(**{name: getattr(m, name) + scale * move[name] for name in names})
        data = d.replace(geom_xpos=d.geom_xpos + scale * shift)
        dist, _ = jax.vmap(lambda p, v: ray(model, data, p, v))(point + scale * turn, vector + scale * aim)
        return dist

    both = jax.jit(lambda scale: jax.jvp(total, (scale,), (1.0,)))
    middle, slope = both(0.0)
    change = (both(1e-6)[0] - both(-1e-6)[0]) / 2e-6
    smooth = np.abs(change) < 1e3
    assert smooth.mean() > 0.95 and (np.asarray(middle) >= 0).mean() > 0.2
    assert error(slope[smooth], change[smooth]) < 1e-6
    backward = jax.jit(jax.grad(lambda s: jnp.sum(jnp.where(smooth, weight * total(s), 0))))(0.0)
    assert error(backward, jnp.sum(jnp.where(smooth, weight * slope, 0))) < 1e-10


def test_unbuilt_type_is_named():
    """A mesh made by a plugin has no distances of its own."""
    m = mjx.Model.from_xml_string("""
      <mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="i"/></plugin></extension>
        <asset><mesh name="ring"><plugin instance="i"/></mesh></asset>
        <worldbody><geom name="ground" type="sdf" mesh="ring" contype="0"/></worldbody></mujoco>""")
    with pytest.raises(UnsupportedError, match="geom ground: type sdf is not built yet"):
        ray(m, make_data(m), jnp.zeros(3), jnp.ones(3))


FIELD = """
<mujoco>
  <extension>
    <plugin plugin="mujoco.sdf.torus">
      <instance name="i"><config key="radius1" value=".3"/><config key="radius2" value=".12"/></instance>
    </plugin>
  </extension>
  <asset><mesh name="m"><plugin instance="i"/></mesh></asset>
  <worldbody>
    <body pos=".1 .2 .3" euler="10 20 30"><geom type="sdf" mesh="m"><plugin instance="i"/></geom></body>
    <geom size=".1" pos="0 0 1"/>
  </worldbody>
</mujoco>"""


@pytest.mark.slow
def test_rays_against_a_signed_distance_field_equal_oracle_and_differences():
    mj, m = mujoco.MjModel.from_xml_string(FIELD), mjx.Model.from_xml_string(FIELD)
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    d = make_data(m).replace(
        geom_xpos=jnp.asarray(data.geom_xpos), geom_xmat=jnp.asarray(data.geom_xmat.reshape(-1, 3, 3))
    )
    rng = np.random.default_rng(5)
    vector = rng.normal(size=(800, 3))
    point = data.geom_xpos[0] - vector * rng.uniform(0, 1, (800, 1)) + 0.2 * rng.normal(size=(800, 3))
    move = jnp.asarray(rng.normal(size=3))

    def cast(s, p, v):
        model = m.replace(sdf_param=m.sdf_param * (1 + 0.1 * s))
        return ray(model, d.replace(geom_xpos=d.geom_xpos + s * move), p, v)

    both = jax.jit(
        jax.vmap(lambda p, v, s: (cast(s, p, v), jax.jacfwd(lambda s: cast(s, p, v)[0])(s)), in_axes=(0, 0, None))
    )
    ((dist, geomid), slope), ((high, _), _), ((low, _), _) = (both(point, vector, s) for s in (0.0, 1e-4, -1e-4))
    outward = jax.jit(jax.vmap(lambda p, v: multi_ray(m, d, p, v[None])[2][0]))(point, vector)
    found, normal, fields = np.zeros(1, np.int32), np.zeros(3), 0
    for i in range(len(point)):
        expected = mujoco.mj_ray(mj, data, point[i], vector[i], None, True, -1, found, normal)
        assert geomid[i] == found[0] and abs(dist[i] - expected) < 1e-9, (i, dist[i], expected)
        assert expected < 0 or np.abs(outward[i] - normal).max() < 1e-7, i
        if geomid[i] == 1:
            smooth = abs(high[i] + low[i] - 2 * dist[i]) < 1e-5 and min(high[i], low[i]) >= 0
            fields += smooth
            assert not smooth or abs(slope[i] - (high[i] - low[i]) / 2e-4) < 1e-2 * (1 + abs(slope[i])), i
    assert fields > 50 and np.isfinite(slope).all(), fields
