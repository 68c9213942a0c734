"""What an environment costs beside the bare rollout of its physics: python -m benchmarks.envs.

Both step the same worlds with the same controls, in turn, in one process; compilation is not counted.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

import mjx_like as mjx
from mjx_like import envs
from mjx_like.cli.setup import add_option_arguments, given_options


def main() -> None:
    """Print seconds of both for each round, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=envs.TASKS, default="ant")
    parser.add_argument("--batch", type=int, default=1024, help="worlds")
    parser.add_argument("--steps", type=int, default=20, help="of the environment")
    parser.add_argument("--rounds", type=int, default=5)
    add_option_arguments(parser)
    args = parser.parse_args()
    mjx.compile_quickly()
    env = envs.make(args.task, **given_options(args))
    many = envs.vectorise(env)
    start = jax.jit(many.reset, static_argnums=1)(jax.random.PRNGKey(0), args.batch)
    shape = (args.steps, args.batch, env.action_size)
    actions = jax.random.uniform(jax.random.PRNGKey(1), shape, minval=-1)

    @jax.jit
    def stepped(state, actions):
        return jax.lax.scan(lambda s, a: (many.step(s, a), s.reward), state, actions)

    blank = mjx.make_data(env.model)
    state = {name: getattr(start.data, name) for name in envs.WorldState.__dataclass_fields__}
    worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (args.batch, *x.shape)), blank).replace(**state)
    controls = jax.jit(jax.vmap(jax.vmap(lambda a: envs.scaled(env.model, blank, a).ctrl)))(actions)
    controls = jnp.repeat(controls, env.n_frames, axis=0).swapaxes(0, 1)
    ratios = []
    for number in range(args.rounds + 1):
        ours = _seconds(lambda: stepped(start, actions))
        bare = _seconds(lambda: mjx.rollout(env.model, worlds, controls).qpos)
        if number:
            ratios.append(ours / bare)
            print(f"environment {ours:.2f} s, rollout {bare:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
    rate = args.steps * args.batch / ours
    print(f"{args.task}, {args.batch} worlds: ratio {statistics.median(ratios):.3f}, {rate:,.0f} environment steps/s")


def _seconds(work) -> float:
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
