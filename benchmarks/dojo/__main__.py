"""python -m benchmarks.dojo [ROW ...] [--out DIR]: our figure beside the right answer and MuJoCo C's, in one run.

Figures are in float64. Rows that have a picture draw it into DIR.
"""

import argparse
import pathlib
from collections.abc import Callable

import jax

import mjx_like as mjx
from benchmarks.dojo import (
    convergence,
    cost,
    cube,
    curves,
    drops,
    impacts,
    momentum,
    policies,
    sliding,
    standing,
    trajectories,
    tumbling,
)

Row = Callable[[pathlib.Path | None], None]  # prints its figures; draws a picture where it is given a folder
ROWS: dict[str, Row] = {
    "slide": sliding.slide,
    "drift": sliding.drift,
    "rest": sliding.rest,
    "bounce": impacts.bounce,
    "balls": impacts.balls,
    "billiard": impacts.billiard,
    "elastic": impacts.elastic,
    "curves": curves.curves,
    "stack": standing.stack,
    "penetration": drops.penetration,
    "tumbling": tumbling.tumbling,
    "convergence": convergence.convergence,
    "cube": cube.cube,
    "momentum": momentum.momentum,
    "energy": momentum.energy,
    "trajectories": trajectories.trajectories,
    "policies": policies.policies,
    "time": cost.times,
}


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dojo", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; all by default")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="a folder for pictures")
    args = parser.parse_args()
    for row in args.rows:
        if row not in ROWS:
            parser.error(f"no row '{row}': the rows are {', '.join(ROWS)}")
    mjx.compile_quickly()
    jax.config.update("jax_enable_x64", True)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    for row in args.rows or ROWS:
        ROWS[row](args.out)


if __name__ == "__main__":
    main()
