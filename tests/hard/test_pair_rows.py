"""Limits as choices of dofs: what their rows say, in any order of rows."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.hard import rows
from mjx_like.hard.implicit_gradient import solution
from mjx_like.hard.newton import without_impulses
from mjx_like.hard.pair_rows import LimitsFirst, PairRows, limits_first
from mjx_like.hard.problem import Problem
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import search


@pytest.fixture(scope="module")
def limited() -> tuple[Problem, Problem, jax.Array]:
    """Problems with limits of dofs 1, 3 and 4, the same with their rows written out, and where to start."""
    p, nu = sample_problems(6, 2, 8, axes=2, nloss=1, limited=(1, 3, 4), worlds=3)
    own = np.repeat(np.eye(6)[[1, 3, 4]], 2, axis=0) * np.tile([1, -1], 3)[:, None]
    rows = jnp.concatenate([jnp.broadcast_to(own, (3, *own.shape)), p.J.rest], axis=1)
    return p, p.replace(J=PairRows(rows, ())), nu


@pytest.mark.slow
def test_limits_are_what_their_rows_say(limited):
    p, plain, nu = limited
    f = np.random.default_rng(0).normal(size=p.k.shape)
    for name, x in (("times", nu), ("sizes_times", nu), ("transposed_times", f)):
        own, written = (jax.vmap(lambda p, x, name=name: getattr(p.J, name)(x))(q, x) for q in (p, plain))
        np.testing.assert_allclose(own, written, atol=1e-14, err_msg=name)
    own, written = (jax.jit(jax.vmap(functools.partial(search, 30)))(q, nu) for q in (p, plain))
    np.testing.assert_allclose(own.best.nu, written.best.nu, atol=1e-10)
    assert np.array_equal(own.iterations, written.iterations)


@pytest.mark.slow
def test_derivatives_with_limits_are_what_their_rows_say(limited):
    def velocity(q: Problem, b, distance):
        return jax.vmap(lambda q, nu: solution(30, q, nu, without_impulses(q, nu))[0].nu)(
            q.replace(b=b, distance=distance), limited[2]
        )

    along = [np.random.default_rng(1).normal(size=x.shape) for x in (limited[0].b, limited[0].distance)]
    own, written = (jax.jvp(functools.partial(velocity, q), (q.b, q.distance), tuple(along)) for q in limited[:2])
    assert np.abs(written[1]).max() > 1e-2
    np.testing.assert_allclose(own[1], written[1], rtol=1e-7, atol=1e-8)


def test_limits_of_one_dof_come_first():
    hinge = "<joint axis='0 1 0' range='-1 1' limited='{}'/><geom size='.1'/>"
    ball = "<joint type='ball' range='0 1'/><geom size='.1'/>"
    joints = [hinge.format("true"), hinge.format("false"), hinge.format("true"), ball]
    chain = "".join(f"<body pos='0 0 .3'>{x}" for x in joints) + "</body>" * len(joints)
    loss = "<default><joint frictionloss='.1'/></default>"
    xml = "<mujoco>{}<worldbody>" + chain + "</worldbody></mujoco>"
    for before, count in (("", 0), (loss, 6)):  # a ball has three dofs
        m = mjx.Model.from_xml_string(xml.format(before))
        order = limits_first(m, mjx.make_data(m).replace(nf=jnp.int32(count)))
        assert order.dofs == (0, 2)
        rows = jnp.arange(count + 5.0)
        want = [*range(count, count + 4), *range(count), count + 4]
        np.testing.assert_array_equal(order.from_rows(rows), want)
        np.testing.assert_array_equal(order.from_rows(rows[:, None])[:, 0], want)
        np.testing.assert_array_equal(order.to_rows(order.from_rows(rows)), rows)


CHAIN = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="1 1 .1" pos="0 0 -.9"/>
  <body><joint name="a" axis="0 1 0" range="-10 10" frictionloss=".05"/><geom size=".1"/>
    <body pos=".3 0 0"><joint name="b" type="slide" axis="0 0 1" range="-.1 .1"/><geom size=".05"/>
      <body pos=".1 0 0"><joint name="c" axis="0 1 0" range="-30 40"/><geom size=".06"/>
        <body pos=".3 0 0"><joint name="d" axis="0 1 0"/><geom size=".04"/></body></body></body></body></worldbody>
  <equality><joint joint1="c" joint2="d"/><joint joint1="a" joint2="b" active="false"/></equality></mujoco>"""


@pytest.mark.slow
def test_a_step_is_that_of_rows(monkeypatch):
    m = mjx.Model.from_xml_string(CHAIN, contact="hard")
    d = mjx.make_data(m).replace(qvel=jnp.array([6.0, 2.0, -6.0, -6.0]))

    def steps():
        return jax.jit(lambda d: jax.lax.scan(lambda d, _: (mjx.step(m, d), d.efc_force), d, None, 100))(d)

    own, forces = steps()
    monkeypatch.setattr(rows, "limits_first", lambda m, d: LimitsFirst((), 0))
    want, each = steps()
    acting = np.max(np.abs(each), axis=0) > 1e-2
    assert np.sum(acting) == 5  # equality, friction loss, a limit of each joint that has some
    np.testing.assert_allclose(forces, each, atol=1e-8 * np.abs(each).max())
    np.testing.assert_allclose(own.qpos, want.qpos, atol=1e-12)
