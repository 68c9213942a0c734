"""The broad phase: large groups go to their kernels in part, and nothing of the result shows it."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision import broadphase
from mjx_like.collision import plan as collision_plan
from mjx_like.collision.at_need import Pairs, near_points
from mjx_like.collision.broadphase import group_gap, nearest_boxes, refined
from mjx_like.collision.closed.sphere import sphere_sphere
from mjx_like.collision.table import PAIRS
from mjx_like.math.lists import positions
from mjx_like.math.select import rows
from tests.support import oracle

_BODY = "<body pos='{} {} {}'><freejoint/><geom {}/></body>"


def pile(*shapes: str) -> str:
    """Return a model of twelve bodies on a plane, with these shapes in turn."""
    bodies = (
        _BODY.format(0.21 * (i % 3), 0.2 * (i // 3 % 3), 0.1 + 0.2 * (i // 9), shapes[i % len(shapes)])
        for i in range(12)
    )
    return f"<mujoco><worldbody><geom type='plane' size='5 5 1'/>{''.join(bodies)}</worldbody></mujoco>"


XML = pile('type="sphere" size=".11"', 'type="capsule" size=".09 .08"')
# rods: the bounding spheres of more pairs meet than go on, their boxes do not
RODS = pile('type="capsule" size=".03 .3" euler="90 0 0"', 'type="cylinder" size=".04 .3" euler="0 90 0"')
BOXES = pile('type="box" size=".11 .1 .1"')
SEARCHED = pile('type="cylinder" size=".11 .1"', 'type="ellipsoid" size=".12 .1 .11"')


def culled(monkeypatch, least: int, per_geom: int, xml: str = XML) -> mjx.Model:
    """Return the model with capacities small enough that the groups are culled."""
    monkeypatch.setattr(collision_plan, "_ALL", least)
    monkeypatch.setattr(collision_plan, "_LEAST_PAIRS", least)
    monkeypatch.setattr(collision_plan, "_PAIRS_PER_GEOM", per_geom)
    return mjx.Model.from_xml_string(xml)


def poses(n: int, xml: str = XML) -> list:
    """Return states of the oracle near the pile."""
    mj_model, _ = oracle.load(xml)
    rng, out = np.random.default_rng(0), []
    for _ in range(n):
        state = oracle.mujoco.MjData(mj_model)
        state.qpos += 0.05 * rng.normal(size=mj_model.nq)
        oracle.mujoco.mj_forward(mj_model, state)
        out.append(state)
    return out


def contacts(m: mjx.Model):
    d = mjx.make_data(m)
    return lambda xpos, xmat: mjx.collision(m, d.replace(geom_xpos=xpos, geom_xmat=xmat))


def frames(states: list) -> tuple:
    return np.stack([s.geom_xpos for s in states]), np.stack([s.geom_xmat.reshape(-1, 3, 3) for s in states])


def capacities(m: mjx.Model) -> tuple[int, int]:
    """Return how many pairs go on, and how many there are."""
    plan = m.plans.collision
    closed = plan.groups[: len(plan.groups) - (plan.convex.groups if plan.convex else 0)]
    groups = [*closed, *([plan.convex] if plan.convex else [])]
    return sum(g.capacity for g in groups), sum(g.pair.size for g in groups)


@pytest.mark.parametrize(
    ("xml", "per_geom"),
    [(XML, 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((SEARCHED, 4), (RODS, 2)))],
    ids=["closed", "searched", "rods"],
)
def test_culled_groups_give_the_oracles_contacts_and_derivatives(monkeypatch, xml, per_geom):
    whole = mjx.Model.from_xml_string(xml)
    part = culled(monkeypatch, 8, per_geom, xml)
    assert np.less(*capacities(part)) and np.equal(*capacities(whole))
    states = poses(4, xml)
    found = jax.jit(jax.vmap(contacts(part)))(*frames(states))
    assert not np.asarray(found.warning).any()
    for k, state in enumerate(states):
        n = state.ncon
        assert n >= 8 and int(found.ncon[k]) == n
        np.testing.assert_array_equal(found.contact.geom[k, :n], state.contact.geom)
        np.testing.assert_allclose(found.contact.dist[k, :n], state.contact.dist, atol=1e-10)
        np.testing.assert_allclose(found.contact.frame[k, :n].reshape(n, 9), state.contact.frame, atol=1e-8)
        np.testing.assert_allclose(found.contact.friction[k, :n], state.contact.friction, atol=1e-12)

    def depth(run):
        return lambda x, r: jnp.sum(jnp.minimum(run(x, r).contact.dist, 0.0) ** 2)

    xpos, xmat = (x[0] for x in frames(states))
    slope = [jax.jit(jax.grad(depth(contacts(m))))(xpos, xmat) for m in (whole, part)]
    np.testing.assert_allclose(slope[1], slope[0], atol=1e-14)
    assert np.abs(slope[0]).max() > 1e-3


@pytest.mark.parametrize("many", [pytest.param(1, marks=pytest.mark.slow), 2048])
def test_boxes_that_bounds_choose_give_the_contacts_and_derivatives_of_all(monkeypatch, many):
    monkeypatch.setattr(broadphase, "_MANY", many)  # pairs of which the near ones are listed before bounds are compared
    m, kind = mjx.Model.from_xml_string(BOXES), (mjx.GeomType.BOX, mjx.GeomType.BOX)
    states = poses(4, BOXES)
    assert PAIRS[kind].dear and len(m.plans.collision.geom) > PAIRS[kind].lot

    def seen(x, r):
        d = contacts(m)(x, r)
        return jnp.sum(jnp.minimum(d.contact.dist, 0.0) ** 2), (d.contact, d.ncon)

    def run():
        return jax.jit(jax.vmap(jax.value_and_grad(seen, (0, 1), has_aux=True)))(*frames(states))

    chosen = run()
    monkeypatch.setitem(PAIRS, kind, PAIRS[kind]._replace(dear=False))
    whole = run()
    assert whole[0][1][1].min() > 30
    for ours, theirs in zip(*map(jax.tree.leaves, (chosen, whole)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)


@pytest.mark.parametrize("xml", [XML, SEARCHED], ids=["closed", "searched"])
def test_too_many_near_pairs_are_counted(monkeypatch, xml):
    part = culled(monkeypatch, 2, 0, xml)
    found = jax.jit(contacts(part))(*(x[0] for x in frames(poses(1, xml))))
    assert int(found.warning[mjx.WarningType.CONTACTFULL]) == 1
    assert 0 < int(found.ncon)


def test_bounds_are_below_the_distance():
    m = mjx.Model.from_xml_string(XML)
    mj_model, _ = oracle.load(XML)
    state = poses(1)[0]
    for group in m.plans.collision.groups:
        gap = group_gap(m, group, jnp.asarray(state.geom_xpos), jnp.asarray(state.geom_xmat).reshape(-1, 3, 3))
        for k, (a, b) in enumerate(zip(group.geom1.tolist(), group.geom2.tolist(), strict=True)):
            assert gap[k] <= oracle.mujoco.mj_geomDistance(mj_model, state, a, b, 10.0, None) + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_lists_are_as_long_as_a_batch_needs(share):
    rng = np.random.default_rng(0)
    flags = rng.uniform(size=(3, 700)) < share * np.array([[1.0], [0.5], [1.0]])
    found = jax.jit(jax.vmap(lambda x: positions(x, 600)))(jnp.asarray(flags))
    for own, row in zip(flags, np.asarray(found), strict=True):
        where = np.flatnonzero(own)[:600]
        np.testing.assert_array_equal(row, np.pad(where, (0, 600 - where.size), constant_values=700))


@pytest.mark.parametrize("capacity", [5, 40, 100])
def test_lists_of_near_boxes_are_those_of_all(monkeypatch, capacity):
    rng = np.random.default_rng(0)
    gap, other = jnp.asarray(rng.normal(size=(2, 3, 100)))

    def run():
        return jax.jit(jax.vmap(lambda gap, x: nearest_boxes(gap, capacity, lambda k, x: rows(x, k), x)))(gap, other)

    whole = run()
    monkeypatch.setattr(broadphase, "_MANY", 1)
    listed = run()
    np.testing.assert_array_equal(listed.found, whole.found)
    np.testing.assert_array_equal(listed.used, whole.used)
    for ours, theirs, used in zip(listed.pair, whole.pair, np.asarray(whole.used), strict=True):
        np.testing.assert_array_equal(ours[used], theirs[used])
    assert whole.found.min() > 5 and (np.asarray(whole.found) < np.sum(gap <= 0, axis=1)).all()


@pytest.mark.parametrize("need", [0, 40, 100])
def test_lots_of_pairs_have_the_points_of_all(need):
    rng = np.random.default_rng(0)
    geoms = jnp.asarray(rng.normal(size=(3, 30, 9)))
    pair = jnp.asarray(rng.integers(0, 30, size=(2, 3, 100)), jnp.int32)
    pairs = Pairs(geoms, *pair, jnp.ones((3, 100)))
    run = jax.jit(jax.vmap(lambda need, pairs: near_points(sphere_sphere, 32, need, pairs)[0]))
    found, whole = run(jnp.array([need, need // 2, 0]), pairs), run(jnp.full(3, 100), pairs)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(ours[:, :need], theirs[:, :need])
    assert np.abs(whole.dist).min() > 0


def computations(program: str) -> tuple[str, str]:
    """Return the text of the computations of a compiled program that always run, and of those of its conditionals."""
    bodies = [body for body in program.split("\n\n") if "{" in body and "%" in body]
    own = {re.search(r"%([\w.-]+)", body)[1]: body for body in bodies}
    choices = re.findall(r"(?:branch|true|false)_computations?=\{?([^}\n]*)", program)
    chosen = set(re.findall(r"%([\w.-]+)", " ".join(choices)))
    reached, ahead = set(), [name for name, body in own.items() if body.startswith("ENTRY")]
    while ahead:
        reached.add(name := ahead.pop())
        called = set(re.findall(r"(?:calls|to_apply|body|condition)=%([\w.-]+)", own[name]))
        ahead += called - reached - chosen
    return "\n".join(own[x] for x in reached), "\n".join(own[x] for x in own.keys() - reached)


def test_finer_bounds_cost_nothing_where_bounds_are_enough():
    """XLA takes out of a loop what does not change in it, and computes it even if the loop has no turn."""
    gap, point = -jnp.ones((3, 20)), jnp.linspace(0, 3, 60).reshape(3, 20)
    run = jax.jit(jax.vmap(lambda gap, x: refined(gap, 8, lambda: jnp.sin(x))))
    np.testing.assert_allclose(run(gap, point), np.sin(point))
    np.testing.assert_array_equal(run(-gap, point), -gap)
    always, sometimes = computations(run.lower(gap, point).compile().as_text())
    assert "sine(" in sometimes and "sine(" not in always
