"""The command line: `python -m mjx_like info|rollout|view|bench|convert|train|play`.

`info`, `rollout`, `view`, `bench` (with `stages` and `calibrate`), `convert`, `train` and `play` are the commands;
`setup` loads models and sets JAX up, `hosts` meets the other hosts of a rollout, `controls` reads control arguments,
`serve` runs the viewer, `programs` keeps what was compiled; `summary`, `plot` and `progress` show results.
"""

import argparse
import sys
import warnings
from typing import NoReturn

import jax

from mjx_like.cli import bench, convert, info, play, rollout, train, view
from mjx_like.errors import MjxLikeError

COMMANDS = {"info": info, "rollout": rollout, "view": view, "bench": bench, "convert": convert}
COMMANDS |= {"train": train, "play": play}


class _Parser(argparse.ArgumentParser):
    """An argument parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _warn(message: Warning | str, *_: object) -> None:
    """Print a warning as one line."""
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return the exit status: 0, or 2 after a user's mistake, told in one line."""
    parser = _Parser(prog="python -m mjx_like", description="A rigid-body simulator in JAX that speaks MuJoCo.")
    commands = parser.add_subparsers(required=True, metavar=f"{{{','.join(COMMANDS)}}}")
    for name, command in COMMANDS.items():
        about = command.__doc__.splitlines()[0]
        sub = commands.add_parser(name, help=about, description=about)
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    args = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            args.run(args)
    except (MjxLikeError, OSError) as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    except jax.errors.JaxRuntimeError as failure:
        if "RESOURCE_EXHAUSTED" not in str(failure):
            raise
        print(f"error: out of memory: {str(failure).splitlines()[0]}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0
