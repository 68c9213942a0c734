"""python -m benchmarks.dojo.robots [MODEL ...]: hard contact on robots with random controls, beside soft contact.

Prints, for each model: compile time, steps a second of 64 worlds, the share of solves that did not converge, worlds
whose state went bad, those that found more contacts or rows than they have room for, the deepest penetration at the end
of a step, and how many steps end deeper than 1e-4 m. Both modes run in one process, one after the other, in float32. A
model is a name of models/, gymnasium/NAME or dm_control/NAME, of the files of those packages, or a path; without any,
those of gymnasium and dm_control with contact.
"""

import argparse
import importlib.util
import pathlib
import time

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from mjx_like.compilation import choose_emitters

WORLDS = 64
AIM = 1e-4  # depth [m] that no step should end beyond
HEAD = "model | contact | compile [s] | steps/s | unconverged [%] | worlds lost, full | deepest [m] | beyond 1e-4"
FOLDERS = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite"}
IN_CONTACT = {
    "gymnasium": ("hopper", "walker2d", "half_cheetah", "ant", "humanoid", "humanoidstandup", "pusher"),
    "dm_control": (
        *("hopper", "walker", "cheetah", "finger", "ball_in_cup", "humanoid", "quadruped", "stacker", "manipulator"),
        *("humanoid_CMU", "dog"),
    ),
}


def path_of(name: str) -> str:
    """Return the file of a model."""
    package, _, model = name.partition("/")
    if package in FOLDERS and model:
        return str(pathlib.Path(importlib.util.find_spec(package).origin).parent / FOLDERS[package] / f"{model}.xml")
    return name if name.endswith(".xml") else f"models/{name}.xml"


def measure(m: mjx.Model, steps: int, seed: int) -> dict[str, float]:
    """Return the figures of one mode."""
    d = mjx.make_data(m, key=0) if m.nkey else mjx.make_data(m)
    low, high = m.actuator_ctrlrange.T
    shape = (WORLDS, steps, m.nu)
    ctrl = low + (high - low) * jax.random.uniform(jax.random.PRNGKey(seed), shape, m.qpos0.dtype)

    @jax.jit
    def run(m, d, ctrl):
        def go(d, u):
            d = mjx.step(m, d.replace(ctrl=u))
            return d, jnp.min(mjx.fwd_position(m, d).contact.dist)

        return jax.lax.scan(go, d, ctrl)

    many = jax.jit(jax.vmap(run, (None, None, 0)))
    begin = time.perf_counter()
    compiled = many.lower(m, d, ctrl).compile()
    compiling = time.perf_counter() - begin
    begin = time.perf_counter()
    end, depth = jax.block_until_ready(compiled(m, d, ctrl))
    seconds = time.perf_counter() - begin
    warning = np.asarray(end.warning)
    return {
        "compile": compiling,
        "rate": WORLDS * steps / seconds,
        "unconverged": 100 * float(np.sum(end.unconverged)) / (WORLDS * steps),
        "depth": -float(np.min(depth)),
        "beyond": int(np.sum(-np.asarray(depth) > AIM)),
        "lost": int(np.sum(warning[:, mjx.WarningType.BADQPOS :].any(axis=1))),
        "full": int(np.sum(warning[:, [mjx.WarningType.CONTACTFULL, mjx.WarningType.CNSTRFULL]].any(axis=1))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dojo.robots", description=__doc__)
    parser.add_argument("models", nargs="*", default=[f"{k}/{x}" for k, names in IN_CONTACT.items() for x in names])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--gap", type=float, default=1e-5)
    parser.add_argument("--refresh", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the controls")
    parser.add_argument("--contact", choices=("both", "soft", "hard"), default="both")
    args = parser.parse_args()
    choose_emitters()  # as the command line's own benchmark
    print(f"| {HEAD} |\n|{'---|' * len(HEAD.split(' | '))}")
    for name in args.models:
        soft = mjx.Model.from_xml_path(path_of(name))
        hard = mjx.with_hard_contact(soft, args.gap, refresh=args.refresh)
        modes = {"soft": soft, "hard": hard}
        for mode in modes if args.contact == "both" else (args.contact,):
            x = measure(modes[mode], args.steps, args.seed)
            figures = f"{x['compile']:.1f} | {x['rate']:.0f} | {x['unconverged']:.2f} | {x['lost']}, {x['full']}"
            print(f"| {name} | {mode} | {figures} | {x['depth']:.2e} | {x['beyond']} |", flush=True)


if __name__ == "__main__":
    main()
