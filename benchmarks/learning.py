"""PPO beside SHAC: samples and seconds to a given return: python -m benchmarks.learning [--minutes 5].

Every run is a process of its own, `python -m mjx_like train`, with the settings of its task, and ends at its time; they
run one after the other. Seconds are of wall clock: tracing, compiling and evaluations are in them. `--cold` keeps no
compiled programs between runs. Writes a picture of the curves; `--gradients` one of the norms of gradients by horizon
instead, for policies that an earlier call trained.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
TARGETS = {"cartpole": 475.0, "cartpole_swing_up": 300.0, "hopper": 2000.0, "half_cheetah": 3000.0, "ant": 1500.0}
TASKS = ("cartpole_swing_up", "hopper", "ant")
WIDTH = 1e-3  # of smoothed contacts [m]


def main() -> None:
    """Train, print the table, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=TARGETS, default=TASKS)
    parser.add_argument("--algorithms", nargs="+", default=["ppo", "shac"], help="ppo, shac, shac_smooth, apg")
    parser.add_argument("--minutes", type=float, default=5.0, help="of each run (default: 5)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold", action="store_true", help="compile every program anew")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/learning"), help="folder of the runs")
    parser.add_argument("--picture", type=pathlib.Path, help="file (default: learning.png in the folder)")
    parser.add_argument("--only-table", action="store_true", help="of runs that are in the folder")
    parser.add_argument("--gradients", action="store_true", help="norms of gradients by horizon, no training")
    args = parser.parse_args()
    if args.gradients:
        _gradients(args)
        return
    if not args.only_table:
        for task in args.tasks:
            for algorithm in args.algorithms:
                _train(task, algorithm, args)
    _report(args)


def _train(task: str, algorithm: str, args: argparse.Namespace) -> None:
    call = [sys.executable, "-m", "mjx_like", "train", task, "--algorithm", algorithm.removesuffix("_smooth")]
    call += [
        "--seed",
        str(args.seed),
        "--seconds",
        str(60 * args.minutes),
        "--out",
        str(args.out / f"{task}_{algorithm}"),
    ]
    call += ["--set", "evaluations=40"] + (["--smoothing", str(WIDTH)] if algorithm.endswith("_smooth") else [])
    with tempfile.TemporaryDirectory() as programs:
        kept = {"JAX_COMPILATION_CACHE_DIR": programs} if args.cold else {}
        done = subprocess.run(call, env={**os.environ, **kept}, cwd=ROOT, stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)


def _report(args: argparse.Namespace) -> None:
    from mjx_like.learning.curve import plot_curves, reached, read_table

    print("| task | algorithm | return sought | samples to it | seconds to it | best return | samples | samples/s |")
    print("|---|---|---|---|---|---|---|---|")
    curves = {}
    for task in args.tasks:
        curves[task] = {name: read_table(args.out / f"{task}_{name}" / "curve.csv") for name in args.algorithms}
        for name, curve in curves[task].items():
            point, best, last = reached(curve, TARGETS[task]), max(point.mean for point in curve), curve[-1]
            until = f"{point.samples:,} | {point.seconds:.0f}" if point else "not reached |"
            rate = _rate(curve)
            print(f"| {task} | {name} | {TARGETS[task]:g} | {until} | {best:.0f} | {last.samples:,} | {rate:,.0f} |")
    picture = args.picture or args.out / "learning.png"
    plot_curves(picture, curves)
    print(f"picture: {picture}")


def _rate(curve: list) -> float:
    """Return samples a second of learning alone, from the second point on, when all is compiled."""
    first, last = curve[min(1, len(curve) - 1)], curve[-1]
    return (last.samples - first.samples) / max(last.learning - first.learning, 1e-9)


def _gradients(args: argparse.Namespace) -> None:
    import jax
    import numpy as np

    from mjx_like.cli.progress import without_lines
    from mjx_like.compilation import compile_quickly

    compile_quickly()
    from mjx_like.envs.make import make
    from mjx_like.learning.horizon import gradient_norms, plot_gradient_norms
    from mjx_like.learning.train import load_policy
    from mjx_like.smoothing import with_smoothing

    norms = {}
    for task in args.tasks:
        with without_lines():
            _, policy = load_policy(args.out / f"{task}_{args.algorithms[0]}")
        kinds = {"exact": None, f"contacts begin over {1e3 * WIDTH:g} mm": lambda m: with_smoothing(m, WIDTH)}
        norms[task] = {}
        for name, change in kinds.items():
            env, rng = make(task, change=change), jax.random.PRNGKey(args.seed)
            with without_lines():
                found = gradient_norms(env, policy, rng, horizon=64, worlds=64, warm_up=50)
            norms[task][name] = found
            middle = np.median(np.asarray(found.first_action), axis=1)
            shown = ", ".join(f"{middle[k - 1]:.3g} at {k}" for k in (1, 4, 16, 32, 64))
            print(f"{task}, {name}: median norm {shown}", flush=True)
    picture = args.picture or args.out / "gradient_norms.png"
    plot_gradient_norms(picture, norms)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
