"""Rays against meshes of many triangles, searched in a tree: against all triangles, and against MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.compiler.mesh.curve import along_curve
from mjx_like.geometry.triangle_tree import LEAF, boxes, make_tree
from mjx_like.ray import surface
from tests.support.oracle import TIGHT, error


def _mesh(name: str, subdivisions: int, seed: int) -> str:
    ball = trimesh.creation.icosphere(subdivisions)
    bumps = 1 + 0.3 * np.random.default_rng(seed).random((len(ball.vertices), 1))
    vertex, face = (" ".join(map(str, np.ravel(x))) for x in (ball.vertices * bumps, ball.faces))
    return f'<mesh name="{name}" inertia="shell" vertex="{vertex}" face="{face}"/>'


XML = f"""
<mujoco>
  <asset>{_mesh("large", 3, 0)}{_mesh("small", 1, 1)}
    <mesh name="tip" inertia="shell" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <geom name="large" type="mesh" mesh="large" pos="0 0 1" euler="10 20 30"/>
    <body pos="2.5 0 0"><freejoint/><geom name="small" type="mesh" mesh="small" group="1"/></body>
    <body pos="0 3 0" euler="40 0 0"><freejoint/><geom name="again" type="mesh" mesh="large"/></body>
    <geom name="tip" type="mesh" mesh="tip" pos="-3 0 0"/>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def scene():
    mj = mujoco.MjModel.from_xml_string(XML)
    d = mujoco.MjData(mj)
    mujoco.mj_forward(mj, d)
    m = mjx.Model.from_xml_string(XML)
    return mj, d, m, jax.jit(mjx.kinematics)(m, mjx.make_data(m))


def test_rays_meet_the_only_mesh_of_a_model():
    xml = (
        f'<mujoco><asset>{_mesh("large", 2, 0)}</asset><worldbody><geom type="mesh" mesh="large"/></worldbody></mujoco>'
    )
    mj, m = mujoco.MjModel.from_xml_string(xml), mjx.Model.from_xml_string(xml)
    assert m.mesh_facenum.sum() > surface._MOST_TRIED
    mj_data, d = mujoco.MjData(mj), jax.jit(mjx.kinematics)(m, mjx.make_data(m))
    mujoco.mj_forward(mj, mj_data)
    start, _ = _rays(4)
    dist, _ = jax.jit(jax.vmap(lambda p, v: mjx.ray(m, d, p, v)))(start, -start)
    expected = [mujoco.mj_ray(mj, mj_data, p, -p, None, 1, -1, np.zeros(1, np.int32)) for p in start]
    assert min(expected) > 0 and error(dist, np.array(expected)) < TIGHT


def _rays(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rays towards the scene from around it, some along axes."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(count, 3))
    start *= 6 / np.linalg.norm(start, axis=1, keepdims=True)
    aim = rng.uniform(-2, 3, size=(count, 3)) - start
    along = np.eye(3)[np.arange(count) % 3] * np.sign(aim)
    return start, np.where((np.arange(count) % 4 == 0)[:, None], along, aim)


def test_rays_equal_those_of_mujoco(scene):
    mj, mj_data, m, d = scene
    assert m.mesh_facenum.sum() > surface._MOST_TRIED
    start, aim = _rays(300)
    dist, geom = jax.jit(jax.vmap(lambda p, v: mjx.ray(m, d, p, v)))(start, aim)
    found = set()
    for i in range(len(start)):
        index = np.zeros(1, np.int32)
        expected = mujoco.mj_ray(mj, mj_data, start[i], aim[i], None, 1, -1, index)
        assert geom[i] == index[0] and error(dist[i], expected) < TIGHT, i
        found.add(int(index[0]))
    assert found == {-1, 0, 1, 2, 3}


def test_normals_and_excluded_geoms_equal_those_of_the_search_of_all(scene, monkeypatch):
    _, _, m, d = scene
    start, aim = np.array([5.0, 0.3, 0.1]), -start_directions()
    results = []
    for most in (surface._MOST_TRIED, 10**6):
        monkeypatch.setattr(surface, "_MOST_TRIED", most)
        results.append(jax.jit(lambda a: mjx.multi_ray(m, d, start, a, geomgroup=(1, 0, 1, 1, 1, 1)))(aim))
    for one, other in zip(*results, strict=True):
        assert error(one, other) < TIGHT
    assert set(np.unique(results[0][1])) >= {-1, 0}


def start_directions() -> np.ndarray:
    return np.array([5.0, 0.3, 0.1]) + np.random.default_rng(2).normal(scale=1.5, size=(200, 3))


def test_derivatives_equal_differences(scene):
    _, _, m, d = scene
    start, aim = _rays(40)

    def far(pose, scale):
        moved = d.replace(geom_xpos=d.geom_xpos + pose)
        shaped = m.replace(mesh_vert=m.mesh_vert * scale)
        dist = jax.vmap(lambda p, v: mjx.ray(shaped, moved, p, v)[0])(start[1::4], aim[1::4])
        return jnp.sum(jnp.where(dist > 0, dist, 0))

    at = (jnp.zeros(3), jnp.ones(()))
    forward, reverse = (jax.jit(kind(far, (0, 1)))(*at) for kind in (jax.jacfwd, jax.grad))
    h = 1e-7
    value = jax.jit(far)
    steps = [(value(at[0] + h * e, at[1]) - value(at[0] - h * e, at[1])) / (2 * h) for e in np.eye(3)]
    steps.append((value(at[0], at[1] + h) - value(at[0], at[1] - h)) / (2 * h))
    for found in (forward, reverse):
        assert error(jnp.concatenate([found[0], found[1][None]]), jnp.stack(steps)) < 1e-6


@pytest.mark.parametrize("counts", [(1,), (2,), (3, 1), (40, 7, 300)])
def test_each_triangle_is_in_a_box_of_its_mesh(counts):
    rng = np.random.default_rng(0)
    corner = rng.normal(size=(sum(counts), 3, 3))
    faces = np.split(np.arange(3 * sum(counts)).reshape(-1, 3), np.cumsum(counts)[:-1])
    tree = make_tree(faces)
    vertex = corner.reshape(-1, 3)
    box = np.asarray(boxes(tree, jnp.asarray(vertex[tree.vertex])))
    for root, face in zip(tree.root, faces, strict=True):
        node, leaves = [int(root)], []
        while node:
            i = node.pop()
            if i < len(tree.used):
                node += [2 * i, 2 * i + 1]
                assert (box[i, :3] <= box[2 * i : 2 * i + 2, :3]).all()
                assert (box[i, 3:] >= box[2 * i : 2 * i + 2, 3:]).all()
            else:
                leaves.append(i - len(tree.used))
        within = tree.vertex.reshape(-1, LEAF, 3)[[i for i in leaves if tree.used[i]]].reshape(-1, 3)
        assert set(map(tuple, within)) == set(map(tuple, face))
        assert (box[root, :3] <= vertex[face].reshape(-1, 3).min(axis=0)).all()


def test_the_curve_keeps_neighbours_near():
    middle = np.stack(np.meshgrid(*3 * [np.arange(8.0)]), axis=-1).reshape(-1, 3)
    vert = np.concatenate([middle + shift for shift in 0.1 * np.eye(3)])
    face = np.arange(len(middle))[:, None] + len(middle) * np.arange(3)
    order = along_curve(vert, face)
    assert sorted(order) == list(range(len(face)))
    assert np.linalg.norm(np.diff(middle[order], axis=0), axis=1).mean() < 2
    assert along_curve(np.zeros((1, 3)), np.zeros((3, 3), int)).tolist() == [0, 1, 2]
