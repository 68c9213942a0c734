"""Geoms against signed distance fields of meshes, in both engines."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.collision.distance import distances
from mjx_like.collision.driver import collision
from mjx_like.state.initial import make_data
from tests.collision import scene
from tests.compiler.test_mesh_field import BALL, mesh_xml

RING = trimesh.creation.annulus(0.15, 0.3, 0.2, sections=20)
BLOCK = trimesh.creation.box((0.4, 0.3, 0.5))
ASSETS = mesh_xml("ring", RING.vertices, RING.faces) + mesh_xml("block", BLOCK.vertices, BLOCK.faces)
ASSETS += mesh_xml("ball", 0.5 * BALL.vertices * [1, 0.8, 0.6], BALL.faces)
FREE = "<body><freejoint/><geom {}/></body>"
OTHERS = {
    "primitive": ['size=".15"', 'type="capsule" size=".1 .2"', 'type="ellipsoid" size=".15 .2 .12"'],
    "cylinder": ['type="cylinder" size=".12 .15"'],
    "sdf": ['type="sdf" mesh="ball"', 'type="sdf" mesh="ring"'],
    "mesh": ['type="mesh" mesh="block"', 'type="mesh" mesh="ball"'],
}
COUNT = 24


@functools.cache
def _scene(kind: str):
    """Return both models, poses, and MuJoCo's contacts, of a fixed ring and others that touch only it."""
    xml = f"""
    <mujoco>
      <option sdf_initpoints="20" sdf_iterations="8"/>
      <asset>{ASSETS}</asset>
      <default><geom contype="0" mass="1"/></default>
      <worldbody>
        <body pos=".1 .2 .3" euler="10 20 30"><geom type="sdf" mesh="ring" contype="1" conaffinity="0"/></body>
        {"".join(FREE.format(other) for other in OTHERS[kind])}
      </worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    qpos = scene.poses(mj, COUNT, seed=1, reach=0.45)
    qpos.reshape(COUNT, -1, 7)[..., :3] += [0.1, 0.2, 0.3]
    return mj, mjx.Model.from_xml_string(xml, nconmax=150), qpos, scene.oracle(mj, qpos)


def _compare(kind: str, limit: float) -> tuple[int, int, float]:
    """Return how many contacts and pairs there are, and the largest difference where MuJoCo's own contacts stay."""
    mj, m, qpos, reference = _scene(kind)
    data = jax.tree.map(np.asarray, scene.ours(m, reference, scene.optimised))
    tied, pairs, worst = scene.ties(mj, qpos, reference, 1e-14), 0, 0.0
    for k, theirs in enumerate(reference):
        one = scene.by_pair(theirs.contact, theirs.ncon)
        mine = scene.by_pair(jax.tree.map(lambda x, k=k: x[k], data.contact), int(data.ncon[k]))
        free = [pair for pair in set(one) | set(mine) if pair not in tied[k]]
        assert not {pair for pair in scene.differ(one, mine, limit) if pair in free}, k
        pairs += len(free)
        worst = max([worst, *(np.abs(one[pair] - mine[pair]).max() for pair in free)])
    return sum(d.ncon for d in reference), pairs, worst


@pytest.mark.slow
def test_meshes_equal_oracle():
    contacts, pairs, worst = _compare("mesh", 1e-9)
    assert contacts > 200 and pairs > 40 and worst < 1e-11, (contacts, pairs, worst)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["primitive", "cylinder", "sdf"])
def test_contacts_equal_oracle(kind):
    """Outside a field's box its gradient is a difference in MuJoCo: searches from there end up to 1e-5 off."""
    contacts, pairs, _ = _compare(kind, 1e-5)
    assert contacts > 200 and pairs > 10, (contacts, pairs)


@pytest.mark.slow
def test_points_of_meshes_stay_in_the_mesh_and_follow_the_field():
    """Where they lie in their triangles is a choice of corners, so that differences of the whole search agree."""
    _, m, _, reference = _scene("mesh")
    d, data = make_data(m), max(reference, key=lambda r: r.ncon)
    rng = np.random.default_rng(0)
    turn, shift = (jnp.asarray(rng.normal(size=(m.ngeom, 3))) for _ in range(2))
    value = jnp.asarray(rng.normal(size=m.sdf_value.shape))
    xpos, xmat = jnp.array(data.geom_xpos), jnp.array(data.geom_xmat.reshape(-1, 3, 3))

    def found(s):
        axis = jnp.linalg.norm(turn, axis=1)[:, None, None] * s
        cross = jnp.cross(jnp.eye(3), turn[:, None] / jnp.linalg.norm(turn, axis=1)[:, None, None])
        rotation = jnp.eye(3) + jnp.sin(axis) * cross + (1 - jnp.cos(axis)) * cross @ cross
        model = m.replace(sdf_value=m.sdf_value + 0.1 * s * value, mesh_vert=m.mesh_vert * (1 + 0.3 * s))
        c = collision(model, d.replace(geom_xpos=xpos + s * shift, geom_xmat=rotation @ xmat)).contact
        return c.dist, c.pos, c.frame[:, 0]

    both = jax.jit(lambda s: jax.jvp(found, (s,), (1.0,)), compiler_options=scene.OPTIMISED)
    exact, high, low = both(0.0)[1], both(1e-6)[0], both(-1e-6)[0]
    ncon, agreed = data.ncon, 0
    for slope, a, b in zip(exact, high, low, strict=True):
        change = (a - b)[:ncon] / 2e-6
        miss = np.abs(slope[:ncon] - change).reshape(ncon, -1).max(axis=1) / (1 + np.abs(change).max())
        agreed += int((miss < 1e-6).sum())
    assert agreed > 0.9 * 3 * ncon > 15, (agreed, ncon)
    backward = jax.jit(
        jax.grad(lambda s: sum(jnp.sum(x[:ncon] * (1 + i)) for i, x in enumerate(found(s)))),
        compiler_options=scene.OPTIMISED,
    )(0.0)
    forward = sum(jnp.sum(x[:ncon] * (1 + i)) for i, x in enumerate(exact))
    assert abs(backward - forward) < 1e-9 * (1 + abs(forward))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mesh", "sdf"])
def test_distances_equal_oracle(kind):
    mj, m, qpos, reference = _scene(kind)
    pair = np.array([(1, 0), (2, 0)] if kind == "mesh" else [(0, 1), (0, 2)])  # as contacts have them
    d, rest = make_data(m), jnp.full(len(pair), 1.0)
    found = jax.jit(
        jax.vmap(lambda p, r: distances(m, d.replace(geom_xpos=p, geom_xmat=r), pair, rest)[0]),
        compiler_options=scene.OPTIMISED,
    )(jnp.array([r.geom_xpos for r in reference]), jnp.array([r.geom_xmat.reshape(-1, 3, 3) for r in reference]))
    tied, deep = scene.ties(mj, qpos, reference, 1e-14), 0
    for k, data in enumerate(reference):
        for i, ids in enumerate(pair):
            expected = mujoco.mj_geomDistance(mj, data, *ids, 1.0, np.zeros(6))
            deep += expected < 0
            if tuple(ids) not in tied[k]:
                assert abs(min(found[k, i], 1) - expected) < (1e-9 if kind == "mesh" else 1e-5), (k, i)
    assert deep > 20


def test_field_without_distances_is_named():
    """A mesh made by a plugin has none for a geom that does not use the plugin."""
    m = mjx.Model.from_xml_string("""
      <mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="i"/></plugin></extension>
        <asset><mesh name="ring"><plugin instance="i"/></mesh></asset>
        <worldbody><body name="a"><freejoint/><geom name="own" type="sdf" mesh="ring"/></body>
          <geom name="ball" size=".1"/></worldbody></mujoco>""")
    with pytest.raises(mjx.UnsupportedError, match="collision sphere-sdf is not built yet.*own"):
        mjx.make_data(m)
    with pytest.raises(mjx.UnsupportedError, match="distance sphere-sdf is not built yet"):  # before it reads Data
        mjx.geom_distance(m, None, 0, 1, 1.0)
