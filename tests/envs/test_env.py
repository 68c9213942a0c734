"""Environments of one world: physics of `rollout`, ends of episodes, derivatives, messages."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.envs import Env, Outcome
from mjx_like.errors import InputError
from mjx_like.forward import forward
from mjx_like.rollout.rollout import rollout
from mjx_like.state.initial import make_data
from tests.support.oracle import error

XML = """
<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody><geom type="plane" size="2 2 .1"/>
<body name="ball" pos="0 0 .3"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<geom size=".1" mass="1" friction="1"/><site name="s" pos="0 0 .1"/></body></worldbody>
<actuator><motor joint="x" gear="5" ctrllimited="true" ctrlrange="-2 4"/></actuator>
<sensor><accelerometer site="s"/></sensor></mujoco>
"""


def observe(m, d):
    return jnp.concatenate([d.qpos, d.qvel, d.xpos[1], d.sensordata])


def reward(m, before, d):
    return Outcome(d.qpos[0] - before.qpos[0], d.qpos[0] > 0.5, {"height": d.site_xpos[0, 2]})


def reset(m, d, rng):
    return d.replace(qpos=d.qpos + 0.01 * jax.random.normal(rng, (m.nq,), d.qpos.dtype))


@pytest.fixture(scope="module")
def m():
    return from_xml_string(XML)


@pytest.fixture(scope="module")
def env(m):
    return Env(m, observe=observe, reward=reward, reset=reset, n_frames=3, episode_length=40)


@pytest.fixture(scope="module")
def step(env):
    return jax.jit(env.step)


@pytest.fixture(scope="module")
def begin(env):
    return jax.jit(env.reset)


def test_sizes(env):
    assert (env.observation_size, env.action_size, env.n_frames) == (10, 1, 3)
    assert env.dt == pytest.approx(0.03)


@pytest.mark.slow
def test_steps_are_those_of_rollout(m, env, step, begin):
    state = begin(jax.random.PRNGKey(3))
    start = make_data(m).replace(qpos=state.data.qpos)
    assert error(state.obs, observe(m, forward(m, start))) < 1e-12
    actions = jnp.linspace(-1, 0.5, 20)[:, None]
    ctrl = jnp.repeat(1 + 3 * actions, 3, axis=0)  # -1 and 1 are -2 and 4
    expected = rollout(m, start, ctrl)
    touched = False
    for k, action in enumerate(actions):
        state = step(state, action)
        at = 3 * k + 2
        assert error(state.data.qpos, expected.qpos[at]) < 1e-12
        assert error(state.data.qvel, expected.qvel[at]) < 1e-12
        assert error(state.obs[7:], expected.sensordata[at]) < 1e-9, "sensors of the last physics step"
        assert error(state.obs[6], 0.3 + expected.qpos[at, 1]) < 1e-12, "poses of the state"
        assert error(state.metrics["height"], 0.4 + expected.qpos[at, 1]) < 1e-12
        touched |= float(expected.qpos[at, 1]) < -0.199
    assert touched and int(state.info["steps"]) == 20
    assert error(env.data(state).qacc, forward(m, start.replace(**{n: getattr(state.data, n) for n in (
        "time", "qpos", "qvel", "ctrl", "qacc_warmstart")})).qacc) < 1e-9  # fmt: skip


def test_terminated_and_truncated_are_apart(step, begin):
    state = begin(jax.random.PRNGKey(0))
    for _ in range(39):
        state = step(state, jnp.array([-1 / 3.0]))
        assert float(state.done) == 0
    state = step(state, jnp.array([-1 / 3.0]))
    assert [float(state.info[x]) for x in ("terminated", "truncated")] == [0, 1] and float(state.done) == 1
    state = begin(jax.random.PRNGKey(0))
    for _ in range(30):
        state = step(state, jnp.array([1.0]))
    assert [float(state.info[x]) for x in ("terminated", "truncated")] == [1, 0] and float(state.done) == 1


def test_a_state_that_is_lost_ends_the_episode(step, begin):
    state = begin(jax.random.PRNGKey(0))
    bad = state.replace(data=state.data.replace(qvel=state.data.qvel.at[0].set(jnp.nan)))
    after = step(bad, jnp.zeros(1))
    assert float(after.info["terminated"]) == 1 and float(after.reward) == 0 and np.isfinite(after.obs).all()


@pytest.mark.slow
def test_gradients_through_contact_equal_differences_and_forward_mode(env, begin):
    start = begin(jax.random.PRNGKey(1))
    start = start.replace(data=start.data.replace(qpos=jnp.array([0.0, -0.2]), qvel=jnp.array([0.5, 0.0])))

    @jax.jit
    def total(actions):
        def one(state, action):
            state = env.step(state, action)
            return state, state.reward + 0.1 * jnp.sum(state.obs**2)

        return jnp.sum(jax.lax.scan(one, start, actions)[1])

    actions = jnp.linspace(-0.5, 0.4, 6)[:, None]
    way = jnp.ones_like(actions)
    gradient, eps = jax.grad(total)(actions), 1e-5
    differences = (total(actions + eps * way) - total(actions - eps * way)) / (2 * eps)
    assert abs(differences) > 1e-2
    assert error(jnp.sum(gradient), differences) < 1e-6
    assert error(jnp.sum(gradient), jax.jvp(total, (actions,), (way,))[1]) < 1e-10


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"observe": lambda m, d: d.xmat}, r"observe returns shape \(2, 3, 3\) of float64: must be an array of floats"),
        ({"observe": lambda m, d: 3}, r"observe returns shape \(\) of int64: must be an array of floats"),
        ({"reward": lambda m, b, d: Outcome(d.qpos)}, r"reward: reward has shape \(2,\): must be a number"),
        ({"reward": lambda m, b, d: Outcome(d.time, False, {"x": d.qpos})}, r"reward: x has shape \(2,\)"),
        ({"n_frames": 0}, "n_frames=0: must be a whole number of at least 1"),
        ({"episode_length": 2.5}, "episode_length=2.5: must be a whole number"),
        ({"randomise": {"body_mas": lambda rng, x: x}}, "no float parameter 'body_mas'; did you mean 'body_mass'"),
        ({"randomise": {"body_mass": 3}}, "randomise 'body_mass': 3 is no distribution"),
    ],
)
def test_errors(m, changes, message):
    with pytest.raises(InputError, match=message):
        Env(m, **{"observe": observe, "reward": reward, **changes})


def test_wrong_actions_and_observations_that_change(m, env, begin):
    state = begin(jax.random.PRNGKey(0))
    with pytest.raises(InputError, match=r"step: action has shape \(2,\), one world's is \(1,\)"):
        env.step(state, jnp.zeros(2))
    calls = []

    def changing(m, d):
        calls.append(1)
        return d.qpos if len(calls) < 4 else d.xpos[1]

    other = Env(m, observe=changing, reward=reward)
    with pytest.raises(InputError, match=r"observe returns shape \(3,\) after a step, \(2,\) at the reset"):
        jax.eval_shape(other.step, state, jnp.zeros(1))
