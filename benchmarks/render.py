"""Images a second, batched, beside MuJoCo's renderer: python -m benchmarks.render; with --compare, how alike they are.

One process draws worlds in random poses with `mjx_like.render`, another with `mujoco.Renderer` one after the other, by
EGL or OSMesa; both are pinned to one core and take turns. Compilation and the first image are not counted.

To compare, both draw the model at rest from MuJoCo's free camera, one sample a pixel.
"""

import argparse
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
ROUNDS = 5
TIMED = ("humanoid", "quadruped", "jaco_arm", "shadow_hand")


def models() -> dict[str, pathlib.Path]:
    """Return files by name; those of other packages where they are installed."""
    found = {name: importlib.util.find_spec(name) for name in ("dm_control", "mujoco.mjx", "gymnasium")}
    packages = {name: pathlib.Path(spec.origin).parent for name, spec in found.items()}
    return {
        "humanoid": ROOT / "models/humanoid.xml",
        "quadruped": ROOT / "models/quadruped.xml",
        "arm": ROOT / "models/arm.xml",
        "gymnasium_ant": packages["gymnasium"] / "envs/mujoco/assets/ant.xml",
        "suite_cartpole": packages["dm_control"] / "suite/cartpole.xml",
        "suite_humanoid": packages["dm_control"] / "suite/humanoid.xml",
        "suite_dog": packages["dm_control"] / "suite/dog.xml",
        "jaco_arm": packages["dm_control"] / "third_party/kinova/jaco_arm.xml",
        "shadow_hand": packages["mujoco.mjx"] / "test_data/shadow_hand/scene_right.xml",
    }


def main() -> None:
    """Print a table: model, triangles, pixels, kind of image, images a second and the ratio to MuJoCo's renderer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=models())
    parser.add_argument("--size", type=int, default=64, help="of the images, both ways [pixels]")
    parser.add_argument("--compare", action="store_true", help="colours, depths and segmentation, no times")
    parser.add_argument("--save", type=pathlib.Path, help="folder for pictures of what --compare compares")
    parser.add_argument("--batch", type=int, default=32, help="worlds of one call")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        _work(*args.worker, args)
        return
    if args.compare:
        _compare(args)
        return
    print(f"| model | triangles | image | images/s, batch {args.batch} | MuJoCo | ratio |\n|---|---|---|---|---|---|")
    for name in args.models or TIMED:
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


def _compare(args: argparse.Namespace) -> None:
    """Print a table: mean error of colours, share of pixels with the same geom, error of depth where it is the same."""
    import jax
    import numpy as np

    import mjx_like as mjx

    print("| model | colour error | same geom | depth error, 95 % |\n|---|---|---|---|")
    for name in args.models or models():
        m = mjx.Model.from_xml_path(str(models()[name]))
        d = jax.jit(lambda m: mjx.forward(m, mjx.make_data(m)))(m)
        ours = jax.jit(lambda m, d: mjx.render(m, d, -1, args.size, args.size))(m, d)
        rgb, depth, geom = _theirs(models()[name], args.size)
        same = (np.asarray(ours.geom) == geom) & (geom >= 0)
        error = np.abs(np.asarray(ours.rgb) - rgb)
        far = np.quantile(np.abs(np.asarray(ours.depth) - depth)[same] / depth[same], 0.95)
        agree = np.mean(np.asarray(ours.geom) == geom)
        print(f"| {name} | {error.mean():.4f} | {agree:.4f} | {far:.1e} |", flush=True)
        if args.save:
            _save(args.save / f"{name}.png", [np.asarray(ours.rgb), rgb, 1 - error])


def _theirs(path: pathlib.Path, size: int):
    """Return colours, depths and geoms of MuJoCo's renderer, from a process of its own, which may lack OpenGL."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npz"
        for backend in ("egl", "osmesa"):
            call = [sys.executable, "-c", _ORACLE, str(path), str(size), str(out)]
            done = subprocess.run(call, env={**os.environ, "MUJOCO_GL": backend}, capture_output=True, check=False)
            if out.exists():
                with np.load(out) as found:
                    return found["rgb"] / 255, found["depth"], found["geom"]
    raise SystemExit(f"MuJoCo's renderer does not start: {done.stderr.decode()[-300:]}")


_ORACLE = """
import sys, mujoco, numpy as np
m = mujoco.MjModel.from_xml_path(sys.argv[1]); d = mujoco.MjData(m); mujoco.mj_forward(m, d)
m.vis.quality.offsamples = 0
r = mujoco.Renderer(m, int(sys.argv[2]), int(sys.argv[2])); r.update_scene(d); rgb = r.render().copy()
r.enable_depth_rendering(); depth = r.render().copy(); r.disable_depth_rendering()
r.enable_segmentation_rendering(); ids = r.render().copy()
geom = np.where(ids[..., 1] == mujoco.mjtObj.mjOBJ_GEOM, ids[..., 0], -1)
np.savez(sys.argv[3], rgb=rgb, depth=depth, geom=geom)
"""


def _save(path: pathlib.Path, images) -> None:
    import numpy as np
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.uint8(np.round(255 * np.concatenate(images, axis=1)))).save(path)


def _directions(count: int, nv: int):
    import numpy as np

    return np.random.default_rng(0).uniform(-0.1, 0.1, size=(count, nv))


if __name__ == "__main__":
    main()
