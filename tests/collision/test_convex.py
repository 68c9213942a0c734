"""All convex types against each other in one model: points, order and derivatives, at MuJoCo's own tolerance."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.types.model import Model
from tests.collision import scene

TENT = "0 0 .12  .1 0 -.06  -.05 .09 -.06  -.05 -.09 -.06  -.04 0 .1"
SLAB = "-.1 -.07 -.05 .1 -.07 -.05 -.1 .07 -.05 .1 .07 -.05 -.1 -.07 .05 .1 -.07 .05 -.1 .07 .05 .1 .07 .05"
GEOMS = {
    kind: f'type="{kind}" size="{scene.SIZES[kind]}"' for kind in ("sphere", "capsule", "ellipsoid", "cylinder", "box")
}
GEOMS |= {"tent": 'type="mesh" mesh="tent"', "slab": 'type="mesh" mesh="slab"'}


@functools.cache
def _models(margin: float = 0.0):
    bodies = "".join(f'<body><freejoint/><geom name="{k}" {g} mass="1"/></body>' for k, g in GEOMS.items())
    xml = f"""
    <mujoco>
      <asset><mesh name="tent" vertex="{TENT}"/><mesh name="slab" vertex="{SLAB}"/></asset>
      <default><geom margin="{margin}"/></default>
      <worldbody><geom name="floor" type="plane" size="1 1 1"/>{bodies}</worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj, nconmax=100)


def _poses(mj, count: int):
    """Return MuJoCo's data of poses of all bodies near one place: tilted at random, a little, or not at all."""
    rng, out = np.random.default_rng(4), []
    for k in range(count):
        data, tilt = mujoco.MjData(mj), (None, 0.02, 0.0)[k % 3]
        for body in range(len(GEOMS)):
            quat = rng.normal(size=4) if tilt is None else np.append(1, 0.5 * tilt * rng.normal(size=3))
            data.qpos[7 * body : 7 * body + 3] = rng.uniform(-0.13, 0.13, size=3) + [0, 0, 0.1]
            data.qpos[7 * body + 3 : 7 * body + 7] = quat / np.linalg.norm(quat)
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_collision(mj, data)
        out.append(data)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_all_pairs_equal_oracle(margin):
    """But for pairs whose contacts in MuJoCo itself change when poses move by 1e-13."""
    mj, m = _models(margin)
    reference = _poses(mj, 24)
    data = scene.ours(m, reference)
    contact = jax.tree.map(np.asarray, data.contact)
    several = total = turned = 0
    qpos = np.array([d.qpos for d in reference])
    for k, (theirs, ties) in enumerate(zip(reference, scene.ties(mj, qpos, reference, 1e-13, 60), strict=True)):
        mine = scene.by_pair(jax.tree.map(lambda x, k=k: x[k], contact), int(data.ncon[k]))
        other = scene.by_pair(theirs.contact, theirs.ncon)
        wrong = scene.differ(mine, other, 1e-6) - ties
        assert not wrong, (k, wrong, ties)
        assert {p: len(v) for p, v in mine.items()} == {p: len(v) for p, v in other.items()}, k
        total, turned = total + len(other), turned + len(ties)
        several += sum(len(rows) > 1 for rows in other.values())
    assert total > 200 and several > 60 and turned <= 0.15 * total, (several, turned, total)


def _apart(mj, near: dict[str, np.ndarray]) -> mujoco.MjData:
    """Return MuJoCo's data with some geoms at given poses, the others far from everything."""
    data = mujoco.MjData(mj)
    for body, kind in enumerate(GEOMS):
        data.qpos[7 * body : 7 * body + 7] = near.get(kind, [100 + 10 * body, 0, 50, 1, 0, 0, 0])
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_collision(mj, data)
    return data


@pytest.mark.slow
def test_faces_and_edges_that_nearly_match():
    """Deep poses, where an edge of either geom lies on a face of the other, and tilts between the two limits of angle.

    Faces meet up to an angle of cosine 0.996, an edge and a face up to one of sine 0.0888.
    """
    mj, m = _models()
    rng, reference = np.random.default_rng(7), []
    for first in ("box", "slab") * 15:
        quat = rng.normal(size=(2, 4)) / np.sqrt(4)
        near = [np.append(0.04 * side * rng.normal(size=3) + [0, 0, 5], quat[side]) for side in (0, 1)]
        reference.append(_apart(mj, dict(zip((first, "tent"), near, strict=True))))
    for tilt in (0.0887, 0.0892, 0.0896):
        lying = np.array([0, 0, 5.05 + 0.13 - 0.02, np.cos(tilt / 2), np.sin(tilt / 2), 0, 0])
        reference.append(_apart(mj, {"slab": [0, 0, 5, 1, 0, 0, 0], "box": lying}))
    counts = [d.ncon for d in reference]
    assert 2 in counts[:-3] and counts[-3:] == [4, 4, 2]
    data = scene.ours(m, reference)
    contact = jax.tree.map(np.asarray, data.contact)
    for k, theirs in enumerate(reference):
        mine = scene.by_pair(jax.tree.map(lambda x, k=k: x[k], contact), int(data.ncon[k]))
        other = scene.by_pair(theirs.contact, theirs.ncon)
        assert {p: len(v) for p, v in mine.items()} == {p: len(v) for p, v in other.items()}, k
        for pair in other:  # two ends of an edge are at times found in the other order
            a, b = (x[np.lexsort(x[:, 1:4].round(6).T)] for x in (mine[pair], other[pair]))
            np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.slow
def test_a_cap_on_a_face_within_the_tolerance_of_the_search():
    """GJK ends with a triangle 5e-7 m from the origin; both pyramids around it may leave the origin out."""
    mj, m = scene.model("cylinder", "box", sizes=(".0425 .00825", ".178 .0045 .025"))
    cap = [0.20268, -0.14912537625575112, -0.008145648204815871, 0.7372929982101364, 0.6755731157989547, 0, 0]
    face = [0, -0.16182685861486035, -0.007034412009744187, 0.9990482207661688, -0.04361940604767936, 0, 0]
    moves = np.random.default_rng(0).normal(size=(40, 14))
    reference = scene.oracle(mj, np.array(cap + face) + 1e-10 * moves)
    assert all(d.ncon > 1 and d.contact.dist.min() > -1.2e-6 for d in reference)
    found = scene.compare(scene.ours(m, reference), reference, ordered=False)
    assert not found["wrong"] and found["dist"] < 1e-9 and found["pos"] < 1e-6 and found["frame"] < 1e-6


def test_a_face_that_the_third_of_its_corners_does_not_tell():
    """Where two corners share three faces, MuJoCo looks for that of three corners in the first two, and may find none.

    The first four corners are those of a flat tip: two of its faces count as one, with the corners at both ends of a
    side of the third.
    """
    tip = ".1 0 .05  -.1 0 .05  0 -.17 .05  0 -.02 .05002  0 .1 0  0 -.03 -.1"
    mj = mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <asset><mesh name="tip" vertex="{tip}"/></asset>
      <worldbody>
        <body><freejoint/><geom type="mesh" mesh="tip" mass="1"/></body>
        <body><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
      </worldbody>
    </mujoco>""")
    faces = [set(mj.mesh_polymap[k : k + n]) for k, n in zip(mj.mesh_polymapadr, mj.mesh_polymapnum, strict=True)]
    assert len(faces[0] & faces[1]) == 3
    pose = [0, 0, 0, 1, 0, 0, 0, -0.008, -0.012, 0.074, -0.047, 0.007, 0.266, 0.963]
    reference = scene.oracle(mj, pose + np.random.default_rng(0).uniform(-5e-4, 5e-4, (20, 14)))
    assert all(d.ncon == 1 for d in reference)
    found = scene.compare(scene.ours(put_model(mj), reference), reference)
    assert not found["wrong"] and max(found["dist"], found["pos"], found["frame"]) < 1e-12


@pytest.mark.slow
def test_derivative_equals_differences():
    """Distance to first order everywhere; position and normal of single points by the search at a fine tolerance."""
    mj, _ = _models()
    mj.opt.ccd_tolerance, mj.opt.ccd_iterations = 1e-12, 60
    m = put_model(mj, nconmax=100)
    data = _poses(mj, 1)[0]
    d = make_data(m)
    xpos, xmat = jnp.array(data.geom_xpos), jnp.array(data.geom_xmat.reshape(-1, 3, 3))
    move = jnp.array(np.random.default_rng(0).normal(size=xpos.shape))

    def contacts(s):
        out = collision(m, d.replace(geom_xpos=xpos + s * move, geom_xmat=xmat))
        return jnp.concatenate([out.contact.dist[:, None], out.contact.frame[:, 0]], axis=1), out.ncon

    h = 1e-5
    value, tangent = jax.jit(lambda s: jax.jvp(lambda s: contacts(s)[0], (s,), (1.0,)))(0.0)
    high, low = (jax.jit(contacts)(s) for s in (h, -h))
    assert high[1] == low[1] and high[1] > 8
    difference = (high[0] - low[0]) / (2 * h)
    bend = np.abs(high[0] + low[0] - 2 * value).max(axis=1)
    smooth = (np.arange(100) < int(high[1])) & (bend < 1e-6)
    assert smooth.sum() > 6 and np.isfinite(tangent).all()
    np.testing.assert_allclose(tangent[smooth, 0], difference[smooth, 0], atol=1e-4)
    assert np.median(np.abs(tangent - difference)[smooth]) < 1e-3

    reverse = jax.jit(jax.grad(lambda s: jnp.sum(contacts(s)[0] * jnp.cos(jnp.arange(4.0)))))(0.0)
    np.testing.assert_allclose(reverse, jnp.sum(tangent * jnp.cos(jnp.arange(4.0))), rtol=1e-9)


def test_tables_hold_the_meshes_that_can_touch_alone():
    points = "0 0 0  1 0 0  0 1 0  0 0 1"
    seen = "0 0 0  2 0 0  0 2 0  0 0 2  2 2 2"
    m = Model.from_xml_string(f"""
    <mujoco>
      <asset><mesh name="seen" vertex="{seen}"/><mesh name="touched" vertex="{points}"/></asset>
      <worldbody>
        <geom type="mesh" mesh="seen" contype="0" conaffinity="0"/>
        <geom type="box" size="1 1 1"/>
        <body pos="0 0 1"><freejoint/><geom type="mesh" mesh="touched"/></body>
      </worldbody>
    </mujoco>""")
    solid = m.plans.collision.convex.solid
    np.testing.assert_array_equal(solid.vertex, [5, 6, 7, 8])
    np.testing.assert_array_equal(m.mesh_vert[solid.hull.ravel()], m.mesh_vert[5:])
    assert solid.polygon.size == 4 and solid.face_size.size == 4 + 6 + 2
    assert solid.face_corner.max() == 4 + 8 + 2 * 16 - 1
