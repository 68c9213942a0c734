"""Figures in one style."""

import pathlib

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

pyplot.rcParams.update({"font.size": 8, "axes.titlesize": 8, "legend.fontsize": 7, "legend.frameon": False})


def figure(rows: int, columns: int, width: float, height: float) -> tuple[pyplot.Figure, np.ndarray]:
    """Return a figure and its axes, shape (rows, columns).  width, height: inches."""
    return pyplot.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)


def save(plot: pyplot.Figure, path: pathlib.Path) -> None:
    """Write the figure and say its name."""
    plot.savefig(path, dpi=90)
    pyplot.close(plot)
    print(f"  picture: {path.name}")
