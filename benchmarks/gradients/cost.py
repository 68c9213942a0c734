"""Time and memory of the gradient of a rollout over those of the rollout, beside central differences by MuJoCo C.

Run it from the root of the repository: python -m benchmarks.gradients.cost models/hopper.xml --steps 100 --batch 16
"""

import argparse
import functools
import time

import jax
import jax.numpy as jnp

import mjx_like as mjx


def main() -> None:
    """Print one table for a model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    m = mjx.Model.from_xml_path(args.model)
    start = jax.vmap(lambda v: mjx.make_data(m).replace(qvel=v))
    worlds = start(0.1 * jax.random.normal(jax.random.key(0), (args.batch, m.nv)))
    ctrl = 0.3 * jax.random.normal(jax.random.key(1), (args.batch, args.steps, m.nu))
    plain, gradient = (jax.jit(f) for f in (functools.partial(_loss, m), jax.grad(functools.partial(_loss, m), 1)))
    rows = []
    for name, function in (("rollout", plain), ("gradient", gradient)):
        begin = time.perf_counter()
        compiled = function.lower(worlds, ctrl).compile()
        seconds = time.perf_counter() - begin
        temporary = compiled.memory_analysis().temp_size_in_bytes
        rows.append((name, seconds, _best(compiled, (worlds, ctrl), args.repeats), temporary))
    print(f"{args.model}: {args.steps} steps, {args.batch} worlds, {m.qpos0.dtype}")
    for name, compiling, running, temporary in rows:
        print(
            f"  {name:9s} compile {compiling:7.1f} s   run {1e3 * running:9.2f} ms   memory {temporary / 2**20:8.1f} MB"
        )
    (_, _, plain_time, plain_memory), (_, _, time_of, memory_of) = rows
    above = (memory_of - plain_memory) / 2**20
    print(f"  gradient over rollout: {time_of / plain_time:.2f} times the time, {above:.1f} MB above")
    one = _differences(args, m)
    if one:
        print(f"  gradient of one world by all controls: {time_of / args.batch:.4f} s; by MuJoCo C: {one:.4f} s")


def _loss(m, worlds, ctrl):
    end = mjx.rollout(m, worlds, ctrl, record=lambda d: d.qpos[0])
    return jnp.sum(end[:, -1])


def _best(function, arguments, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        best = min(best, time.perf_counter() - begin)
    return best


def _differences(args, m) -> float | None:
    """Return the seconds that MuJoCo C needs for the same gradient by differences: two rollouts for each control."""
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_path(args.model)
    data = mujoco.MjData(model)
    begin = time.perf_counter()
    for _ in range(args.steps):
        mujoco.mj_step(model, data)
    return 2 * args.steps * m.nu * (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
