"""Images a second, batched, beside MuJoCo's renderer: python -m benchmarks.render.

One process draws worlds in random poses with `mjx_like.render`, another with `mujoco.Renderer` one after the other, by
EGL or OSMesa; both are pinned to one core and take turns. Compilation and the first image are not counted.
"""

import argparse
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[1]
ROUNDS = 5


def models() -> dict[str, pathlib.Path]:
    """Return files by name; those of other packages where they are installed."""
    packages = {
        name: pathlib.Path(importlib.util.find_spec(name).origin).parent for name in ("dm_control", "mujoco.mjx")
    }
    return {
        "humanoid": ROOT / "models/humanoid.xml",
        "quadruped": ROOT / "models/quadruped.xml",
        "jaco_arm": packages["dm_control"] / "third_party/kinova/jaco_arm.xml",
        "shadow_hand": packages["mujoco.mjx"] / "test_data/shadow_hand/scene_right.xml",
    }


def main() -> None:
    """Print a table: model, triangles, pixels, kind of image, images a second and the ratio to MuJoCo's renderer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=models(), default=list(models()))
    parser.add_argument("--size", type=int, default=64, help="of the images, both ways [pixels]")
    parser.add_argument("--batch", type=int, default=32, help="worlds of one call")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        _work(*args.worker, args)
        return
    print(f"| model | triangles | image | images/s, batch {args.batch} | MuJoCo | ratio |\n|---|---|---|---|---|---|")
    for name in args.models:
        sides = [_Side(engine, name, args) for engine in ("mjx_like", "mujoco")]
        for kind in ("depth", "rgb"):
            rounds = [[side.go(kind) for side in sides] for _ in range(ROUNDS)]
            ours, theirs = (statistics.median(rates) for rates in zip(*rounds, strict=True))
            ratio = statistics.median(one / other for one, other in rounds)
            size = f"{args.size} x {args.size} {kind}"
            print(f"| {name} | {sides[0].triangles} | {size} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} |", flush=True)
        for side in sides:
            side.process.terminate()


class _Side:
    def __init__(self, engine: str, model: str, args: argparse.Namespace) -> None:
        call = [sys.executable, "-m", "benchmarks.render", "--worker", engine, model]
        call += ["--size", str(args.size), "--batch", str(args.batch)]
        for backend in ("egl", "osmesa"):
            env = {**os.environ, "MUJOCO_GL": backend}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            self.process = subprocess.Popen(call, env=env, cwd=ROOT, text=True, **pipes)
            line = self.process.stdout.readline()
            if line:
                break
        else:
            raise SystemExit(f"{engine} does not start: {self.process.stderr.read()[-300:]}")
        self.triangles = int(line)

    def go(self, kind: str) -> float:
        """Return images a second of one round."""
        print(kind, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def _work(engine: str, name: str, args: argparse.Namespace) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    triangles, draw = (_ours if engine == "mjx_like" else _mujoco)(models()[name], args.size, args.batch)
    for kind in ("depth", "rgb"):
        draw(kind)
    print(triangles, flush=True)
    for line in sys.stdin:
        start, images = time.perf_counter(), 0
        while time.perf_counter() < start + 0.5:
            draw(line.strip())
            images += args.batch
        print(images / (time.perf_counter() - start), flush=True)


def _ours(path: pathlib.Path, size: int, batch: int):
    import jax
    import numpy as np

    import mjx_like as mjx

    m = mjx.Model.from_xml_path(str(path))
    d = mjx.make_data(m)
    worlds = jax.jit(jax.vmap(lambda v: _placed(mjx, m, d, v)))(_directions(batch, m.nv))
    options = {"depth": {"shadows": False, "reflections": False, "layers": 1}, "rgb": {}}
    calls = {
        kind: jax.jit(jax.vmap(lambda d, kind=kind: getattr(mjx.render(m, d, -1, size, size, **options[kind]), kind)))
        for kind in options
    }
    triangles = int(np.sum(m.mesh_facenum[m.geom_dataid[m.geom_type == mjx.GeomType.MESH]]))
    return triangles, lambda kind: jax.block_until_ready(calls[kind](worlds))


def _placed(mjx, m, d, v):
    d = d.replace(qpos=mjx.integrate_pos(m, d.qpos, v, 1.0))
    return mjx.camlight(m, mjx.com_pos(m, mjx.kinematics(m, d)))


def _mujoco(path: pathlib.Path, size: int, batch: int):
    import mujoco

    m = mujoco.MjModel.from_xml_path(str(path))
    worlds = []
    for v in _directions(batch, m.nv):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, v, 1.0)
        mujoco.mj_forward(m, d)
        worlds.append(d)
    renderer = mujoco.Renderer(m, size, size)

    def draw(kind: str) -> None:
        (renderer.enable_depth_rendering if kind == "depth" else renderer.disable_depth_rendering)()
        for d in worlds:
            renderer.update_scene(d)
            renderer.render()

    return 0, draw


def _directions(count: int, nv: int):
    import numpy as np

    return np.random.default_rng(0).uniform(-0.1, 0.1, size=(count, nv))


if __name__ == "__main__":
    main()
