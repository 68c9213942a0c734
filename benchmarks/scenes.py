"""Speed in large scenes beside MuJoCo C, in one run: `python -m benchmarks.scenes`.

Humanoids two metres apart, free bodies on a floor, stacks of boxes and a pile of planks, built here. For each scene the
engines run in a process of their own, pinned to one core, in turn. Throughput is that of worlds: steps per second of
processor time.
"""

import argparse
import math
import pathlib
import tempfile
from collections.abc import Callable

from mjx_like.bench.engines import Settings, compare, table

HUMANOID = pathlib.Path(__file__).resolve().parents[1] / "models" / "humanoid.xml"
FLOOR = '<geom type="plane" size="0 0 1"/>'
SHAPES = (("box", "0.1 0.08 0.06"), ("sphere", "0.1"), ("capsule", "0.08 0.1"))


def humanoids(count: int) -> str:
    """Return a scene of humanoids two metres apart."""
    side = math.ceil(math.sqrt(count))
    placed = "".join(
        f'<frame pos="{2 * (i % side)} {2 * (i // side)} 0"><attach model="one" body="pelvis" prefix="h{i}_"/></frame>'
        for i in range(count)
    )
    floor = '<geom type="plane" size="0 0 1" contype="1" conaffinity="0" condim="3" friction="0.9 0.01 0.0005"/>'
    return (
        '<mujoco><option timestep="0.005" integrator="implicitfast"/>'
        f'<asset><model name="one" file="{HUMANOID}"/></asset><worldbody>{floor}{placed}</worldbody></mujoco>'
    )


def _free(pos: tuple[float, float, float], kind: str, size: str, extra: str = "") -> str:
    place = " ".join(f"{x:g}" for x in pos)
    return f'<body pos="{place}"{extra}><freejoint/><geom type="{kind}" size="{size}"/></body>'


def free_bodies(count: int) -> str:
    """Return a scene of boxes, spheres and capsules half a metre apart, above a floor."""
    side = math.ceil(math.sqrt(count))
    bodies = (
        _free((0.5 * (i % side), 0.5 * (i // side), 0.2), *SHAPES[i % len(SHAPES)]) for i in range(count)
    )  # fmt: skip
    return f"<mujoco><worldbody>{FLOOR}{''.join(bodies)}</worldbody></mujoco>"


def stacks(side: int, height: int = 3) -> str:
    """Return a scene of side x side stacks of boxes."""
    bodies = (
        _free((0.5 * i, 0.5 * j, 0.06 + 0.12 * k), "box", "0.1 0.08 0.06")
        for i in range(side)
        for j in range(side)
        for k in range(height)
    )
    return f"<mujoco><worldbody>{FLOOR}{''.join(bodies)}</worldbody></mujoco>"


def planks(layers: int, each: int = 4) -> str:
    """Return a pile of planks: layers of parallel ones, every other layer turned by a right angle."""
    size, bodies = "0.4 0.04 0.02", []
    for layer in range(layers):
        for k in range(each):
            aside, height = (k - 0.5 * (each - 1)) * 0.75 / max(1, each - 1), 0.02 + 0.04 * layer
            pos, turn = ((0, aside, height), "") if layer % 2 == 0 else ((aside, 0, height), ' euler="0 0 90"')
            bodies.append(_free(pos, "box", size, turn))
    return f"<mujoco><worldbody>{FLOOR}{''.join(bodies)}</worldbody></mujoco>"


SCENES: dict[str, Callable[[], str]] = {
    **{f"{n} humanoid{'s' * (n > 1)}": lambda n=n: humanoids(n) for n in (1, 2, 3, 5, 10)},
    "100 free bodies": lambda: free_bodies(100),
    "8x8 stacks of 3 boxes": lambda: stacks(8),
    "pile of 40 planks": lambda: planks(10),
}


def main() -> None:
    """Print one table for each scene."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of the name of the scenes to run")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, scene in SCENES.items():
            if args.only not in name:
                continue
            path = pathlib.Path(folder) / f"{name.replace(' ', '_')}.xml"
            path.write_text(scene())
            settings = Settings(str(path), batch=args.batch, steps=args.steps, limit=900.0)
            print(f"{name}\n{table(settings, compare(settings, ('mujoco',)))}", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
