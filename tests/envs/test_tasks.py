"""The tasks that come with the package: they run, start where they should, and can be rewarded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.envs import TASKS, make, vectorise
from mjx_like.errors import InputError

QUICK = ("cartpole",)
CASES = [(name, {}) for name in TASKS] + [("hopper", {"contact": "hard", "gap": 1e-4})]
WORLDS, STEPS = 4, 20


@pytest.mark.parametrize(
    "name, options",
    [pytest.param(*c, id="-".join([c[0], *c[1]]), marks=[] if c[0] in QUICK else pytest.mark.slow) for c in CASES],
)
def test_a_task_runs_in_float32(name, options):
    env = make(name, dtype=jnp.float32, episode_length=STEPS // 2, **options)
    assert env.model.opt.contact == options.get("contact", "soft")
    many = vectorise(env, pool=4)

    @jax.jit
    def run(rng):
        state = many.reset(rng, WORLDS)
        actions = jax.random.uniform(rng, (STEPS, WORLDS, env.action_size), jnp.float32, -1, 1)

        def one(state, action):
            state = many.step(state, action)
            return state, (state.obs, state.reward, state.done, state.metrics)

        return jax.lax.scan(one, state, actions)

    end, (obs, reward, done, metrics) = run(jax.random.PRNGKey(0))
    assert obs.shape == (STEPS, WORLDS, env.observation_size) and obs.dtype == jnp.float32
    assert np.isfinite(obs).all() and np.isfinite(reward).all() and np.ptp(reward) > 0 or name == "cartpole"
    assert all(np.isfinite(x).all() for x in metrics.values())
    assert (done[STEPS // 2 - 1] == 1).any() and (end.info["steps"] <= STEPS // 2).all()
    assert int(jnp.max(end.data.maxuse_con)) <= env.model.nconmax


def test_the_pole_falls_without_a_push_and_is_held_by_feedback():
    env = make("cartpole")
    gains = jnp.array([0.3, 0, 6.0, 0.5, 1.2])

    @jax.jit
    def lengths(gain):
        def one(state, _):
            state = env.step(state, jnp.clip(jnp.sum(gain * gains * state.obs), -1, 1)[None])
            return state, state.done

        return jnp.argmax(jax.lax.scan(one, env.reset(jax.random.PRNGKey(0)), length=500)[1]) + 1

    assert 10 < int(lengths(0.0)) < 150 and int(lengths(1.0)) == 500


def test_errors():
    with pytest.raises(InputError, match=r"no task 'hoper'; did you mean 'hopper'\?; there are: cartpole"):
        make("hoper")
