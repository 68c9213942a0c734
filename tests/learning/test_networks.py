"""The squashed normal distribution, against what its definition says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

from mjx_like.errors import InputError
from mjx_like.learning.networks import Squashed, networks
from mjx_like.learning.normaliser import empty
from mjx_like.learning.policy import Policy
from mjx_like.learning.ppo import PPOConfig

DISTRIBUTION = Squashed(jnp.array([0.4]), jnp.array([-0.3]))


def density(action: float) -> float:
    return float(jnp.exp(DISTRIBUTION.log_density(jnp.arctanh(jnp.array([action])))))


def test_density_of_actions_is_one_in_all():
    assert integrate.quad(density, -1, 1)[0] == pytest.approx(1, abs=1e-6)


def test_log_density_where_tanh_is_one():
    assert np.isfinite(DISTRIBUTION.log_density(jnp.array([40.0])))


def test_entropy_is_that_of_the_density():
    exact = integrate.quad(lambda a: -density(a) * np.log(max(density(a), 1e-300)), -1, 1)[0]
    keys = jax.random.split(jax.random.PRNGKey(0), 20_000)
    assert float(jnp.mean(jax.vmap(DISTRIBUTION.entropy)(keys))) == pytest.approx(exact, abs=0.02)


def test_a_policy_draws_with_a_key_and_has_bounds_without():
    nets = networks(PPOConfig(), 3, 2, jnp.float64)
    params = nets.start(jax.random.PRNGKey(0))
    assert all(x.dtype == jnp.float64 for x in jax.tree.leaves(params))
    policy = Policy(nets, params["actor"], empty(3, jnp.float64))
    obs = jnp.ones((7, 3))
    assert policy(obs).shape == (7, 2) and np.all(np.abs(policy(obs)) < 1)
    drawn = policy(obs, jax.random.PRNGKey(1))
    assert np.std(drawn[:, 0]) > 0.1 and np.std(policy(obs)[:, 0]) < 1e-12
    with pytest.raises(InputError, match=r"obs has shape \(7, 4\), this policy takes \(\.\.\., 3\)"):
        policy(jnp.ones((7, 4)))
