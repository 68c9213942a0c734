"""Compare mjx_like with MJX and MuJoCo C on a model, each in a process of its own.

All replay the same states and random controls; a peer that refuses, or needs more than the limit, is printed as such.
"""

import argparse
import pathlib

from mjx_like.bench.engines import LIMIT, PEERS, Settings, compare, table
from mjx_like.cli import stages
from mjx_like.cli.setup import add_model_arguments, add_option_arguments, load, positive
from mjx_like.compilation import choose_emitters
from mjx_like.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_option_arguments(parser)
    parser.add_argument("--peer", default="mjx,mujoco", help=f"comma-separated: {', '.join(PEERS)} (default: all)")
    parser.add_argument("--batch", type=positive, default=1024, help="worlds (default: 1024)")
    parser.add_argument("--steps", type=positive, default=20, help="steps a run (default: 20)")
    parser.add_argument("--iterations", type=positive, help="solver iterations (default: the model's)")
    parser.add_argument("--ls-iterations", type=positive, help="line search iterations (default: the model's)")
    parser.add_argument("--stages", action="store_true", help="print instead what each stage of a step takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--platform", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"seconds a peer gets (default: {LIMIT:g})")


def run(args: argparse.Namespace) -> None:
    choose_emitters()  # for all engines alike
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
