"""Row time: 1000 steps with their derivatives, one world, beside MuJoCo C by its own differences."""

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
    """A, B of each of 1000 steps with random controls: hard and soft contact, and MuJoCo C's differences."""
    print(f"{STEPS} steps of {H} s and A, B of each [s]; float32, gap {GAP:g} m; reported: Dojo, Brax, MuJoCo")
    for name, reported in PAPER.items():
        model = mujoco.MjModel.from_xml_path(f"models/{name}.xml")
        model.opt.timestep = H
        jax.config.update("jax_enable_x64", False)
        soft = mjx.put_model(model)
        ctrl = np.random.default_rng(0).uniform(*model.actuator_ctrlrange.T, (STEPS, model.nu))
        figures = {}
        for mode, m in (("hard", mjx.with_hard_contact(soft, GAP)), ("soft", soft)):
            figures[mode] = _ours(m, ctrl)
        jax.config.update("jax_enable_x64", True)
        theirs = _in_c(model, ctrl)
        print(
            f"  {name:<9}: "
            + ", ".join(f"ours {mode} {a:.2f} (without {b:.2f})" for mode, (a, b) in figures.items())
            + f", MuJoCo C {theirs[0]:.2f} (without {theirs[1]:.2f}); reported {' '.join(map(str, reported))}",
            flush=True,
        )


def _ours(m: mjx.Model, ctrl: np.ndarray) -> tuple[float, float]:
    """Return seconds with and without derivatives, compiled."""
    d, ctrl = mjx.make_data(m, key=0), jnp.asarray(ctrl, m.qpos0.dtype)

    def go(with_jacobian):
        def step(d, u):
            d = d.replace(ctrl=u)
            return mjx.step(m, d), mjx.transition_jacobian(m, d) if with_jacobian else d.qpos

        return jax.jit(lambda d, ctrl: jax.lax.scan(step, d, ctrl)[1])

    runs = [go(x) for x in (True, False)]
    return tuple(_best(lambda run=run: jax.block_until_ready(run(d, ctrl))) for run in runs)


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
