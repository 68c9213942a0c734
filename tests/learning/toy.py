"""A small environment: a point on a line that is to be at 0, and is at rest a metre away at the start."""

import jax
import jax.numpy as jnp

from mjx_like.envs.env import Env, Outcome
from mjx_like.types.model import Model

XML = """<mujoco><option timestep="0.05"/><worldbody><body><joint name="x" type="slide" axis="1 0 0" damping="1"/>
<geom size=".1" mass="1"/></body></worldbody>
<actuator><motor joint="x" gear="4" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""

TRACED: list[str] = []  # one entry for each time that JAX traces a reward: compiled code adds none


def point(episode_length: int = 40, broken: str = "") -> Env:
    """Return the environment; its episodes end early beyond 3 m.

    broken: "obs" or "reward" for one that is not finite from x = 0.5 on, which is everywhere at the start.
    """

    def reset(m, d, rng):
        side = jnp.where(jax.random.bernoulli(rng), 1.0, -1.0)
        return d.replace(qpos=side + 0.2 * jax.random.normal(rng, (1,), d.qpos.dtype))

    def observe(m, d):
        obs = jnp.concatenate([d.qpos, d.qvel])
        return obs.at[1].set(jnp.where(d.time > 0.2, jnp.nan, obs[1])) if broken == "obs" else obs

    def reward(m, before, d):
        TRACED.append("reward")
        value = 1 - d.qpos[0] ** 2 - 0.1 * d.qvel[0] ** 2
        return Outcome(
            value / (0 if broken == "reward" else 1), jnp.abs(d.qpos[0]) > 3, {"distance": jnp.abs(d.qpos[0])}
        )

    return Env(Model.from_xml_string(XML), reset=reset, observe=observe, reward=reward, episode_length=episode_length)


def assert_compiled(algorithm, training) -> None:
    """Fail where one more update of a run's training is traced again."""
    before = len(TRACED)
    assert before > 0
    algorithm.update(training)
    assert len(TRACED) == before
