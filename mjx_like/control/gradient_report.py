"""When to trust a gradient: derivatives beside differences, by horizon."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown

Array = jax.Array

AGREE = 0.1  # relative difference up to which a derivative and a secant count as equal
_ROUNDING = 4  # of a loss, in units of its last place


class Horizon(NamedTuple):
    """What a loss and its derivative along one direction do over one horizon."""

    length: int
    derivative: float  # median over worlds
    secants: np.ndarray  # (sizes,) median over worlds
    # (sizes,) share of worlds whose secant is off the derivative by more than a tenth, of those whose rounding is less
    # than that; NaN where there are none
    jumps: np.ndarray
    norms: np.ndarray  # (len(x),) of the gradient by the first axis of x: by step, where x are controls
    finite: float  # share of worlds with a finite derivative


class GradientReport(NamedTuple):
    """A row for each horizon; printing it shows a table."""

    sizes: tuple[float, ...]
    rows: tuple[Horizon, ...]

    def __str__(self) -> str:
        """Return a table: horizon, derivative, and for each size of a step the secant and the share that jumps."""
        heads = [f"secant, jumps at {size:g}" for size in self.sizes]
        lines = [" | ".join(["horizon", "derivative", *heads, "largest norm at", "finite"])]
        for row in self.rows:
            pairs = [f"{s:.4g}, {_share(j)}" for s, j in zip(row.secants, row.jumps, strict=True)]
            most = f"{row.norms.max():.3g} at {row.norms.argmax()}"
            cells = [f"{row.length}", f"{row.derivative:.4g}", *pairs, most, f"{row.finite:.0%}"]
            lines.append(" | ".join(cells))
        return "\n".join(lines)


def gradient_report(
    f: Callable[[Array, int], Array],
    x: Any,
    lengths: Sequence[int],
    *,
    sizes: Sequence[float] | None = None,
    key: Array | int = 0,
) -> GradientReport:
    """Return how far derivatives of a loss are those of its changes, for each horizon.

    Along one random direction of length 1 the derivative is put beside central secants. Where they agree at the size of
    step that an optimiser takes, follow the gradient; where they agree at the least size and not at that one, the loss
    jumps between (a contact begins another step) or bends: take a shorter horizon, segments, or `with_smoothing`; where
    they do not agree at the least size either, many worlds stand at a kink. Where the rounding of the loss is more than
    a tenth of a secant, its share is printed as `rounding`: take larger steps, or float64. Norms that grow towards the
    first steps are those of motion that is chaotic.

    Args:
      f: function `(x, length)` that returns the loss of a rollout of so many steps, a number or one for each world,
        shape (worlds,).
      x: what it is differentiated by, an array such as controls (steps, nu) or parameters (n,).
      lengths: horizons [steps]; each is a program to compile.
      sizes: lengths of the steps of differences, in units of `x`; None: 1e-6 and 1e-3, in single precision 1e-2 and
        0.1.
      key: of jax.random, or a seed.

    Raises:
      InputError: an argument that does not fit, or a loss of another shape.
    """
    x = jnp.asarray(x)
    if not callable(f):
        raise InputError(f"f={shown(f)}: must be a function (x, length) -> loss")
    if not x.ndim or not jnp.issubdtype(x.dtype, jnp.floating):
        raise InputError(f"x has shape {x.shape} and dtype {x.dtype}; it must be an array of floats with an axis")
    sizes = tuple(sizes if sizes is not None else (1e-6, 1e-3) if x.dtype == jnp.float64 else (1e-2, 0.1))
    if not sizes or not all(isinstance(h, float) and h > 0 for h in sizes):
        raise InputError(f"sizes={shown(sizes)}: must be positive lengths")
    lengths = [whole_number("lengths", n, least=1) for n in lengths]
    key = jax.random.key(key) if isinstance(key, int) else key
    way = jax.random.normal(key, x.shape, x.dtype)
    way = way / jnp.linalg.norm(way.ravel())
    return GradientReport(sizes, tuple(_horizon(f, x, way, length, sizes) for length in lengths))


def _horizon(f: Callable[[Array, int], Array], x: Array, way: Array, length: int, sizes: tuple[float, ...]) -> Horizon:
    loss = jax.jit(lambda x: f(x, length))
    value, slope = jax.jit(lambda x: jax.jvp(loss, (x,), (way,)))(x)
    if value.ndim > 1:
        raise InputError(f"f returns shape {value.shape}; it must be a number, or one for each world, (worlds,)")
    slope = np.atleast_1d(slope)
    ahead, behind = (np.stack([np.atleast_1d(loss(x + s * h * way)) for h in sizes]) for s in (1, -1))
    step = 2 * np.asarray(sizes, value.dtype)[:, None]
    secants = (ahead - behind) / step
    apart, equal = np.abs(secants - slope), AGREE * np.maximum(np.abs(slope), np.abs(secants))
    rounding = _ROUNDING * np.finfo(value.dtype).eps * np.maximum(np.abs(ahead), np.abs(behind)) / step
    told = (rounding <= equal) | (apart == 0)
    off = np.where(told.any(1), np.sum(told & (apart > equal), 1) / np.maximum(told.sum(1), 1), np.nan)
    gradient = np.asarray(jax.jit(jax.grad(lambda x: jnp.sum(loss(x))))(x)).reshape(len(x), -1)
    return Horizon(
        length, float(np.median(slope)), np.median(secants, 1), off, np.linalg.norm(gradient, axis=1),
        float(np.isfinite(slope).mean()),
    )  # fmt: skip


def _share(jumps: float) -> str:
    return "rounding" if np.isnan(jumps) else f"{jumps:.0%}"
