"""Two checkouts of mjx_like, or two sets of XLA flags, beside each other: what they take to compile and to run.

Run it from the root of the repository, for example against the commit before:

    git worktree add ../before HEAD~1
    python -m benchmarks.paired ../before . --model models/humanoid.xml --case gradient --batch 64

Each side is a process pinned to the same core; they take turns, and the ratio of a round is that of processor times of
the two turns. The median of the ratios is what counts: single rounds scatter by 5 to 10 % on a busy machine.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

CASES = ("kinematics", "collision", "collision-gradient", "step", "rollout", "gradient")


def main() -> None:
    """Print compile times, run times and the ratio after over before."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path, help="root of a checkout")
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--model", default="models/humanoid.xml")
    parser.add_argument("--case", choices=CASES, default="rollout")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--flags-before", default="", help="XLA_FLAGS of one side")
    parser.add_argument("--flags-after", default="")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        _work(args)
        return
    sides = _Side(args, args.before, args.flags_before), _Side(args, args.after, args.flags_after)
    for name, side in zip(("before", "after"), sides, strict=True):
        side.go()  # its first run warms up
        seconds = f"trace and lower {side.trace:.1f} s  compile {side.compile:.1f} s"
        print(f"{name:7} lines {side.lines}  {seconds}", flush=True)
    times = []
    for k in range(args.rounds):
        order = sides if k % 2 else sides[::-1]
        taken = {id(side): side.go() for side in order}
        times.append([taken[id(side)] for side in sides])
    before, after = zip(*times, strict=True)
    ratios = [a / b for b, a in times]
    print(f"{args.model} {args.case}: before {1e3 * min(before):.3f} ms, after {1e3 * min(after):.3f} ms at least")
    print(f"after over before: median {statistics.median(ratios):.3f} of {len(ratios)} rounds, of the least "
          f"{min(after) / min(before):.3f}; half of the rounds within "
          f"{' to '.join(f'{q:.3f}' for q in statistics.quantiles(ratios, n=4)[::2])}")  # fmt: skip


class _Side:
    """A process that compiles, then runs once for each line that it reads."""

    def __init__(self, args: argparse.Namespace, root: pathlib.Path, flags: str):
        command = [sys.executable, __file__, str(root), str(root), "--worker"]
        command += [f"--{name}={getattr(args, name)}" for name in ("model", "case", "batch", "steps", "core")]
        environment = {**os.environ, "PYTHONPATH": str(root.resolve()), "XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = subprocess.Popen(command, env=environment, text=True, stdin=-1, stdout=-1)
        said = self._process.stdout.readline().split()
        if not said:
            raise SystemExit(f"{root}: the process ended early")
        self.lines, self.trace, self.compile = int(said[0]), float(said[1]), float(said[2])

    def go(self) -> float:
        """Return the seconds of one turn."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def _work(args: argparse.Namespace) -> None:
    os.sched_setaffinity(0, {args.core})
    import jax

    function, arguments = _case(args)
    begin = time.process_time()
    lowered = jax.jit(function).lower(*arguments)
    middle = time.process_time()
    program = lowered.compile()
    end = time.process_time()
    print(lowered.as_text().count("\n"), middle - begin, end - middle, flush=True)
    repeats = 1
    for _ in sys.stdin:
        begin, count = time.process_time(), repeats
        for _ in range(count):
            jax.block_until_ready(program(*arguments))
        taken = time.process_time() - begin
        repeats = count if taken > 0.2 else 2 * count  # turns of a fifth of a second
        print(taken / count, flush=True)


def _case(args: argparse.Namespace) -> tuple[Callable, tuple]:
    """Return the function that is measured and its arguments."""
    import jax
    import jax.numpy as jnp

    import mjx_like as mjx

    m = mjx.Model.from_xml_path(args.model)
    keys = jax.random.split(jax.random.key(0), 3)
    qvel = 0.1 * jax.random.normal(keys[0], (args.batch, m.nv))
    ctrl = 0.3 * jax.random.normal(keys[1], (args.batch, args.steps, m.nu))
    worlds = jax.vmap(lambda v: mjx.make_data(m, **({"key": 0} if m.nkey else {})).replace(qvel=v))(qvel)

    def contacts(worlds):
        from mjx_like.collision.driver import collision

        found = jax.vmap(lambda d: collision(m, mjx.kinematics(m, d)).contact)(worlds)
        return found.dist, found.pos, found.frame

    def moved(qvel):
        # the poses after a step at these velocities, so that the gradient has something to reach
        return contacts(jax.vmap(lambda d, v: d.replace(qpos=mjx.integrate_pos(m, d.qpos, v, 1e-3)))(worlds, qvel))

    def end(ctrl):
        last = mjx.rollout(m, worlds, ctrl, record=lambda d: d.qpos[0])
        return jnp.sum(last[:, -1])

    return {
        "kinematics": (lambda w: jax.vmap(lambda d: mjx.kinematics(m, d))(w).xpos, (worlds,)),
        "collision": (contacts, (worlds,)),
        "collision-gradient": (jax.grad(lambda v: sum(map(jnp.sum, moved(v)))), (qvel,)),
        "step": (jax.vmap(lambda d: mjx.step(m, d)), (worlds,)),
        "rollout": (end, (ctrl,)),
        "gradient": (jax.grad(end), (ctrl,)),
    }[args.case]


if __name__ == "__main__":
    main()
