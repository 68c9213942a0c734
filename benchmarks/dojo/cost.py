"""Row time: 1000 steps with their derivatives, one world, beside MuJoCo C by its own differences.

Compiling is left out; it takes minutes.
"""

import pathlib
import time

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx

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
