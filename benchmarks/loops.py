"""Loops that users write over steps of many worlds, beside `rollout`: python -m benchmarks.loops.

All take the same worlds through the same controls and record positions, in turn, in one process on one core; what
counts is the ratio of processor times of a round, compilation not counted.
"""

import argparse
import os
import statistics
import time

import jax
import jax.numpy as jnp
from jax import lax

import mjx_like as mjx
from mjx_like.cli.controls import random_controls
from mjx_like.cli.stages import moving
from mjx_like.rollout.rollout import start_of
from mjx_like.rollout.sharding import in_blocks


def _qpos(d):
    return d.qpos


def rollout(m, d, ctrl):
    return mjx.rollout(m, d, ctrl, record=_qpos, return_data=True)


def plain(m, d, ctrl):
    """The loop as one writes it first: all of Data is carried."""

    def one(d, u):
        d = jax.vmap(mjx.step, (None, 0))(m, d.replace(ctrl=u))
        return d, d.qpos

    return lax.scan(one, d, ctrl.swapaxes(0, 1))


def state_carried(m, d, ctrl):
    """The same, but what `rollout` carries alone: derived fields are not written."""

    def one(state, u):
        x = jax.vmap(mjx.step, (None, 0))(m, d.replace(**state).replace(ctrl=u))
        return start_of(x), x.qpos

    return lax.scan(one, start_of(d), ctrl.swapaxes(0, 1))


def in_blocks_too(m, d, ctrl):
    """The same in blocks of 128 worlds."""

    def one(state, u):
        def steps(worlds, _):
            x = jax.vmap(mjx.step, (None, 0))(m, worlds)
            return start_of(x), x.qpos

        return in_blocks(steps, 128)(d.replace(**state).replace(ctrl=u), None)

    return lax.scan(one, start_of(d), ctrl.swapaxes(0, 1))


def step_worlds(m, d, ctrl):
    def one(d, u):
        qpos, d = mjx.step_worlds(m, d.replace(ctrl=u), record=_qpos)
        return d, qpos

    return lax.scan(one, d, ctrl.swapaxes(0, 1))


FORMS = {
    "rollout": rollout,
    "scan over vmap(step)": plain,
    "... state carried alone": state_carried,
    "... and in blocks": in_blocks_too,
    "scan over step_worlds": step_worlds,
}


def main() -> None:
    """Print for each model and form steps per second of one core, and the median of its speed over that of rollout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "models", nargs="*", default=[f"models/{x}.xml" for x in "half_cheetah hopper ant humanoid".split()]
    )
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    mjx.compile_quickly()
    for path in args.models:
        m = mjx.Model.from_xml_path(path)
        d = moving(m, args.batch, args.steps, 0)
        ctrl = jnp.asarray(random_controls(m, 0, args.batch, 0, args.steps), d.qpos.dtype)
        programs = {name: jax.jit(form).lower(m, d, ctrl).compile() for name, form in FORMS.items()}
        seconds = {name: [] for name in FORMS}
        for _ in range(args.rounds + 1):
            for name, program in programs.items():
                seconds[name].append(_seconds(program, m, d, ctrl))
        print(f"{path}, {args.batch} worlds, {args.steps} steps")
        for name, taken in seconds.items():
            ratio = statistics.median(a / b for a, b in zip(seconds["rollout"][1:], taken[1:], strict=True))
            print(f"  {name:24s}{args.batch * args.steps / min(taken[1:]):10,.0f} steps/s{ratio:8.2f}", flush=True)


def _seconds(program, *args) -> float:
    begin = time.process_time()
    jax.block_until_ready(program(*args))
    return time.process_time() - begin


if __name__ == "__main__":
    main()
