"""Environments of many worlds: worlds as each alone, automatic resets, models of their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.envs import Env, add, log_uniform, normal, scale, uniform, vectorise
from mjx_like.envs.vector import VectorEnv
from mjx_like.errors import InputError
from mjx_like.leaves.change import with_leaves
from tests.envs.test_env import XML, reset, reward
from tests.support.oracle import error

WORLDS = 5
RANDOM = {"body_mass@ball": scale(0.5, 2), "gravity[2]": uniform(-12, -8), "geom_friction[0]": uniform(0.2, 1)}


def observe(m, d):
    return jnp.concatenate([d.qpos, d.qvel])


@pytest.fixture(scope="module")
def env():
    return Env(from_xml_string(XML), observe=observe, reward=reward, reset=reset, n_frames=2, episode_length=6,
               randomise=RANDOM)  # fmt: skip


@pytest.fixture(scope="module")
def many(env):
    return vectorise(env, pool=3, block=2)


@pytest.fixture(scope="module")
def begin(many):
    return jax.jit(many.reset, static_argnums=1)


@pytest.mark.slow
def test_worlds_are_those_of_one_world_with_models_of_their_own(env, many, begin):
    state = begin(jax.random.PRNGKey(0), WORLDS)
    names = set(state.info["leaves"])
    assert {"body_mass", "opt_floats.gravity", "geom_friction", "body_invweight0", "dof_M0"} <= names
    assert not {"body_pos", "geom_size", "jnt_axis", "opt_floats.timestep"} & names, "only what is drawn, or follows"
    mass = state.info["leaves"]["body_mass"][:, 1]
    assert np.ptp(mass) > 0.1 and (mass > 0.5).all() and (mass < 2).all()
    one = jax.jit(env.step)
    step = jax.jit(many.step)
    alone = [jax.tree.map(lambda x, w=w: x[w], state) for w in range(WORLDS)]
    alone = [s.replace(info={k: v for k, v in s.info.items() if k != "final_obs"}) for s in alone]
    actions = jax.random.uniform(jax.random.PRNGKey(1), (4, WORLDS, 1), minval=-1)
    for action in actions:
        state = step(state, action)
        alone = [one(s, a) for s, a in zip(alone, action, strict=True)]
    for world, s in enumerate(alone):
        assert error(state.data.qpos[world], s.data.qpos) < 1e-12
        assert error(state.obs[world], s.obs) < 1e-9
        assert error(state.reward[world], s.reward) < 1e-12
    assert np.ptp(np.asarray(state.data.qvel[:, 1])) > 1e-3


@pytest.mark.slow
def test_a_drawn_model_is_that_of_with_leaves(env):
    state = env.reset(jax.random.PRNGKey(5))
    leaves = state.info["leaves"]
    expected = with_leaves(env.model, {"body_mass": leaves["body_mass"], "geom_friction": leaves["geom_friction"],
                                       "gravity": leaves["opt_floats.gravity"]})  # fmt: skip
    for name in ("body_invweight0", "dof_invweight0", "body_subtreemass", "actuator_acc0"):
        assert error(leaves[name], getattr(expected, name)) < 1e-12
    assert error(leaves["opt_floats.gravity"][:2], jnp.zeros(2)) == 0


def test_episodes_begin_anew_from_the_pool(many, begin):
    step = jax.jit(many.step)
    state = begin(jax.random.PRNGKey(2), 64)
    starts = []
    for k in range(1, 13):
        before, state = state, step(state, jnp.zeros((64, 1)))
        ended = k % 6 == 0
        assert (state.done == ended).all() and (state.info["truncated"] == ended).all()
        assert (state.info["steps"] == k % 6).all()
        if ended:
            starts.append(np.unique(np.asarray(state.obs[:, 0])))
            assert len(starts[-1]) == 3, "each start of the pool is taken, and no other"
            assert error(state.info["final_obs"][:, 0], before.obs[:, 0]) < 0.1
            assert (state.info["final_obs"] != state.obs).any(axis=1).all()
        else:
            assert error(state.info["final_obs"], state.obs) == 0
    assert np.array_equal(*starts)


@pytest.mark.slow
def test_no_gradient_passes_a_reset(many, begin):
    state = begin(jax.random.PRNGKey(0), 2)

    def positions(action):
        def one(s, _):
            s = many.step(s, action)
            return s, s.data.qpos[:, 0]

        return jnp.sum(jax.lax.scan(one, state, length=6)[1][-2:], axis=1)

    before, after = jax.jit(jax.jacrev(positions))(jnp.full((2, 1), 0.1))
    assert np.abs(before).min() > 1e-4 and np.abs(after).max() == 0


@pytest.mark.slow
def test_worlds_first_equals_worlds_last(many, begin, monkeypatch):
    state = begin(jax.random.PRNGKey(0), WORLDS)
    action = jnp.linspace(-1, 1, WORLDS)[:, None]
    last = jax.jit(many.step)(state, action)
    monkeypatch.setattr("mjx_like.envs.vector.worlds_are_last", lambda m: False)
    first = jax.jit(VectorEnv(many.env, pool=3).step)(state, action)
    assert max(error(x, y) for x, y in zip(jax.tree.leaves(last), jax.tree.leaves(first), strict=True)) < 1e-9


def test_distributions():
    key, nominal = jax.random.PRNGKey(0), jnp.full(4000, 2.0)
    draws = {f: f(key, nominal) for f in (uniform(1, 3), scale(0.5, 1.5), add(-1, 1), log_uniform(1, 4), normal(0.5))}
    low, high = zip((1, 3), (1, 3), (1, 3), (1, 4), (-1, 5), strict=True)
    for x, a, b in zip(draws.values(), low, high, strict=True):
        assert (x > a).all() and (x < b).all()
    means = [float(jnp.mean(x)) for x in draws.values()]
    assert np.allclose(means, [2, 2, 2, 3 / np.log(4), 2], atol=0.05)
    assert float(jnp.std(list(draws.values())[-1])) == pytest.approx(0.5, abs=0.03)
    shared = uniform(1, 3, shared=True)(key, nominal)
    assert np.ptp(shared) == 0 and shared.shape == nominal.shape
    with pytest.raises(InputError, match="needs 0 < low <= high"):
        log_uniform(0, 1)


def test_errors(env, many, begin):
    with pytest.raises(InputError, match="pool=0: must be a whole number of at least 1"):
        vectorise(env, pool=0)
    with pytest.raises(InputError, match=r"action has shape \(3, 1\), \(5,\) worlds need \(5, 1\)"):
        many.step(begin(jax.random.PRNGKey(0), WORLDS), jnp.zeros((3, 1)))
