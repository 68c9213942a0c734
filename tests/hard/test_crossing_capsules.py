"""Two capsules that cross or rock on one another: the points that they have, and those that a solve keeps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mjx_like as mjx
from mjx_like.collision.table import PAIRS
from mjx_like.hard import carried
from mjx_like.hard.carried import carries, with_carried
from mjx_like.types.enums import GeomType
from tests.hard.scene import model

BALL = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
  <body><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""

CAPSULES = """<mujoco><option timestep="0.01"/><worldbody><geom type="capsule" size=".05 .3" euler="0 90 0"/>
  <body><freejoint/><geom type="capsule" size=".05 .3" euler="0 90 0"/></body></worldbody></mujoco>"""


def test_capsules_that_rock_on_one_another(monkeypatch):
    """The nearest points of two that are almost parallel are now at one end, and now at the other."""
    m, rng = model(1e-5, CAPSULES), np.random.default_rng(0)
    d, n = mjx.make_data(m), 64
    height, tilt, yaw = 0.1002 + 3e-4 * rng.random(n), 2e-3 * rng.normal(size=n), 0.03 * rng.normal(size=n)
    turn = Rotation.from_euler("yz", np.stack([tilt, yaw], axis=1)).as_quat(scalar_first=True)
    qpos = np.column_stack([np.zeros((n, 2)), height, turn])
    qvel = np.column_stack([np.zeros((n, 2)), -rng.random(n), rng.normal(size=(n, 3)) * (0.3, 2, 1)])

    def deepest():
        def one(qpos, qvel):
            end = mjx.step(m, d.replace(qpos=qpos, qvel=qvel))
            return jnp.min(mjx.fwd_position(m, end).contact.dist)

        return -float(jnp.min(jax.jit(jax.vmap(one))(jnp.asarray(qpos), jnp.asarray(qvel))))

    assert carries(m)
    assert deepest() < 1e-3
    monkeypatch.setattr(carried, "carries", lambda m: False)
    assert deepest() > 5e-3
    kinds = (GeomType.CAPSULE, GeomType.CAPSULE)
    monkeypatch.setitem(PAIRS, kinds, PAIRS[kinds]._replace(hard=None))  # nor a point along them
    assert deepest() > 1e-2


@pytest.mark.parametrize(("angle", "points"), [(0, 2), (2, 2), (30, 1), (90, 1)])
def test_capsules_that_cross_have_a_point_along_them(angle, points):
    """At a small angle the nearest points run along both as they turn; soft contact has two of parallel ones alone."""
    m = model(1e-5, CAPSULES)
    turn = Rotation.from_euler("z", angle, degrees=True).as_quat(scalar_first=True)
    d = mjx.make_data(m).replace(qpos=jnp.array([0.05, 0, 0.1002, *turn]))
    found = mjx.fwd_position(m, d)
    assert int(found.ncon) == points
    if 0 < angle < 30:
        nearest, along = np.asarray(found.contact.pos)[:2]
        assert np.abs(nearest - (0, 0, 0.0501)).max() < 0.06
        assert np.linalg.norm(along[:2]) > 0.2 and abs(along[2] - 0.0501) < 1e-6
        assert found.contact.dist[0] < found.contact.dist[1] < 2e-3
    soft = mjx.without_hard_contact(m)
    touching = mjx.make_data(soft).replace(qpos=d.qpos.at[2].add(-3e-4))
    assert int(mjx.fwd_position(soft, touching).ncon) == (2 if angle == 0 else 1)


def over_one_another(m, tilt, yaw=0.2):
    """Two capsules that cross, the upper one at a tilt, at which the point where they are nearest moves along both."""
    turn = Rotation.from_euler("yz", [tilt, yaw]).as_quat(scalar_first=True)
    return mjx.make_data(m).replace(qpos=jnp.array([0, 0, 0.1002, *turn]))


def kept_points(m, before, now):
    """The contacts of the capsules as they are `now`, and those that a solve takes from `before`."""
    return with_carried(m, mjx.fwd_position(m, now), carried.seen(m, mjx.fwd_position(m, before)))


def test_points_between_capsules_that_cross():
    """The point of the solve before is kept, with one a third of the way to it from where they are nearest now."""
    m = mjx.Model.from_xml_string(CAPSULES, nconmax=5, contact="hard")
    before, now = over_one_another(m, 0.015), over_one_another(m, -0.015)
    d = jax.jit(lambda x, y: kept_points(m, x, y))(before, now)
    own = int(mjx.fwd_position(m, now).ncon)
    place = np.asarray(d.contact.pos)[: int(d.ncon), 0]
    nearest, old = place[0], float(mjx.fwd_position(m, before).contact.pos[0, 0])
    assert abs(nearest - old) > 0.05 and int(d.ncon) >= own + 2
    np.testing.assert_allclose(place[own], nearest + (old - nearest) / 3, atol=2e-3)
    assert np.abs(place[own + 1 :] - old).min() < 2e-3

    axis, center = Rotation.from_quat(now.qpos[3:], scalar_first=True).apply([1, 0, 0]), np.asarray(now.qpos[:3])
    lower = np.linspace(-0.3, 0.3, 100001)[:, None] * (1, 0, 0)
    upper = center + ((lower - center) @ axis)[:, None] * axis
    chosen = np.abs(0.5 * (lower + upper)[:, 0] - place[own]).argmin()
    apart = upper[chosen] - lower[chosen]
    np.testing.assert_allclose(d.contact.dist[own], np.linalg.norm(apart) - 0.1, atol=1e-6)
    np.testing.assert_allclose(d.contact.pos[own], 0.5 * (lower + upper)[chosen], atol=1e-5)
    np.testing.assert_allclose(d.contact.frame[own, 0], apart / np.linalg.norm(apart), atol=1e-5)


def test_surfaces_of_capsules_move_at_points_between():
    """The velocity of a surface, of which the tangents of its point say a part each."""
    xml = CAPSULES.replace('euler="0 90 0"/>', 'euler="0 90 0" surfacevel="0 0 1 0 0 0"/>', 1)  # along the world's x
    m = mjx.Model.from_xml_string(xml, nconmax=5, contact="hard")
    before, now = over_one_another(m, 0.015), over_one_another(m, -0.015)
    own, d = int(mjx.fwd_position(m, now).ncon), kept_points(m, before, now)
    for k in (0, own):
        normal, *tangents = np.asarray(d.contact.frame[k])
        moves = np.asarray(d.contact.surfacevel[k, :2]) @ tangents
        np.testing.assert_allclose(moves, normal * normal[0] - (1, 0, 0), atol=1e-12)


def test_no_points_between_what_a_function_of_the_user_finds():
    """They need not be those of capsules."""

    def highest(pos1, mat1, pos2, mat2):
        """A point over the end of the upper one's axis that is higher: not where capsules are nearest."""
        end = pos2 + 0.3 * jnp.sign(mat2[2, 2]) * mat2[:, 2]
        return jnp.array([1e-3]), (end * jnp.array([1.0, 1.0, 0.5]))[None], jnp.array([[0.0, 0.0, 1.0]])

    hooks = mjx.Hooks(collision=((0, 2, 1, highest),))
    aside = '<geom type="capsule" size=".05 .3" pos="0 5 0"/><body>'  # so that other pairs are of capsules
    m = mjx.Model.from_xml_string(CAPSULES.replace("<body>", aside), nconmax=5, contact="hard", hooks=hooks)
    d = kept_points(m, over_one_another(m, 0.015), over_one_another(m, -0.015))
    assert int(d.ncon) == 2  # its own, and that of the solve before
    np.testing.assert_array_equal(d.contact.frame[:2, 0], [[0, 0, 1], [0, 0, 1]])


def test_derivatives_of_points_between_capsules():
    m = mjx.Model.from_xml_string(CAPSULES, nconmax=5, contact="hard")
    before, now = over_one_another(m, 0.015), over_one_another(m, -0.015)

    def distances(qpos):
        return kept_points(m, before, now.replace(qpos=qpos)).contact.dist

    forward, reverse = jax.jit(jax.jacfwd(distances))(now.qpos), jax.jit(jax.jacrev(distances))(now.qpos)
    eps, run = 1e-6, jax.jit(jax.vmap(distances))
    moves = eps * np.eye(m.nq)
    slopes = (run(now.qpos + moves) - run(now.qpos - moves)).T / (2 * eps)
    np.testing.assert_allclose(reverse, forward, atol=1e-12)
    np.testing.assert_allclose(forward, slopes, atol=1e-6)
    assert np.abs(forward[2:5]).max() > 0.5


def test_room_for_points_that_a_solve_keeps():
    """By default there is room for those of a pair; what is asked for stays."""
    m = model(1e-5, CAPSULES)
    soft = mjx.without_hard_contact(m)
    assert (m.nconmax, soft.nconmax) == (4, 2)
    assert soft.topology == mjx.Model.from_xml_string(CAPSULES).topology
    assert mjx.with_hard_contact(mjx.Model.from_xml_string(CAPSULES, nconmax=3)).nconmax == 3
    assert model(1e-5, BALL).nconmax == 1
    assert mjx.Model.from_xml_string(CAPSULES, contact="hard").nconmax == 4
