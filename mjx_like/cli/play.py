"""Show what a trained policy does: in the browser, or as a video."""

import argparse
import pathlib
from typing import Any

import jax

from mjx_like.cli.progress import phase, without_lines
from mjx_like.cli.rollout import FORMATS, name_or_number
from mjx_like.cli.serve import add_server_arguments, show
from mjx_like.cli.setup import natural, positive
from mjx_like.compilation import compile_quickly
from mjx_like.render.camera import camera_id
from mjx_like.render.video import import_ffmpeg, save_video
from mjx_like.viewer.live import Player
from mjx_like.viewer.server import import_viser, server
from mjx_like.visual.frames import frames_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint", metavar="CHECKPOINT", type=pathlib.Path, help="folder of a run of the command train"
    )
    parser.add_argument("--steps", type=positive, help="steps of the environment (default: one episode)")
    parser.add_argument("--batch", type=positive, default=1, help="worlds side by side (default: 1)")
    parser.add_argument("--seed", type=natural, default=0, help="of the starts (default: 0)")
    parser.add_argument(
        "--video", nargs="?", const="gif", choices=FORMATS, help="write a video and open no viewer (default: gif)"
    )
    parser.add_argument("--camera", help="of the video, name or number (default: MuJoCo's free camera)")
    add_server_arguments(parser)


def run(args: argparse.Namespace) -> None:
    compile_quickly()
    if args.video is None:
        import_viser()  # raises before the work, not after
    elif args.video == "mp4":
        import_ffmpeg()
    from mjx_like.learning.playback import play, returns  # an extra
    from mjx_like.learning.train import load_policy

    with phase(f"loading {args.checkpoint}"), without_lines():
        env, policy = load_policy(args.checkpoint)
        camera = -1 if args.camera is None else camera_id(env.model, name_or_number(args.camera))
    with phase("playing"), without_lines():
        steps = args.steps or env.episode_length
        playback = play(env, policy, jax.random.PRNGKey(args.seed), steps=steps, worlds=args.batch)
    ended = returns(playback)
    if len(ended):
        print(f"{'return':<22}{ended.mean():.6g}, mean of {len(ended)} episodes", flush=True)
    if args.video is None:
        _show(args, env.model, playback)
        return
    with phase("rendering"), without_lines():
        path = save_video(env.model, playback, args.checkpoint / f"video.{args.video}", camera=camera)
    print(f"{'video':<22}{path}")


def _show(args: argparse.Namespace, m: Any, playback: Any) -> None:
    with server(args.host, args.port) as opened:
        with without_lines():
            shown = Player(opened, m, frames_of(m, {"qpos": playback.qpos, "time": playback.time}, fps=60.0))
        show(args, opened, shown)
