"""The plot of a rollout."""

import pathlib

import numpy as np


def plot_rollout(path: pathlib.Path, title: str, time: np.ndarray, height: np.ndarray, contacts: np.ndarray) -> None:
    """Write a picture of base height and contact count over time.

    height, contacts: 5 %, 50 % and 95 % quantiles over the batch and the mean, shape (4, steps).
    """
    from matplotlib.figure import Figure  # here: it takes 0.4 s to import

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
    for axis, rows, line, label in (
        (axes[0], height, "median", "base height [m]"),
        (axes[1], contacts, "mean", "contacts"),
    ):
        axis.fill_between(time, rows[0], rows[2], alpha=0.25, linewidth=0, label="5 % to 95 % of the worlds")
        axis.plot(time, rows[{"median": 1, "mean": 3}[line]], label=line)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.legend(loc="upper right")
    axes[0].set_title(title)
    axes[1].set_ylim(bottom=0)
    axes[1].set_xlabel("time [s]")
    figure.savefig(path, dpi=120)
