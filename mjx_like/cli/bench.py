"""Compare mjx_like with MJX and MuJoCo C on a model, each in a process of its own.

All replay the same states and random controls; a peer that refuses, or needs more than the limit, is printed as such.
"""

import argparse
import pathlib

from mjx_like.bench.engines import LIMIT, PEERS, Settings, compare, table
from mjx_like.cli import calibrate, stages
from mjx_like.cli.setup import add_model_arguments, add_option_arguments, load, natural, positive, seconds
from mjx_like.compilation import choose_emitters
from mjx_like.errors import InputError

STEPS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_option_arguments(parser)
    parser.add_argument("--peer", default="mjx,mujoco", help=f"comma-separated: {', '.join(PEERS)} (default: all)")
    parser.add_argument("--batch", type=positive, default=1024, help="worlds (default: 1024)")
    steps = f"steps a run (default: {STEPS}; {calibrate.STEPS} to calibrate)"
    parser.add_argument("--steps", type=positive, help=steps)
    parser.add_argument("--iterations", type=positive, help="solver iterations (default: the model's)")
    parser.add_argument("--ls-iterations", type=positive, help="line search iterations (default: the model's)")
    parser.add_argument("--stages", action="store_true", help="print instead what each stage of a step takes")
    parser.add_argument("--calibrate", action="store_true", help="propose capacities and iterations instead")
    margin = f"of --calibrate: share above the most that was needed (default: {calibrate.MARGIN})"
    parser.add_argument("--margin", type=float, help=margin)
    parser.add_argument("--seed", type=natural, default=0)
    parser.add_argument("--platform", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--limit", type=seconds, default=LIMIT, help=f"seconds a peer gets (default: {LIMIT:g})")


def run(args: argparse.Namespace) -> None:
    choose_emitters()  # for all engines alike
    if args.calibrate and args.stages:
        raise InputError("--calibrate and --stages print different things: give one of them")
    if args.margin is not None and not args.calibrate:
        raise InputError("--margin is of --calibrate")
    if args.calibrate:
        args.margin = calibrate.MARGIN if args.margin is None else args.margin
        calibrate.run(args)
        return
    args.steps = STEPS if args.steps is None else args.steps
    if args.stages:
        m = load(args)
        print(stages.table(stages.stage_times(m, stages.moving(m, args.batch, args.steps, args.seed)), args.batch))
        return
    if not pathlib.Path(args.model).is_file():
        raise InputError(f"{args.model}: no such file")
    names = {name: value for name, value in vars(args).items() if name in Settings.__dataclass_fields__}
    settings = Settings(**names)
    peers = tuple(name for name in args.peer.split(",") if name)
    print(table(settings, compare(settings, peers)))
