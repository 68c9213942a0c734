"""Pictures of a fit: measured against simulated, and the residuals."""

import pathlib
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError
from mjx_like.interop.labels import labels
from mjx_like.sysid.result import Fit

_MOST = 7  # panels of each kind


def plot_fit(found: Fit, path: str | pathlib.Path, recording: int = 0) -> pathlib.Path:
    """Write a picture of a fit: measured and simulated values of one recording, parameters, and all residuals.

    Args:
      found: what `fit` returned.
      path: of the picture, with an ending that matplotlib knows.
      recording: its number; all of its segments are drawn.

    Raises:
      InputError: no such recording, or a fit of forces, which has none.
    """
    problem = found.problem
    if not hasattr(problem, "segments"):
        raise InputError("plot_fit: a fit of forces has no recordings; found.residuals['force'] are its residuals")
    s = problem.segments
    chosen = np.flatnonzero(s.recording == whole_number("recording", recording, least=0))
    if not chosen.size:
        raise InputError(f"recording={recording}: the fit has recordings 0 to {s.recording.max()}")
    panels = _panels(found, chosen)
    height = 1.2 * len(panels) + 2.6
    figure = Figure(figsize=(7, height), layout="constrained")
    axes = figure.subplots(len(panels) + 1, 1)
    paths = problem.states(found.at)
    for axis, (name, entry, label) in zip(axes, panels, strict=False):
        for k, i in enumerate(chosen):
            _draw(axis, s.time[i], s.measured[name][i, :, entry], paths[name][i, :, entry], first=k == 0)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(loc="upper right")
    axes[len(panels) - 1].set_xlabel("time [s]")
    axes[0].set_title(
        "\n".join(str(found).splitlines()[: len(found.labels)][:8]), family="monospace", fontsize=8, loc="left"
    )
    _histogram(axes[-1], found)
    figure.savefig(path, dpi=120)
    return pathlib.Path(path)


def _panels(found: Fit, chosen: np.ndarray) -> list[tuple[str, int, str]]:
    """Return what to draw: field, entry and label of the entries that were compared in these segments."""
    names, panels = labels(found.problem.m), []
    compared = {name: x for name, x in found.problem.segments.measured.items() if found.residuals[name].any()}
    for field, values in compared.items():
        seen = np.flatnonzero(np.isfinite(values[chosen]).any(axis=(0, 1)))[:_MOST]
        panels += [(field, int(i), f"{field}\n{names[field][i]}") for i in seen]
    return panels


def _draw(axis: Any, time: np.ndarray, measured: np.ndarray, simulated: np.ndarray, *, first: bool) -> None:
    shown = np.isfinite(time)
    axis.plot(time[shown], measured[shown], ".", color="0.45", markersize=3, label="measured" if first else None)
    axis.plot(time[shown], simulated[shown], color="tab:orange", linewidth=1.2, label="simulated" if first else None)


def _histogram(axis: Any, found: Fit) -> None:
    """Draw the distribution of all residuals beside that of the noise."""
    low, high = -5.0, 5.0
    for name, values in found.residuals.items():
        inner = np.clip(values[values != 0], low, high)
        if inner.size:
            axis.hist(inner, bins=61, range=(low, high), density=True, alpha=0.5, label=name)
    x = np.linspace(low, high, 201)
    axis.plot(x, np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi), color="black", linewidth=1, label="normal")
    axis.set_xlabel("residual / noise (beyond 5: at the ends)")
    axis.set_ylabel("density")
    axis.legend(loc="upper right")
