"""Contacts before an impact (flag speculative), against MuJoCo's."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.forward import forward
from mjx_like.interop.convert import put_model
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data

TENT = "0 0 .18  .15 0 -.09  -.07 .13 -.09  -.07 -.13 -.09  -.06 0 .15"
SHAPES = {
    "sphere": 'type="sphere" size=".1"', "capsule": 'type="capsule" size=".06 .13"',
    "ellipsoid": 'type="ellipsoid" size=".07 .1 .14"', "cylinder": 'type="cylinder" size=".09 .12"',
    "box": 'type="box" size=".07 .1 .13"', "mesh": 'type="mesh" mesh="tent"', "plane": 'type="plane" size="1 1 1"',
    "table": 'type="box" size=".6 .6 .01"',
}  # fmt: skip
TIMESTEP = 0.01


def _model(first, second, geom="", more="", option=""):
    still = first in ("plane", "table")
    xml = f"""
    <mujoco>
      <option timestep="{TIMESTEP}" {option}><flag speculative="enable"/></option>
      <asset><mesh name="tent" vertex="{TENT}"/></asset>
      <default><geom {geom} mass="1"/></default>
      <worldbody>
        <body>{"" if still else "<freejoint/>"}<geom name="a" {SHAPES[first]}/></body>
        <body><freejoint/><geom name="b" {SHAPES[second]}/></body>{more}
      </worldbody>
    </mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def _states(mj, count, seed=0):
    """Return poses half a metre apart, flat on each other or not, and velocities that close in."""
    rng, poses, speeds = np.random.default_rng(seed), [], []
    for k in range(count):
        qpos, qvel = np.zeros(mj.nq), rng.normal(size=mj.nv) * (10 if k % 2 else 2)
        for i in range(mj.nq // 7):
            quat = rng.normal(size=4) if k % 2 else np.append(1, 0.02 * rng.normal(size=3))
            qpos[7 * i + 3 : 7 * i + 7] = quat / np.linalg.norm(quat)
        qpos[-7:-4] = 0.05 * rng.normal(size=3) + np.array([0, 0, 0.45])
        qvel[-6:-3] = rng.normal(size=3) + np.array([0, 0, -60 * rng.uniform(0.2, 1)])
        poses.append(qpos), speeds.append(qvel)
    return np.array(poses), np.array(speeds)


def _oracle(mj, qpos, qvel):
    out = []
    for q, v in zip(qpos, qvel, strict=True):
        data = mujoco.MjData(mj)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(mj, data)
        out.append(data)
    return out


def _detected(m, d, qpos, qvel):
    return collision(m, com_pos(m, kinematics(m, d.replace(qpos=qpos, qvel=qvel))))


def _area(points, normal):
    """Return the area of a convex polygon seen along its normal, corners in any order."""
    frame = np.linalg.svd(np.outer(normal, normal))[0][:, 1:]
    flat = (points - points.mean(axis=0)) @ frame
    x, y = flat[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))].T
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _changes(mj, qpos, qvel, data) -> dict[str, float]:
    """Return by how much MuJoCo's own contacts change when the pose moves by 1e-14."""
    rng, most = np.random.default_rng(0), dict.fromkeys(("dist", "pos", "frame"), 0.0)
    moved = qpos + 1e-14 * rng.uniform(-1, 1, (40, qpos.size))
    for other in _oracle(mj, moved, np.tile(qvel, (40, 1))):
        for name in most:
            a, b = getattr(other.contact, name), getattr(data.contact, name)
            most[name] = max(most[name], np.abs(a - b).max(initial=0)) if a.shape == b.shape else np.inf
    return most


def _compare(first, second, limits, geom="", more="", option="", count=30, least=8):
    mj = _model(first, second, geom, more, option)
    m = put_model(mj)
    assert not m.unsupported
    qpos, qvel = _states(mj, count)
    d = make_data(m)
    ours = jax.tree.map(np.asarray, jax.jit(jax.vmap(lambda q, v: _detected(m, d, q, v)))(qpos, qvel))
    early, several, tied = 0, 0, set()
    for k, data in enumerate(_oracle(mj, qpos, qvel)):
        assert ours.ncon[k] == data.ncon, k
        n = data.ncon
        # which corner of a polygon comes first is a matter of rounding
        rows = [int(np.abs(ours.contact.pos[k, :n] - p).sum(axis=1).argmin()) for p in data.contact.pos]
        assert sorted(rows) == list(range(n)) or limits[1] is None, k
        contact = jax.tree.map(lambda x, k=k, rows=rows: x[k, rows], ours.contact)
        if limits[1] is None and n > 2:  # of the sixteen corners of a cap, those kept span as much as MuJoCo's
            normal, found = data.contact.frame[0, :3], ours.contact.pos[k, :n]
            assert _area(found, normal) > (1 - 1e-6) * _area(data.contact.pos, normal), k
        for name, limit, width in zip(("dist", "pos", "frame"), limits, (1, 3, 9), strict=True):
            if limit is None:
                continue
            value, expected = (getattr(c, name).reshape(n, width) for c in (contact, data.contact))
            off = np.abs(value - expected).max(initial=0)
            if off > limit:  # rounding decides where the search of curved shapes ends; 40 moves are a sample of it
                assert off < 2 * _changes(mj, qpos[k], qvel[k], data)[name], (k, name, off)
                tied.add(k)
        np.testing.assert_array_equal(contact.geom, data.contact.geom)
        np.testing.assert_array_equal(contact.exclude == 0, data.contact.exclude == 0)
        early += data.ncon > 0 and abs(data.contact.dist[0]) > 0.1
        several += data.ncon > 1
    assert early >= least and len(tied) <= 0.2 * count, (early, tied)
    return several


EXACT = (1e-9, 1e-9, 1e-9)


def test_sphere_over_plane_equals_oracle():
    assert _compare("plane", "sphere", EXACT, geom='margin=".01" gap=".005"') == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "first, second, limits",
    [
        ("plane", "box", EXACT),
        ("plane", "capsule", EXACT),
        ("plane", "cylinder", (1e-9, None, 1e-9)),
        ("plane", "mesh", EXACT),
        ("table", "sphere", EXACT),
        ("table", "box", EXACT),
        ("sphere", "box", EXACT),
        ("box", "capsule", EXACT),
        ("box", "mesh", EXACT),
        ("capsule", "ellipsoid", EXACT),
        ("capsule", "cylinder", EXACT),
        ("ellipsoid", "box", EXACT),
        ("cylinder", "box", (1e-9, None, 1e-9)),
    ],
)
def test_pairs_equal_oracle(first, second, limits):
    several = _compare(first, second, limits)
    assert several > 3 or not {first, second} <= {"plane", "table", "box", "cylinder", "mesh"}


@pytest.mark.slow
@pytest.mark.parametrize("option", ["", 'integrator="discrete"'])
@pytest.mark.parametrize("solref", [".05 .7", ".01 1", "-100 -10", "0 -199"])
def test_distance_leaves_the_rest_of_the_way(solref, option):
    _compare(
        "plane", "sphere", EXACT, geom=f'solref="{solref}"', option=option, count=16, least=0 if "0 -" in solref else 4
    )


@pytest.mark.slow
def test_what_stands_between_hides_and_the_step_stops_there():
    """A table over the floor: the contact with the floor is out of sight; accelerations are MuJoCo's."""
    table = '<geom name="t" type="box" size=".5 .5 .01" pos="0 0 .15"/>'
    mj = _model("plane", "sphere", more=table)
    m = put_model(mj)
    qpos, qvel = _states(mj, 16)
    d = make_data(m)
    ours = jax.jit(jax.vmap(lambda q, v: forward(m, d.replace(qpos=q, qvel=v))))(qpos, qvel)
    hidden = 0
    for k, data in enumerate(_oracle(mj, qpos, qvel)):
        assert ours.ncon[k] == data.ncon and ours.nefc[k] == data.nefc
        np.testing.assert_allclose(ours.qacc[k], data.qacc, atol=1e-5, rtol=1e-7)
        hidden += data.ncon == 1 and data.contact[0].geom[0] != 0
    assert hidden > 5


@pytest.mark.slow
def test_derivative_equals_differences():
    """Of distance and point of a ball that falls on a plane, by height and velocity."""
    mj = _model("plane", "sphere", geom='solref=".05 .7"')
    m = put_model(mj)
    d = make_data(m)
    qpos, qvel = (x[0] for x in _states(mj, 1))
    qvel[:3] = 1.0, 2.0, -50.0

    def values(s):
        contact = _detected(m, d, jnp.asarray(qpos).at[2].add(s[0]), jnp.asarray(qvel) + s[1] * np.arange(6)).contact
        return jnp.concatenate([contact.dist[:1], contact.pos[0]])

    run = jax.jit(values)
    assert run(jnp.zeros(2))[0] != 1
    slope = jax.jit(jax.jacrev(values))(jnp.zeros(2))
    for i in range(2):
        step = 1e-6 * jnp.eye(2)[i]
        np.testing.assert_allclose(slope[:, i], (run(step) - run(-step)) / 2e-6, rtol=1e-6, atol=1e-7)
