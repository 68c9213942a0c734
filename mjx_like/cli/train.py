"""Train a policy for a task by reinforcement learning, with checkpoints and a learning curve."""

import argparse
import ast
import pathlib
from typing import Any

from mjx_like.cli.progress import without_lines
from mjx_like.cli.setup import add_option_arguments, given_options, natural, positive, use_cpu_devices
from mjx_like.compilation import compile_quickly
from mjx_like.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="such as cartpole, hopper, half_cheetah, ant")
    parser.add_argument("--algorithm", default="ppo", help="ppo, shac or apg (default: ppo)")
    parser.add_argument("--samples", type=positive, help="steps of all worlds together (default: the task's)")
    parser.add_argument("--worlds", type=positive, help="worlds stepped at the same time (default: the task's)")
    parser.add_argument("--seed", type=natural, default=0, help="(default: 0)")
    parser.add_argument("--target", type=float, help="mean return at which to stop")
    parser.add_argument("--seconds", type=float, help="of wall clock after which to stop, at the next evaluation")
    parser.add_argument("--smoothing", type=float, metavar="M", help="half width over which contacts begin in training")
    add_option_arguments(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="another setting, such as learning_rate=3e-4"
    )
    parser.add_argument("--out", type=pathlib.Path, help="folder of the run (default: runs/TASK_ALGORITHM)")
    parser.add_argument("--resume", action="store_true", help="go on from the latest checkpoint in the folder")
    parser.add_argument("--devices", type=positive, help="devices that share the worlds (default: one a CPU core)")


def run(args: argparse.Namespace) -> None:
    compile_quickly()
    use_cpu_devices(args.devices)
    from mjx_like.learning.presets import preset  # an extra
    from mjx_like.learning.train import train

    given = {name: getattr(args, name) for name in ("samples", "worlds", "seed")}
    changes = {name: value for name, value in given.items() if value is not None} | _settings(args.set)
    config = preset(args.task, args.algorithm, **changes)
    folder = args.out or pathlib.Path("runs") / f"{args.task}_{args.algorithm}"
    print(f"{args.task}, {args.algorithm}: {config.worlds} worlds, {config.samples:,} samples", flush=True)
    options = {"smoothing": args.smoothing, "folder": folder, "resume": args.resume}
    options |= given_options(args)
    with without_lines():
        result = train(args.task, config, target=args.target, seconds=args.seconds, **options)
    last = result.curve[-1]
    print(f"{'return':<22}{last.mean:.6g} +- {last.std:.3g}, episodes of {last.length:.0f} steps")
    print(f"{'samples':<22}{last.samples:,}")
    print(f"{'seconds':<22}{last.seconds:.1f}, {last.learning:.1f} of them in iterations, the first with its compiling")
    print(f"{'checkpoint':<22}{folder}\n{'curve':<22}{folder / 'curve.png'}")


def _settings(texts: list[str]) -> dict[str, Any]:
    """Return settings from NAME=VALUE; a value that is no Python literal is a word."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text}: needs NAME=VALUE, such as learning_rate=3e-4")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
