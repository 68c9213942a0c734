"""python -m benchmarks.dojo.cost [MODEL ...]: CPU time of a step with soft and with hard contact, float32.

Prints microseconds of CPU time for a step of one world of a batch, their ratio, and the seconds that each takes to
compile, both in one process and timed in turn; worlds start at the first keyframe, where there is one, and are driven
by random controls. A model is a name of models/, or a path.

Row time of `python -m benchmarks.dojo`: 1000 steps with their derivatives, one world, beside MuJoCo C by its own
differences; compiling is left out, for it takes minutes.
"""

import argparse
import pathlib
import time

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx
from mjx_like.compilation import choose_emitters

ROUNDS = 5
MODELS = ("hopper", "half_cheetah", "humanoid")
STEPS, H = 1000, 0.01
PAPER = {  # s: Dojo, Brax, MuJoCo by differences, on the paper's machine and its own models
    "humanoid": (1.75, 6.98, 1.51),
    "quadruped": (5.24, 11.1, 1.11),
    "arm": (1.16, 11.0, 0.34),
}
GAP = 1e-4  # m


def times(out: pathlib.Path | None) -> None:
    """A, B of each of 1000 steps with random controls, and one gradient through all of them."""
    print(f"{STEPS} steps of {H} s [s]: A, B of each; gradient through all; alone. float32, gap {GAP:g} m")
    for name, reported in PAPER.items():
        model = mujoco.MjModel.from_xml_path(f"models/{name}.xml")
        model.opt.timestep = H
        jax.config.update("jax_enable_x64", False)
        soft = mjx.put_model(model)
        ctrl = np.random.default_rng(0).uniform(*model.actuator_ctrlrange.T, (STEPS, model.nu))
        for mode, m in (("hard", mjx.with_hard_contact(soft, GAP)), ("soft", soft)):
            figures = " ".join(f"{x:.2f}" for x in _ours(m, ctrl))
            print(f"  {name:<9}: ours, {mode} {figures}", flush=True)
        jax.config.update("jax_enable_x64", True)
        theirs = " ".join(f"{x:.2f}" for x in _in_c(model, ctrl))
        print(f"  {name:<9}: MuJoCo C {theirs}; as reported: Dojo, Brax, MuJoCo {reported}", flush=True)


def _ours(m: mjx.Model, ctrl: np.ndarray) -> tuple[float, ...]:
    """Return seconds of all A and B, of a gradient by all controls, and of the steps alone."""
    d, ctrl = mjx.make_data(m, key=0), jnp.asarray(ctrl, m.qpos0.dtype)

    def both(d, u):
        d = d.replace(ctrl=u)
        return mjx.step(m, d), mjx.transition_jacobian(m, d)

    def end(ctrl):
        return jnp.sum(mjx.rollout(m, d, ctrl, record=lambda d: d.qpos)[-1])

    runs = [jax.jit(lambda ctrl: jax.lax.scan(both, d, ctrl)[1]), jax.jit(jax.grad(end)), jax.jit(end)]
    return tuple(_best(lambda run=run: jax.block_until_ready(run(ctrl))) for run in runs)


def _in_c(model: mujoco.MjModel, ctrl: np.ndarray) -> tuple[float, float]:
    nx = 2 * model.nv + model.na
    A, B = np.zeros((nx, nx)), np.zeros((nx, model.nu))

    def run(with_jacobian):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for u in ctrl:
            data.ctrl[:] = u
            if with_jacobian:
                mujoco.mjd_transitionFD(model, data, 1e-6, False, A, B, None, None)
            mujoco.mj_step(model, data)

    return tuple(_best(lambda x=x: run(x)) for x in (True, False))


def _best(run, repeats: int = 2) -> float:
    """Return the least time of several calls, the first left out."""
    seconds = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:])


def beside_soft(name: str, batch: int, steps: int) -> None:
    """Print one line of the table."""
    soft = mjx.Model.from_xml_path(name if name.endswith(".xml") else f"models/{name}.xml")
    runs = [_compiled(m, batch, steps) for m in (soft, mjx.with_hard_contact(soft))]
    spent = np.array([[_cpu(run) for run, _, _ in runs] for _ in range(ROUNDS + 1)])[1:]
    each = 1e6 * np.min(spent, axis=0) / (batch * steps)
    ratio = np.median(spent[:, 1] / spent[:, 0])
    (_, first, _), (_, second, statistics) = runs
    counts, lost = (np.asarray(x) for x in statistics())
    print(
        f"| {name} | {each[0]:.1f} | {each[1]:.1f} | {ratio:.1f} | {first:.0f}, {second:.0f} | {counts.mean():.1f} |"
        f" {100 * lost.sum() / counts.size:.2f} |",
        flush=True,
    )


def _compiled(m: mjx.Model, batch: int, steps: int):
    """Return a rollout, the seconds that it took to compile, and a function of its statistics."""
    d = mjx.make_data(m, key=0) if m.nkey else mjx.make_data(m)
    many = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d)
    low, high = m.actuator_ctrlrange.T
    shape = (batch, steps, m.nu)
    ctrl = low + (high - low) * jax.random.uniform(jax.random.PRNGKey(0), shape, m.qpos0.dtype)

    def run(m, d, ctrl):
        seen, end = mjx.rollout(m, d, ctrl, record=lambda d: d.solver_niter, return_data=True)
        return seen, end.unconverged

    begin = time.perf_counter()
    program = jax.jit(run).lower(m, many, ctrl).compile()
    seconds = time.perf_counter() - begin
    return (lambda: jax.block_until_ready(program(m, many, ctrl))), seconds, lambda: program(m, many, ctrl)


def _cpu(run) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dojo.cost", description=__doc__)
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    choose_emitters()  # as the command line's own benchmark
    print("| model | soft [us] | hard [us] | ratio | compile, soft, hard [s] | iterations | unconverged [%] |")
    print("|---|---|---|---|---|---|---|")
    for name in args.models:
        beside_soft(name, args.batch, args.steps)


if __name__ == "__main__":
    main()
