"""batch: worlds from states.  state_difference: states on the tangent space."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError
from mjx_like.state.difference import moved_state

XML = """
<mujoco>
  <worldbody>
    <body><freejoint/><geom size=".1"/>
      <body pos="0 0 .3"><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/>
        <body pos="0 0 .3"><joint type="ball"/><geom size=".05" pos=".2 0 0"/></body></body></body>
  </worldbody>
  <actuator><general joint="hinge" dyntype="integrator"/></actuator>
</mujoco>
"""
M = mjx.Model.from_xml_string(XML)
D = mjx.make_data(M)
PEER = mujoco.MjModel.from_xml_string(XML)


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    qpos = rng.normal(size=(2, 5, PEER.nq))
    for q in qpos.reshape(-1, PEER.nq):
        mujoco.mj_normalizeQuat(PEER, q)
    return qpos, rng.normal(size=(2, 5, PEER.nv)), rng.normal(size=(2, 5, 1))


def test_worlds_have_what_is_given_and_else_what_d_has(pairs):
    d = D.replace(time=jnp.asarray(0.5))
    many = mjx.batch(d, qpos=pairs[0][0], qvel=pairs[1][0])
    np.testing.assert_array_equal(many.qpos, pairs[0][0])
    np.testing.assert_array_equal(many.time, np.full(5, 0.5))
    assert all(x.shape[0] == 5 for x in jax.tree.leaves(many))
    assert mjx.batch(d, 3).qpos.shape == (3, M.nq)


def test_difference_is_that_of_mujoco_and_its_inverse_comes_back(pairs):
    qpos, qvel, act = pairs
    a, b = (mjx.batch(D, qpos=q, qvel=v, act=w) for q, v, w in zip(qpos, qvel, act, strict=True))
    found = mjx.state_difference(M, a, b)
    for k in range(5):
        dq = np.zeros(PEER.nv)
        mujoco.mj_differentiatePos(PEER, dq, 1.0, qpos[0, k], qpos[1, k])
        expected = np.concatenate([dq, qvel[1, k] - qvel[0, k], act[1, k] - act[0, k]])
        np.testing.assert_allclose(found[k], expected, atol=1e-12)
    back = a.replace(**moved_state(M, a, found))
    np.testing.assert_allclose(mjx.state_difference(M, back, b), np.zeros_like(found), atol=1e-12)


def test_one_state_against_many_and_the_derivative(pairs):
    many = mjx.batch(D, qpos=pairs[0][0], qvel=pairs[1][0])
    assert mjx.state_difference(M, D, many).shape == (5, 2 * M.nv + 1)
    difference = lambda dx: mjx.state_difference(M, D, D.replace(**moved_state(M, D, dx)))  # noqa: E731
    slope = jax.jit(jax.jacfwd(difference))(jnp.zeros(2 * M.nv + 1))
    np.testing.assert_allclose(slope, np.eye(2 * M.nv + 1), atol=1e-12)


@pytest.mark.parametrize(
    "call, part",
    [
        (lambda: mjx.batch(D), "give worlds="),
        (lambda: mjx.batch(mjx.batch(D, 2), 2), "without a world axis"),
        (lambda: mjx.batch(D, qposs=np.zeros((2, 3))), "Data has no array 'qposs'"),
        (lambda: mjx.batch(D, qpos=np.zeros((2, 3))), "qpos has shape (2, 3); it must be (worlds, 12)"),
        (lambda: mjx.batch(D, 3, time=np.zeros(2)), "time has shape (2,); it must be (3,)"),
        (lambda: mjx.batch(D, qpos="home"), "must be an array of numbers"),
        (lambda: mjx.state_difference(M, D, D.replace(qpos=D.qpos[:2])), "qpos has shape (2,); it must be (..., 12)"),
    ],
)
def test_messages(call, part):
    with pytest.raises(InputError) as mistake:
        call()
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
