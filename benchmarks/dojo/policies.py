"""Row policies: linear policies for half-cheetah and ant by random search and by gradients, through hard contact.

Both searches move the policy along an estimate of the slope of its reward. Augmented random search takes it from pairs
of rollouts of policies on either side, the gradient search from the derivative of rollouts of policies beside it.
Evaluations are simulated steps; a step whose derivative is taken counts twice. Source: Dojo paper, table VI; Mania et
al., 2018.
"""

import functools
import pathlib
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx

Array = jax.Array

SEEDS = 5
GAP, SHARP = 1e-3, 1e-5  # m: of the searches, and of the replay
NOISE = 0.03  # of a policy's entries
PAIRS, BEST = 8, 4  # directions of a random search, and those it uses
BESIDE = 2  # rollouts of a gradient


class Walk(NamedTuple):
    """A robot that is to walk along x, its horizon at 0.05 s, and the paper's rewards and evaluations."""

    name: str
    steps: int
    alive: float  # reward of a step with the trunk at its height
    paper: str
    evaluations: dict[str, int]  # of our searches
    rate: dict[str, float]  # way of one update, in entries of the policy


WALKS = (
    Walk(
        "half_cheetah", 80, 0.0, "random 46 +- 24 with 3e4, gradient 44 +- 24 with 5e3",
        {"random": 30_000, "gradient": 5_000}, {"random": 0.03, "gradient": 0.1},
    ),
    Walk(
        "ant", 150, 0.05, "random 64 +- 15 with 2e5, gradient 54 +- 28 with 2e4",
        {"random": 40_000, "gradient": 10_000}, {"random": 0.03, "gradient": 0.03},
    ),
)  # fmt: skip


def policies(out: pathlib.Path | None) -> None:
    """Print rewards by seeds."""
    print(f"linear policies, steps of 0.05 s, hard contact at {GAP} m; {SEEDS} seeds, mean +- deviation of all")
    for walk in WALKS:
        print(f"  {walk.name}, {walk.steps} steps; the paper, best 3 of 5 seeds, with its own rewards: {walk.paper}")
        m = mjx.Model.from_xml_path(f"models/{walk.name}.xml", contact="hard", gap=GAP)
        m = m.replace(opt=m.opt.replace(timestep=0.05))
        many = jax.jit(jax.vmap(functools.partial(reward, m, walk)))
        slopes = jax.jit(jax.vmap(jax.value_and_grad(functools.partial(reward, m, walk))))
        sharp = jax.jit(jax.vmap(functools.partial(reward, mjx.with_hard_contact(m, SHARP), walk)))
        searches = {
            "random": functools.partial(random_step, many),
            "gradient": functools.partial(gradient_step, slopes),
        }
        for search, function in searches.items():
            begin = time.process_time()
            found = np.stack([_trained(m, walk, search, function, seed) for seed in range(SEEDS)])
            ends, replayed = (np.asarray(f(jnp.asarray(found))) for f in (many, sharp))
            print(
                f"    {search:<9}{walk.evaluations[search]:>7} evaluations: {ends.mean():.1f} +- {ends.std():.1f}"
                f" {np.sort(ends).round(1)}, replayed at {SHARP} m {replayed.mean():.1f} +- {replayed.std():.1f}"
                f" (no policy {float(many(jnp.zeros_like(found))[0]):.1f}; {time.process_time() - begin:.0f} s CPU)",
                flush=True,
            )


def observation(d: mjx.Data) -> Array:
    """Return all positions but the way, velocities in tenths, and one."""
    return jnp.concatenate([d.qpos[1:], 0.1 * d.qvel, jnp.ones_like(d.qpos[:1])])


def reward(m: mjx.Model, walk: Walk, policy: Array) -> Array:
    """Return the reward of a rollout: velocities less a tenth of squared controls, and what staying up brings."""
    start = mjx.make_data(m, key=0) if m.nkey else mjx.make_data(m)

    def advance(d: mjx.Data, _: None) -> tuple[mjx.Data, Array]:
        ctrl = jnp.tanh(policy @ observation(d))
        end = mjx.step(m, d.replace(ctrl=ctrl))
        speed = (end.qpos[0] - d.qpos[0]) / 0.05
        up = end.xpos[1, 2] > 0.5 * start.qpos[2] if walk.alive else 0.0
        return end, speed - 0.1 * jnp.sum(ctrl**2) + walk.alive * up

    return jnp.sum(jax.lax.scan(jax.checkpoint(advance), start, None, walk.steps)[1])


def random_step(many, policy: Array, key: Array, rate: float) -> tuple[Array, int]:
    """Return the policy moved along the best of several directions, by what they bring, and the rollouts done."""
    away = jax.random.normal(key, (PAIRS, *policy.shape), policy.dtype)
    ends = many(policy + NOISE * jnp.concatenate([away, -away])).reshape(2, PAIRS)
    best = jnp.argsort(-jnp.max(ends, axis=0))[:BEST]
    deviation = jnp.std(ends[:, best]) + 1e-6
    return policy + rate / (BEST * deviation) * jnp.tensordot((ends[0] - ends[1])[best], away[best], 1), 2 * PAIRS


def gradient_step(slopes, policy: Array, key: Array, rate: float) -> tuple[Array, int]:
    """Return the policy moved along the mean direction of gradients of policies beside it, and rollouts, twice."""
    beside = policy + NOISE * jax.random.normal(key, (BESIDE, *policy.shape), policy.dtype)
    _, slope = slopes(beside)
    size = jnp.sqrt(jnp.mean(slope**2, axis=(1, 2), keepdims=True)) + 1e-6
    return policy + rate * jnp.mean(slope / size, axis=0), 2 * BESIDE


def _trained(m: mjx.Model, walk: Walk, search: str, function, seed: int) -> np.ndarray:
    policy = jnp.zeros((m.nu, m.nq + m.nv))
    key, left = jax.random.PRNGKey(seed), walk.evaluations[search]
    while left > 0:
        key, own = jax.random.split(key)
        policy, rollouts = function(policy, own, walk.rate[search])
        left -= rollouts * walk.steps
    return np.asarray(policy)
