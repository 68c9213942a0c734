"""Learning curves: their points, as a table and as a picture."""

import csv
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from matplotlib.figure import Figure


class Point(NamedTuple):
    """One evaluation.

    samples: steps that training took until then; seconds: of wall clock, all included; learning: of those, the ones in
    iterations; mean, std: of returns, sums of rewards over episodes; length: mean of the steps of episodes.
    """

    samples: int
    seconds: float
    learning: float
    mean: float
    std: float
    length: float


Curve = list[Point]


def reached(curve: Curve, target: float) -> Point | None:
    """Return the first point with a mean return of at least `target`, None if there is none."""
    return next((point for point in curve if point.mean >= target), None)


def write_table(path: pathlib.Path, curve: Curve) -> None:
    """Write a curve as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Point._fields)
        writer.writerows([f"{x:.6g}" if isinstance(x, float) else x for x in point] for point in curve)


def read_table(path: pathlib.Path) -> Curve:
    """Return the curve of a file that `write_table` wrote."""
    with path.open(newline="") as file:
        return [
            Point(int(row["samples"]), *(float(row[name]) for name in Point._fields[1:]))
            for row in csv.DictReader(file)
        ]


def draw(axis: Any, curve: Curve, over: str, label: str) -> None:
    """Draw a curve over "samples" or "seconds", with a band of one standard deviation."""
    x, mean, std = ([getattr(point, name) for point in curve] for name in (over, "mean", "std"))
    (line,) = axis.plot(x, mean, label=label, marker=".")
    low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-1, 1))
    axis.fill_between(x, low, high, alpha=0.2, linewidth=0, color=line.get_color())


def plot_curves(path: pathlib.Path, curves: Mapping[str, Mapping[str, Curve]]) -> None:
    """Write a picture: a row of axes for each task, returns over samples and over seconds.

    curves: by task, and by what is compared.
    """
    figure = Figure(figsize=(9, 0.6 + 2.9 * len(curves)), layout="constrained")
    grid = figure.subplots(len(curves), 2, squeeze=False)
    for axes, (task, by_name) in zip(grid, curves.items(), strict=True):
        for axis, over in zip(axes, ("samples", "seconds"), strict=True):
            for name, curve in by_name.items():
                draw(axis, curve, over, name)
            axis.set_title(task)
            axis.set_xlabel(over if over == "samples" else "wall clock [s], compiling included")
            axis.set_ylabel("return")
            axis.grid(alpha=0.3)
            axis.legend(loc="lower right")
    figure.savefig(path, dpi=120)
