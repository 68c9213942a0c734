"""Time and memory of the gradient of a rollout over those of the rollout, beside MJX and differences by MuJoCo C.

Run it from the root of the repository: python -m benchmarks.gradients.cost models/hopper.xml --steps 100 --batch 16

Rollout and gradient take turns, and the least time of each counts, as the processor's and as the wall's: where other
programs run beside it, only the former can be compared. `--compile-only` skips the runs: memory is known without them.
"""

import argparse
import functools
import subprocess
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp


def main() -> None:
    """Print one table for a model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compile-only", action="store_true", help="compile times and memory alone")
    parser.add_argument("--alone", action="store_true", help="without MJX and MuJoCo C")
    parser.add_argument("--engine", choices=tuple(ENGINES), default="mjx_like", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.engine == "mjx_like":
        print(f"{args.model}: {args.steps} steps, {args.batch} worlds, {jnp.zeros(0).dtype}")
    _print(args, args.engine)
    if args.alone or args.engine != "mjx_like":
        return
    print("MJX, with one iteration of its solver: it refuses reverse mode with more", flush=True)
    said = subprocess.run([sys.executable, "-m", __spec__.name, *sys.argv[1:], "--engine", "mjx"], stderr=-1, text=True)
    if said.returncode:
        print("  " + (said.stderr.strip().splitlines() or ["it failed"])[-1][:160])
    if not args.compile_only:
        print(f"central differences by MuJoCo C, of one world by all controls: {_differences(args):.4f} s")


def _print(args, engine: str) -> None:
    loss, start, ctrl = ENGINES[engine](args)
    programs, memory = {}, {}
    for name, function in (("rollout", loss), ("gradient", jax.grad(loss, 1))):
        begin = time.perf_counter(), time.process_time()
        programs[name] = jax.jit(function).lower(start, ctrl).compile()
        wall, own = time.perf_counter() - begin[0], time.process_time() - begin[1]
        memory[name] = programs[name].memory_analysis().temp_size_in_bytes / 2**20
        print(f"  {name:8s} compile {wall:6.1f} s ({own:6.1f} s of processor)   memory {memory[name]:8.1f} MB")
    print(f"  gradient over rollout: {memory['gradient'] - memory['rollout']:.1f} MB above", flush=True)
    if args.compile_only:
        return
    wall, processor = _best(programs, (start, ctrl), args.repeats)
    for name in programs:
        print(f"  {name:8s} run {1e3 * wall[name]:9.2f} ms ({1e3 * processor[name]:9.2f} ms of processor)")
    print(
        f"  gradient over rollout: {wall['gradient'] / wall['rollout']:.2f} times the time,"
        f" {processor['gradient'] / processor['rollout']:.2f} times that of the processor"
    )
    print(f"  gradient of one world by all controls: {wall['gradient'] / args.batch:.4f} s", flush=True)


def _ours(args) -> tuple[Callable, object, jax.Array]:
    """Return the end of rollouts as a function of worlds and controls, and both."""
    import mjx_like as mjx

    m = mjx.Model.from_xml_path(args.model)
    qvel, ctrl = _inputs(args, m)
    worlds = jax.vmap(lambda v: mjx.make_data(m).replace(qvel=v))(qvel)

    def loss(worlds, ctrl):
        end = mjx.rollout(m, worlds, ctrl, record=lambda d: d.qpos[0])
        return jnp.sum(end[:, -1])

    return loss, worlds, ctrl


def _mjx(args) -> tuple[Callable, object, jax.Array]:
    import mujoco
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(args.model)
    model.opt.iterations = 1
    m = mjx.put_model(model)
    qvel, ctrl = _inputs(args, m)
    worlds = jax.vmap(lambda v: mjx.make_data(m).replace(qvel=v))(qvel)

    def one(d, ctrl):
        @functools.partial(jax.checkpoint, prevent_cse=False)
        def advance(d, u):
            return mjx.step(m, d.replace(ctrl=u)), None

        return jax.lax.scan(advance, d, ctrl)[0].qpos[0]

    return lambda worlds, ctrl: jnp.sum(jax.vmap(one)(worlds, ctrl)), worlds, ctrl


ENGINES = {"mjx_like": _ours, "mjx": _mjx}


def _inputs(args, m) -> tuple[jax.Array, jax.Array]:
    """Return velocities and controls of all worlds."""
    qvel = 0.1 * jax.random.normal(jax.random.key(0), (args.batch, m.nv))
    return qvel, 0.3 * jax.random.normal(jax.random.key(1), (args.batch, args.steps, m.nu))


def _best(programs: dict[str, Callable], arguments, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the least seconds of each program, on the wall and of the processor."""
    wall, processor = (dict.fromkeys(programs, float("inf")) for _ in range(2))
    for _ in range(repeats + 1):
        for name, program in programs.items():
            begin = time.perf_counter(), time.process_time()
            jax.block_until_ready(program(*arguments))
            wall[name] = min(wall[name], time.perf_counter() - begin[0])
            processor[name] = min(processor[name], time.process_time() - begin[1])
    return wall, processor


def _differences(args) -> float:
    """Return the seconds that MuJoCo C needs for the same gradient by differences: two rollouts for each control."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(args.model)
    data = mujoco.MjData(model)
    begin = time.process_time()
    for _ in range(args.steps):
        mujoco.mj_step(model, data)
    return 2 * args.steps * model.nu * (time.process_time() - begin)


if __name__ == "__main__":
    main()
