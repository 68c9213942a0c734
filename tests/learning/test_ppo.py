"""PPO: its loss, and that it learns."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.learning.loop import run
from mjx_like.learning.networks import networks
from mjx_like.learning.ppo import PPOConfig, Rows, loss
from tests.learning.toy import assert_compiled


def test_loss_of_the_policy_that_collected_is_minus_the_mean_advantage():
    config = PPOConfig(entropy_cost=0.0, value_cost=0.0)
    nets = networks(config, 3, 2, jnp.float64)
    params = nets.start(jax.random.PRNGKey(0))
    obs, advantage = jax.random.normal(jax.random.PRNGKey(1), (10, 3)), jnp.arange(10.0)
    distribution = nets.actor(params["actor"], obs)
    drawn = distribution.sample(jax.random.PRNGKey(2))
    rows = Rows(obs, drawn, distribution.log_density(drawn), advantage, jnp.zeros(10))
    value, metrics = loss(config, nets, params, rows, jax.random.PRNGKey(3))
    assert float(value) == -4.5 and float(metrics["kl"]) == 0
    # Its gradient is that of the policy gradient theorem.
    policy_gradient = jax.grad(lambda p: -jnp.mean(nets.actor(p["actor"], obs).log_density(drawn) * advantage))(params)
    slope = jax.jit(jax.grad(lambda p, rows: loss(config, nets, p, rows, jax.random.PRNGKey(3))[0]))
    found = slope(params, rows)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(policy_gradient), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    # Beyond the clip, what is better than expected pulls no further.
    far = rows._replace(log_density=rows.log_density - 1, advantage=jnp.ones(10))
    assert all(not np.any(x) for x in jax.tree.leaves(slope(params, far)))


def test_it_learns_and_compiles_once(toy_ppo):
    result = run(toy_ppo, progress=False)
    first, *_, last = result.curve
    assert last.mean > first.mean + 10 and last.mean > 30  # of at most 40
    assert [point.samples for point in result.curve] == [0, 4096, 8192, 12288]
    assert_compiled(toy_ppo, result.training)
    assert float(result.policy(jnp.array([1.0, 0.0]))[0]) < -0.1 < 0.1 < float(result.policy(jnp.array([-1.0, 0.0]))[0])
