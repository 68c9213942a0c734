"""How the time of a step is shared among its stages, each compiled alone."""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp

import mjx_like as mjx
from mjx_like.cli.controls import random_controls
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Stage = Callable[[Model, Data], Data]

# In the order of a step; each starts from what the ones before have left. What is left of the step is its integrator.
STAGES: dict[str, Stage] = {
    "kinematics": lambda m, d: mjx.camlight(m, mjx.com_pos(m, mjx.kinematics(m, d))),
    "tendons, transmission": lambda m, d: mjx.transmission(m, mjx.tendon(m, d)),
    "inertia": lambda m, d: mjx.factor_m(m, mjx.crb(m, d)),
    "collision": mjx.collision,
    "constraint rows": mjx.make_constraint,
    "position sensors": mjx.sensor_pos,
    "velocity": mjx.fwd_velocity,
    "velocity sensors": mjx.sensor_vel,
    "actuation": mjx.fwd_actuation,
    "acceleration": mjx.fwd_acceleration,
    "solver": mjx.fwd_constraint,
    "acceleration sensors": mjx.sensor_acc,
}
ROUNDS = 5


def moving(m: Model, batch: int, steps: int, seed: int) -> Data:
    """Return a batch of worlds after some steps of random controls."""
    d = mjx.make_data(m, key=0 if m.nkey else None)
    controls = random_controls(m, seed, batch, 0, steps)
    worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d)
    return mjx.rollout(m, worlds, jnp.asarray(controls, d.qpos.dtype), record=lambda d: (), return_data=True)[1]


def stage_times(m: Model, d: Data) -> dict[str, float]:
    """Return the least time [s] that each stage takes for a batch of worlds, and `forward` and `step` as wholes."""
    times = {}
    for name, stage in (STAGES | {"forward": mjx.forward, "step": mjx.step}).items():
        leaves, tree = jax.tree.flatten(d)
        changed: list[int] = []
        run = jax.jit(jax.vmap(_writes(stage, changed), (None, 0))).lower(m, d).compile()
        written = jax.block_until_ready(run(m, d))
        times[name] = min(_timed(run, m, d) for _ in range(ROUNDS))
        if name in STAGES:
            for index, value in zip(changed, written, strict=True):
                leaves[index] = value
            d = jax.tree.unflatten(tree, leaves)
    return times


def _writes(stage: Stage, changed: list[int]) -> Callable[[Model, Data], list[jax.Array]]:
    """Return a function of what a stage writes alone, so that the rest of Data is not copied; `changed` tells which."""

    def run(m: Model, d: Data) -> list[jax.Array]:
        before, after = jax.tree.leaves(d), jax.tree.leaves(stage(m, d))
        changed[:] = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a is not b]
        return [after[i] for i in changed]

    return run


def _timed(run: Callable, m: Model, d: Data) -> float:
    begin = time.perf_counter()
    jax.block_until_ready(run(m, d))
    return time.perf_counter() - begin


def table(times: dict[str, float], batch: int) -> str:
    """Return the times as text: for the batch, for one world, and as shares of their sum."""
    total = sum(times[name] for name in STAGES)
    lines = [f"{'':24s}{'ms':>10s}{'us a world':>12s}{'share':>8s}"]
    for name, seconds in times.items():
        share = f"{seconds / total:8.0%}" if name in STAGES else ""
        lines.append(f"{name:24s}{1e3 * seconds:10.3f}{1e6 * seconds / batch:12.2f}{share}")
    lines.append(f"stages alone take {1e3 * total:.3f} ms together; forward and step compute them as one program")
    return "\n".join(lines)
