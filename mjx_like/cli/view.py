"""Show a model, or a recorded trajectory, in the browser: play, pull, scrub."""

import argparse
import pathlib

import numpy as np

from mjx_like.cli.progress import phase, without_lines
from mjx_like.cli.rollout import name_or_number
from mjx_like.cli.serve import add_server_arguments, show
from mjx_like.cli.setup import add_model_arguments, add_option_arguments, load, positive
from mjx_like.compilation import compile_quickly
from mjx_like.errors import InputError
from mjx_like.viewer.live import Live, Player
from mjx_like.viewer.server import import_viser, server
from mjx_like.visual.frames import frames_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, "model file (MJCF, URDF, compiled .npz), or a trajectory of the command rollout (.npz)")
    add_option_arguments(parser)
    parser.add_argument("--batch", type=positive, default=1, help="worlds side by side (default: 1)")
    parser.add_argument("--key", help="keyframe to start from, name or number (default: qpos0)")
    add_server_arguments(parser)


def run(args: argparse.Namespace) -> None:
    compile_quickly()
    import_viser()
    trajectory = _trajectory(args)
    with phase(f"loading {args.model}"):
        m = load(args)
    with server(args.host, args.port) as opened:
        with phase("compiling"), without_lines():
            shown: Live | Player
            if trajectory is None:
                shown = Live(opened, m, args.batch, name_or_number(args.key))
            else:
                shown = Player(opened, m, frames_of(m, trajectory, fps=60.0))
        for item in m.unsupported:
            print(f"{'not supported':<22}{item}", flush=True)
        show(args, opened, shown)


def _trajectory(args: argparse.Namespace) -> dict[str, np.ndarray] | None:
    """Return the trajectory if the file is one, and put the file of its model in its stead; None for a model."""
    path = pathlib.Path(args.model)
    if path.suffix != ".npz" or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        if "qpos" not in file.files:
            return None
        if "model" not in file.files:
            raise InputError(f"{path}: this trajectory does not say which model it is of; record it again with rollout")
        found = {name: file[name] for name in ("qpos", "time") if name in file.files}
        args.model = str(file["model"])
    return found
