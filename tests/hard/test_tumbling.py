"""Bodies that tumble with hard contact, where other points are the deepest at a step's end than at its start."""

import itertools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.forward import position
from mjx_like.hard import carried, inverse
from mjx_like.hard.carried import Seen, carries, seen, with_carried
from mjx_like.hard.stage import rows_at_end
from tests.hard.scene import model

HULL = "0 0 .06  .09 .01 .01  -.03 .08 .01  -.05 -.07 0  .03 -.05 -.05  -.06 .03 -.04  .05 .06 -.03"
TABLE = f"""<mujoco><option timestep="0.004"/><asset><mesh name="hull" vertex="{HULL}"/></asset>
<default><geom contype="0" conaffinity="1"/></default>
<worldbody><geom name="table" type="box" pos="0 0 -.1" size="3 3 .1" contype="1"/>
  <body pos="0 0 .3"><freejoint/><geom name="one" type="mesh" mesh="hull"/></body>
  <body pos="2 0 .3"><freejoint/><geom name="two" type="cylinder" size=".08 .06"/></body>
</worldbody></mujoco>"""
BOXES = """<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .1"><freejoint/><geom name="one" type="box" size=".1 .08 .06"/></body>
  <body pos="0 0 .35"><freejoint/><geom name="two" type="box" size=".1 .08 .06"/></body>
</worldbody></mujoco>"""
BALL = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
  <body><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
BODIES = "".join(
    f'<body pos="{x} 0 0"><freejoint/><geom type="{kind}" size=".05 .07"/></body>'
    for x, kind in enumerate(["capsule", "sphere", "cylinder", "capsule", "capsule"])
)
MANY = f"<mujoco><worldbody>{BODIES}</worldbody></mujoco>"
WORLDS, STEPS = 12, 120


def turned(m, seed=0):
    """Worlds in which two free bodies begin at random orientations and turn."""
    rng, d = np.random.default_rng(seed), mjx.make_data(m)
    qpos, qvel = np.tile(d.qpos, (WORLDS, 1)), np.zeros((WORLDS, m.nv))
    for place in (3, 10):
        quat = rng.normal(size=(WORLDS, 4))
        qpos[:, place : place + 4] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    qvel[:, [3, 4, 5, 9, 10, 11]] = 3 * rng.normal(size=(WORLDS, 6))
    return jax.vmap(lambda p, v: d.replace(qpos=p, qvel=v))(jnp.asarray(qpos), jnp.asarray(qvel))


def positions(m, worlds):
    @jax.jit
    def path(d):
        def body(d, _):
            d = mjx.step(m, d)
            return d, (d.qpos, d.qvel)

        return jax.lax.scan(body, d, None, STEPS)

    return jax.vmap(path)(worlds)


def depths(xml, qpos, pairs):
    """The distance of the oracle between named geoms, for all positions."""
    mj = mujoco.MjModel.from_xml_string(xml)
    d, ids = mujoco.MjData(mj), [[mj.geom(name).id for name in pair] for pair in pairs]
    found = []
    for own in np.asarray(qpos).reshape(-1, mj.nq):
        d.qpos[:] = own
        mujoco.mj_kinematics(mj, d)
        found.append([mujoco.mj_geomDistance(mj, d, *pair, 0.02, None) for pair in ids])
    return np.array(found)


@pytest.mark.slow
def test_hull_and_cylinder_on_a_box():
    """With the points of the last solve alone they go in by 1.2 mm."""
    m = model(xml=TABLE)
    worlds, (qpos, _) = positions(m, turned(m))
    found = depths(TABLE, qpos, [("table", "one"), ("table", "two")])
    assert (np.abs(found) < 1e-3).mean(axis=0).min() > 0.2
    assert found.min() > -5e-4 and (found < -1e-4).mean() < 2e-3
    assert int(worlds.unconverged.sum()) <= 2 and not np.asarray(worlds.warning).any()


@pytest.mark.slow
def test_two_boxes():
    """With one point between two edges that lie over a face they go in by 2.4 mm."""
    m = model(xml=BOXES)
    _, (qpos, _) = positions(m, turned(m, 1))
    found = depths(BOXES, qpos, [("one", "two")])
    assert (np.abs(found) < 1e-3).mean() > 0.2
    assert found.min() > -1e-4


# a hull that rolls from one corner onto another, found by trial
ROLLING = (
    (-0.037256, -0.006576, 0.036676, -0.209134, -0.745207, 0.500151, 0.388302),
    (-0.591775, -0.205291, -0.397435, 13.201389, 1.490892, -4.101127),
)


def rolling():
    """A step in which a hull on a table keeps a point of its first solve."""
    m = model(1e-4, TABLE)
    d, (place, speed) = mjx.make_data(m), ROLLING
    return m, d.replace(qpos=d.qpos.at[:7].set(jnp.array(place)), qvel=d.qvel.at[:6].set(jnp.array(speed)))


def test_what_is_carried():
    """Points that are new stay first; those that moved with their geoms come after them, each once, up to four."""
    m, d = rolling()
    assert carries(m) and not carries(model(xml=BALL)) and not carries(model(xml=TABLE, refresh=0))
    d = mjx.kinematics(m, d)
    geom = np.full((m.nconmax, 2), -1)
    geom[:4] = 0, 1
    place = np.zeros((m.nconmax, 3))
    place[:4] = (0, 0, 0), (0.05, 0, 0), (0, 0.05, 0), (1e-4, 0, 0)
    dist, frame = np.zeros(m.nconmax), np.broadcast_to(np.eye(3)[[2, 0, 1]], (m.nconmax, 3, 3))
    dist[:4] = 1e-3, 2e-3, 3e-3, 4e-3
    every = d.contact.replace(
        geom=jnp.asarray(geom), pos=jnp.asarray(place), dist=jnp.asarray(dist), frame=jnp.asarray(frame)
    )
    before = Seen(every, jnp.int32(4), d.geom_xpos, d.geom_xmat)
    up = d.replace(geom_xpos=d.geom_xpos.at[1, 2].add(0.01), contact=every, ncon=jnp.int32(1))
    found = with_carried(m, up, before)
    assert int(found.ncon) == 3 and int(found.maxuse_con) == 3
    np.testing.assert_allclose(found.contact.dist[:3], [1e-3, 0.012, 0.013], atol=1e-15)
    np.testing.assert_allclose(found.contact.pos[1:3], [(0.05, 0, 0.005), (0, 0.05, 0.005)], atol=1e-15)
    assert int(with_carried(m, up.replace(ncon=jnp.int32(4)), before).ncon) == 4
    first = jax.jit(with_carried)(m, up, before, jnp.asarray(True))
    assert int(first.ncon) == 1


@pytest.mark.parametrize("seed", range(3))
def test_what_is_carried_of_many_pairs(seed):
    """Each old contact beside each own one of its pair, written out; those of a sphere are not carried."""
    m, rng = mjx.with_hard_contact(mjx.Model.from_xml_string(MANY, nconmax=40)), np.random.default_rng(seed)
    d = mjx.kinematics(m, mjx.make_data(m))
    pairs = [pair for pair in itertools.combinations(range(m.ngeom), 2) for _ in range(4)]
    geom, z, axis = np.full((80, 2), -1), np.zeros(80), np.zeros(80, int)  # own, then old
    for begin, count in ((0, 18), (40, 25)):
        own = slice(begin, begin + count)
        geom[own] = rng.permutation(pairs)[:count]
        z[own], axis[own] = 1e-3 * rng.integers(0, 30, count), rng.choice(2, count)
    chosen = list(range(18))
    for i in range(40, 65):
        of_pair = [k for k in chosen if (geom[k] == geom[i]).all()]
        near = 0.05 * np.min(m.geom_rbound[geom[i]])
        known = any(k < 40 and axis[k] == axis[i] and abs(z[k] - z[i]) < near for k in of_pair)
        if mjx.GeomType.SPHERE not in m.geom_type[geom[i]] and not known and len(of_pair) < 4:
            chosen.append(i)
    pos, frame = z[:, None] * np.eye(3)[2], np.eye(3)[axis[:, None] + np.arange(3) - 2]
    own, old = (d.contact.replace(geom=geom[x], pos=pos[x], frame=frame[x]) for x in (slice(40), slice(40, 80)))
    before = Seen(old, jnp.int32(25), d.geom_xpos, d.geom_xmat)
    found = jax.jit(with_carried)(m, d.replace(contact=own, ncon=jnp.int32(18)), before)
    assert int(found.ncon) == int(found.maxuse_con) == len(chosen) > 20
    np.testing.assert_allclose(found.contact.pos[: len(chosen), 2], z[chosen], atol=1e-15)


EDGES = """<mujoco><worldbody><geom type="box" size=".1 .1 .1"/>
  <body><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


def test_boxes_apart_that_have_no_contact_keep_those_of_the_solve_before():
    """Where edges beyond the faces of each other are nearest, MuJoCo finds none, and neither does the search here."""
    m = model(xml=EDGES)
    d = mjx.make_data(m).replace(qvel=jnp.ones(6))  # looked for as far as that takes them
    inside, apart = (
        mjx.fwd_position(m, d.replace(qpos=d.qpos.at[:3].set(jnp.array([x, x, 0.05]))))
        for x in (0.2 - 1e-6, 0.2 + 3e-4)
    )
    assert int(inside.ncon) > 0 and int(apart.ncon) == 0
    c = mujoco.MjModel.from_xml_string(EDGES)
    c.geom_margin[:] = c.geom_gap[:] = 1e-2
    of_c = mujoco.MjData(c)
    of_c.qpos[:] = apart.qpos
    mujoco.mj_fwdPosition(c, of_c)
    assert of_c.ncon == 0
    found = with_carried(m, apart, seen(m, inside))
    assert int(found.ncon) == min(int(inside.ncon), 4)
    np.testing.assert_allclose(found.contact.dist[: int(found.ncon)], 3e-4, atol=1e-9)


# poses of a body over the rim of a disc, from steps of a robot that were up to 1.5 mm deep
OVER_A_RIM = {
    "capsule": ('type="capsule" size=".02 .08"', (0.12068, 0.04207, 0.02328, 0.3516, 0.6763, -0.1486, 0.63)),
    "box": ('type="box" size=".0176 .0349 .0575"', (0.0043, -0.13881, 0.0222, 0.5894, 0.443, -0.5607, 0.3767)),
}


@pytest.mark.parametrize("name", OVER_A_RIM)
def test_normal_over_a_rim_is_the_slope_of_the_distance(name):
    """Level with a face beside where they touch: the normal of that face is up to 85 degrees off."""
    geom, pose = OVER_A_RIM[name]
    m = model(
        xml=f"""<mujoco><worldbody><geom type="cylinder" size=".1 .004"/>
        <body><freejoint/><geom {geom}/></body></worldbody></mujoco>"""
    )
    d = mjx.make_data(m)
    qpos = jnp.asarray(pose)

    @jax.jit
    def contact(move):
        return mjx.fwd_position(m, d.replace(qpos=qpos.at[:3].add(move))).contact

    found = contact(jnp.zeros(3))
    deepest = int(jnp.argmin(found.dist))
    sign = 1 if int(found.geom[deepest, 1]) == 1 else -1  # the normal points from the first geom to the second
    slope = [float(contact(x).dist.min() - contact(-x).dist.min()) / 2e-7 for x in 1e-7 * jnp.eye(3)]
    np.testing.assert_allclose(slope, sign * found.frame[deepest, 0], atol=2e-3)  # the search ends within 1e-6 m
    end = jax.jit(mjx.step)(m, d.replace(qpos=qpos, qvel=jnp.zeros(6).at[2].set(-0.2)))
    assert float(mjx.fwd_position(m, end).contact.dist.min()) > min(float(found.dist[deepest]), 0) - 1e-6


@pytest.mark.slow
def test_derivatives_through_what_is_carried(monkeypatch):
    m, d = rolling()

    def moved(x):
        end = mjx.step(m, d.replace(qvel=d.qvel + x))
        return jnp.concatenate([end.qpos[:7], end.qvel[:6]])

    at, eps = jnp.zeros(m.nv), 1e-6
    value, forward = jax.jit(lambda x: (moved(x), jax.jacfwd(moved)(x)))(at)
    reverse, run = jax.jit(jax.jacrev(moved))(at), jax.jit(jax.vmap(moved))
    slopes = (run(eps * np.eye(m.nv)) - run(-eps * np.eye(m.nv))).T / (2 * eps)
    np.testing.assert_allclose(reverse, forward, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(forward, slopes, rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(carried, "carries", lambda m: False)
    assert np.abs(jax.jit(lambda x: moved(x))(at) - value).max() > 1e-2


@pytest.mark.slow
def test_inverse_of_what_is_carried(monkeypatch):
    """Two corrections leave 3 % here, with and without what is carried; as many as are needed leave nothing."""
    monkeypatch.setattr(inverse, "_CORRECTIONS", 24)
    m, d = rolling()
    there = jax.jit(mjx.forward)(m, d)
    back = jax.jit(mjx.inverse)(m, d.replace(qacc=there.qacc))
    most = 1e-6 * np.abs(there.qfrc_constraint).max()
    np.testing.assert_allclose(back.qfrc_constraint, there.qfrc_constraint, atol=most)
    np.testing.assert_allclose(back.qfrc_inverse, 0, atol=most)


def test_what_a_solve_takes_apart_is_found_by_the_next():
    """A ball that lies still is thrown up by 5 cm in a first solve; the second has its contact all the same."""
    m = model(xml=BALL)
    d = mjx.make_data(m)
    d = mjx.fwd_position(m, d.replace(qpos=d.qpos.at[2].set(0.1)))
    up = jnp.zeros(m.nv).at[2].set(0.05 / m.opt.timestep)
    rows, _ = rows_at_end(m, d, up, position, None)
    assert int(rows["ncon"]) == 1
    np.testing.assert_allclose(rows["contact"].dist[0], d.contact.dist[0] + 0.05, atol=1e-12)
    assert int(mjx.fwd_position(m, d.replace(qpos=d.qpos.at[2].add(0.05))).ncon) == 0
