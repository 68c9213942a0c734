"""Runge-Kutta steps with forward dynamics, against mj_step."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import forward, forward_skip
from mjx_like.integrator.rk4 import rk4
from mjx_like.interop.convert import put_data, put_model
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.support.oracle import TIGHT, error, load, reference, states

XML = """
<mujoco>
  <option integrator="RK4" timestep="{step}" gravity="0 0 -3"><flag constraint="disable" energy="enable"/></option>
  <worldbody>
    <body quat=".5 .3 .2 .1"><joint type="free" damping=".1" armature=".05"/>
      <geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/></body>
    <body pos="0 1 0"><joint name="c" damping=".1"/><geom size=".1" pos="0 0 1"/>
      <body name="b" pos=".3 0 0"><joint type="ball"/><geom type="box" size=".1 .2 .3" pos="0 .1 0"/></body></body>
  </worldbody>
  <sensor><jointpos joint="c"/><framelinvel objtype="xbody" objname="b"/><framelinacc objtype="xbody" objname="b"/>
    <e_kinetic/></sensor>
  <actuator><general joint="c" dyntype="filter" dynprm=".1" gainprm="2" actlimited="true" actrange="-.3 .3"/></actuator>
</mujoco>
"""


STATE = ("qpos", "qvel", "act", "time")


def _forward(m, d):
    return forward_skip(m, d, skip_sensor=True)


def _step(m, d):
    """Take one step in either way: from the first stage on, and after it."""
    whole = step(m, d)
    after = rk4(m, _forward(m, d), _forward)
    return whole, after


@pytest.fixture(scope="module")
def case():
    mj, m = load(XML.format(step=0.05))
    theirs = [reference(mj, state) for state in states(mj, 4, seed=2, steps=20)]
    data = jax.block_until_ready(jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t) for t in theirs)))
    for t in theirs:
        mujoco.mj_step(mj, t)
    return m, data, theirs


def test_step_equals_oracle(case):
    m, data, theirs = case
    for ours in jax.jit(jax.vmap(_step, in_axes=(None, 0)))(m, data):
        for name in (*STATE, "qacc", "qacc_warmstart"):
            assert error(getattr(ours, name), np.stack([getattr(t, name) for t in theirs])) < TIGHT, name


DERIVED = ("xpos", "xmat", "cinert", "cdof", "cvel", "cdof_dot", "subtree_com", "actuator_length", "actuator_velocity")
DERIVED += (
    "actuator_force",
    "act_dot",
    "qfrc_bias",
    "qfrc_passive",
    "qfrc_actuator",
    "qfrc_smooth",
    "qacc_smooth",
    "energy",
)


def test_derived_fields_are_those_of_the_last_stage(case):
    m, data, theirs = case
    for ours in jax.jit(jax.vmap(_step, in_axes=(None, 0)))(m, data):
        for name in DERIVED:
            expected = np.stack([getattr(t, name) for t in theirs])
            assert error(np.reshape(getattr(ours, name), expected.shape), expected) < TIGHT, name


def test_sensors_are_those_of_the_start(case):
    m, data, theirs = case
    begin, end = jax.jit(jax.vmap(lambda d: (forward(m, d), step(m, d))))(data)
    for name in ("sensordata", "cacc", "cfrc_int"):
        assert error(getattr(end, name), getattr(begin, name)) < TIGHT, name
        assert error(getattr(end, name), np.stack([getattr(t, name) for t in theirs])) < TIGHT, name
    assert float(jnp.abs(end.xpos - begin.xpos).max()) > 0.01  # what is derived is not


def test_single_precision_stays():
    """Where JAX has 64 bits enabled too."""
    mj, _ = load(XML.format(step=0.05))
    m = put_model(mj, dtype=jnp.float32)
    for end in jax.eval_shape(_step, m, make_data(m)):
        assert {x.dtype for x in (end.qpos, end.qvel, end.act, end.qacc, end.time)} == {jnp.dtype("float32")}


def test_derivative_at_rest_and_in_motion_equals_differences(case):
    """With a simple law of motion: the derivative of forward dynamics has tests of its own."""
    m, data, _ = case
    d = jax.tree.map(lambda x: x[3], data)
    direction, push, pull = (jnp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, m.nv)))

    def law(m, d):
        return d.replace(qacc=push * jnp.sin(d.qvel) + pull * jnp.sum(jnp.cos(d.qpos)), act_dot=jnp.sin(d.time) - d.act)

    def end(qvel):
        new = rk4(m, law(m, d.replace(qvel=qvel)), law)
        return jnp.concatenate([new.qpos, new.qvel, new.act])

    pushed = jax.jit(lambda qvel: jax.jvp(end, (qvel,), (direction,)))
    for qvel in (jnp.zeros(m.nv), d.qvel):
        difference = (pushed(qvel + 1e-5 * direction)[0] - pushed(qvel - 1e-5 * direction)[0]) / 2e-5
        assert error(pushed(qvel)[1], difference) < 1e-8
    gradient = jax.jit(jax.grad(lambda qvel: jnp.sum(end(qvel))))(d.qvel)
    assert abs(jnp.dot(gradient, direction) - jnp.sum(pushed(d.qvel)[1])) < TIGHT
