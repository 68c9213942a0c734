"""A figure of the tasks of mjx_like.control: four frames of each solution, by `mjx.render`.

    python -m benchmarks.control.pictures docs/images/control.png

Solutions are kept beside the figure's name in --keep, so that a second call only draws.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

import mjx_like as mjx
from mjx_like.control import ilqr
from mjx_like.control.tasks import TASKS, Task

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

WIDTH, HEIGHT, FRAMES = 200, 150, 4


def solution(name: str, task: Task, folder: pathlib.Path) -> np.ndarray:
    """Return qpos after each step of the task's solution, from the folder if it is there."""
    path = folder / f"{name}.npy"
    if not path.is_file():
        found = ilqr(task.m, task.d, task.cost, task.ctrl, **task.settings)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, found.qpos)
    return np.load(path)


def frames(task: Task, qpos: np.ndarray) -> list[np.ndarray]:
    """Return images of the start, the end and between."""
    draw = jax.jit(lambda q: mjx.render(task.m, mjx.forward(task.m, task.d.replace(qpos=q)), 0, WIDTH, HEIGHT).rgb)
    path = np.concatenate([np.asarray(task.d.qpos)[None], qpos])
    return [np.asarray(draw(jnp.asarray(path[k]))) for k in np.linspace(0, len(path) - 1, FRAMES).astype(int)]


def main() -> None:
    """Draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/control"))
    args = parser.parse_args()
    mjx.compile_quickly()
    jax.config.update("jax_enable_x64", True)
    rows = -(-len(TASKS) // 2)
    figure, axes = pyplot.subplots(rows, 2, figsize=(2 * FRAMES * 1.5, rows * 1.3), layout="constrained")
    for axis, (name, make) in zip(axes.T.ravel(), TASKS.items(), strict=False):
        task = make()
        axis.imshow(np.concatenate(frames(task, solution(name, task, args.keep)), axis=1))
        axis.set_title(f"{name}: {len(task.ctrl) * float(task.m.opt.timestep):.1f} s", fontsize=9, loc="left")
        axis.set_axis_off()
    figure.savefig(args.figure, dpi=110)


if __name__ == "__main__":
    main()
