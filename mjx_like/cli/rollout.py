"""Step a batch of worlds, print how fast and how well, write the trajectory and a plot."""

import argparse
import pathlib
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from mjx_like.cli.controls import CONTROLS
from mjx_like.cli.hosts import add_host_arguments, check_alike, finish_hosts, join_hosts
from mjx_like.cli.plot import plot_rollout
from mjx_like.cli.programs import Kept
from mjx_like.cli.progress import phase, without_lines
from mjx_like.cli.setup import add_model_arguments, add_option_arguments, load, natural, positive, use_cpu_devices
from mjx_like.cli.summary import Summary, recorder
from mjx_like.compilation import compile_quickly
from mjx_like.errors import InputError
from mjx_like.render.camera import camera_id
from mjx_like.render.video import ENDINGS, import_ffmpeg, save_video
from mjx_like.rollout.rollout import rollout
from mjx_like.rollout.sharding import gather_worlds, spread_worlds
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.enums import EnableBit
from mjx_like.types.model import Model
from mjx_like.viewer.replay import save_html
from mjx_like.viewer.server import import_viser

FORMATS = tuple(ending.removeprefix(".") for ending in ENDINGS)
CHUNK = 25  # steps between two updates of the progress bar, about


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_option_arguments(parser)
    parser.add_argument("--batch", type=positive, default=1024, help="worlds (default: 1024)")
    parser.add_argument("--steps", type=positive, default=500, help="steps of each world (default: 500)")
    parser.add_argument("--seed", type=natural, default=0, help="of the random controls (default: 0)")
    parser.add_argument("--ctrl", choices=tuple(CONTROLS), default="random", help="(default: random)")
    parser.add_argument("--key", help="keyframe to start from, name or number (default: qpos0)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs"), help="folder (default: runs)")
    parser.add_argument("--save-all", action="store_true", help="save the states of all worlds, not of 16")
    parser.add_argument("--html", action="store_true", help="write a replay of up to 16 worlds that plays in a browser")
    parser.add_argument(
        "--video", nargs="?", const="gif", choices=FORMATS, help="write a video of the first world (default: gif)"
    )
    parser.add_argument("--camera", help="of the video, name or number (default: MuJoCo's free camera)")
    parser.add_argument(
        "--devices", type=positive, help="devices of a host that share the worlds (default: one a CPU core)"
    )
    parser.add_argument(
        "--block", type=positive, help="worlds that run together; equal blocks give equal bits (default: by the model)"
    )
    add_host_arguments(parser)


def run(args: argparse.Namespace) -> None:
    folder = compile_quickly()
    use_cpu_devices(args.devices)
    host, hosts = join_hosts(args)
    if not host:
        args.out.mkdir(parents=True, exist_ok=True)  # raises before the work, not after
    if args.html:
        import_viser()  # raises before the work, not after
    if args.video == "mp4":
        import_ffmpeg()
    with phase(f"loading {args.model}"):
        m = load(args)
        m = m.replace(opt=m.opt.replace(enableflags=m.opt.enableflags | EnableBit.ENERGY))
        d = make_data(m, name_or_number(args.key))
        camera = -1 if args.camera is None else camera_id(m, name_or_number(args.camera))
    if hosts > 1:
        check_alike(args, m)
    devices = _devices(args.batch, args.devices, hosts)
    summary, seconds = _run(args, m, d, devices, folder, quiet=host > 0)
    if hosts > 1:
        finish_hosts()
    if host:
        return
    of_hosts = f" of {hosts} hosts" if hosts > 1 else ""
    print(
        f"{args.batch} worlds, {args.steps} steps of {float(m.opt.timestep):g} s, on {len(devices)} device(s){of_hosts}"
    )
    print(summary.text(seconds))
    stem = args.out / pathlib.Path(args.model).stem
    summary.save(stem.with_suffix(".npz"), args.model)
    plot_rollout(stem.with_suffix(".png"), f"{args.model}, {args.batch} worlds", *summary.curves())
    print(f"{'trajectory':<22}{stem.with_suffix('.npz')}\n{'plot':<22}{stem.with_suffix('.png')}")
    if args.html:
        with without_lines():
            replay = save_html(m, summary.trajectory(), stem.with_suffix(".html"), d=d)
        print(f"{'replay':<22}{replay}")
    if args.video:
        with phase("rendering"), without_lines():
            video = save_video(m, summary.trajectory(), stem.with_suffix(f".{args.video}"), camera=camera, d=d)
        print(f"{'video':<22}{video}")


def name_or_number(text: str | None) -> str | int | None:
    """Return the name or number of a keyframe or camera, as the command line gives it."""
    return int(text) if text is not None and text.isdecimal() else text


def _controls(m: Model, args: argparse.Namespace, devices: list[jax.Device], start: int, chunk: int) -> jax.Array:
    ctrl = CONTROLS[args.ctrl](m, args.seed, args.batch, start, start + chunk)
    return spread_worlds(np.asarray(ctrl, m.qpos0.dtype), devices)


def _run(
    args: argparse.Namespace, m: Model, d: Data, devices: list[jax.Device], folder: pathlib.Path, *, quiet: bool
) -> tuple[Summary, float]:
    """Return the Summary of all steps of all worlds, and the seconds that they took."""
    batch = jax.tree.map(lambda x: np.broadcast_to(x, (args.batch, *x.shape)), d)
    worlds, chunk = spread_worlds(batch, devices), -(-args.steps // -(-args.steps // CHUNK))
    advance = _compiled(m, worlds, _controls(m, args, devices, 0, chunk), devices, args.block, folder)
    summary = Summary(m, args.steps, args.save_all)
    begin = time.perf_counter()
    with tqdm(total=args.steps, unit="step", disable=quiet) as bar:
        for start in range(0, args.steps, chunk):
            records, worlds = advance(m, worlds, _controls(m, args, devices, start, chunk))
            summary.add(gather_worlds(records))
            bar.update(min(chunk, args.steps - start))
    return summary, time.perf_counter() - begin


def _devices(batch: int, wanted: int | None, hosts: int) -> list[jax.Device]:
    """Return the devices to use, as many of each host; of one host, and where no number is asked for, as divide batch.

    Raises:
      InputError: there are not as many as asked for, or they do not share the worlds equally.
    """
    owned = [[x for x in jax.devices() if x.process_index == host] for host in range(hosts)]
    fewest = min(map(len, owned))
    if wanted is not None and wanted > fewest:
        raise InputError(f"--devices {wanted}: a host has {fewest} of {jax.devices()[0].platform}")
    count = fewest if wanted is None else wanted
    while wanted is None and count > 1 and batch % (hosts * count):
        count -= 1
    if batch % (hosts * count):
        sharers = f"{hosts} host(s) with {count} device(s) each"
        raise InputError(f"--batch {batch}: {sharers} share it equally: give a multiple of {hosts * count}")
    return [x for one in owned for x in one[:count]]


def _compiled(
    m: Model, worlds: Data, ctrl: jax.Array, devices: list[jax.Device], block: int | None, folder: pathlib.Path
) -> Callable[..., Any]:
    """Return the compiled function (m, worlds, ctrl) -> (records, worlds) that advances all worlds."""
    record = recorder(m)
    spread = devices if len(devices) > 1 else None
    result = jax.eval_shape(record, worlds), worlds
    kept = Kept(folder, f"rollout on {devices} by {block}", m, worlds, ctrl, result=result)
    if kept.exists():
        with phase("reading the program"), without_lines():
            program = kept.read()
        if program is not None:
            return program
    with phase("tracing"):
        run = jax.jit(
            lambda m, d, u: rollout(m, d, u, record=record, devices=spread, block=block, return_data=True),
            out_shardings=(None, worlds.qpos.sharding),
        )
        lowered = run.lower(m, worlds, ctrl)
    with phase("compiling") as notes, without_lines():
        program = kept.compile(lowered)
        notes.append(f"{program.as_text().count(' = '):,} HLO instructions")
    return program
