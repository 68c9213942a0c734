"""Smoothing by choice: contacts and limits that begin gradually, for values and gradients or for gradients alone."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.math import safe
from mjx_like.math.rule import custom_jvp
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.smoothing import Smoothing
from mjx_like.worlds import a_model

Array = jax.Array
Stage = Callable[[Model, Data], Data]


def with_smoothing(
    m: Model,
    width: Array | float = 1e-3,
    reach: Array | float = 0.0,
    strength: Array | float = 0.0,
    *,
    limits: bool = True,
    straight_through: bool = False,
) -> Model:
    """Return the Model with contacts, and limits, that do not begin at once.

    The impedance of a contact grows from nothing at a distance of `width` above its margin to MuJoCo's at `width` below
    it, and so does the depth that its spring pushes against, with continuous derivatives; a contact deeper than that is
    MuJoCo's. With `reach` and `strength` a contact acts from a distance, so that gradients see what is not touched yet:
    with a share of its impedance, `strength` at the touch and falling to nothing at `reach`, as if as much of `reach`
    deep.

    Args:
      m: the model.
      width: half the width of the activation [m, for limits of rotations rad]; 0 for MuJoCo's sudden one.
      reach: distance from which contacts act [m or rad].
      strength: share of the impedance and of `reach` that acts from a distance, in [0, 1).
      limits: whether limits are smoothed too.
      straight_through: whether `forward`, `inverse`, `step` and `rollout` return the values without smoothing, with the
        derivatives of the smoothed ones. They compute both.

    Raises:
      InputError: a negative width or reach, a strength that is no share, or a model with hard contact.
    """
    a_model("with_smoothing", m)
    if m.hard is not None:
        raise InputError("with_smoothing is of soft contact; hard contact is smooth by its gap: m.opt.replace(gap=...)")
    for name, value, high in (("width", width, np.inf), ("reach", reach, np.inf), ("strength", strength, 1.0)):
        known = not isinstance(value, jax.core.Tracer)
        if known and not (_is_numeric(value) and np.all((np.asarray(value) >= 0) & (np.asarray(value) < high))):
            raise InputError(f"with_smoothing: {name}={shown(value)} must be at least 0 and below {high:g}")
    dtype = m.qpos0.dtype
    width, reach, strength = (jnp.asarray(x, dtype) for x in (width, reach, strength))
    return m.replace(smoothing=Smoothing(limits, straight_through, width, reach, strength))


def _is_numeric(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "biuf"


def without_smoothing(m: Model) -> Model:
    """Return the Model with MuJoCo's own contacts and limits."""
    return m.replace(smoothing=None)


def smoothed(m: Model, width: Array | float) -> Model:
    """Return the Model with contacts that begin over a width [m]: `with_smoothing`, or that gap of hard contact.

    Raises:
      InputError: a width that is negative, or of hard contact zero.
    """
    return with_smoothing(m, width) if m.hard is None else m.replace(opt=m.opt.replace(gap=width))


def straight_through(stage: Stage, m: Model, d: Data) -> Data:
    """Return what a stage makes of `d`: as it is, or with the derivatives of a smoother model."""
    if m.hard is not None and m.hard.biased:
        exact, smooth = m.hard.replace(biased=False), m.hard.replace(biased=False, gap=m.hard.grad_gap)
        smooth = smooth.replace(slip=m.hard.slip * safe.ratio(m.hard.grad_gap, m.hard.gap))
        return _with_derivatives_of(stage(m.replace(hard=exact), d), stage(m.replace(hard=smooth), d))
    if m.smoothing is None or not m.smoothing.straight_through:
        return stage(m, d)
    exact = stage(without_smoothing(m), d)
    smooth = stage(m.replace(smoothing=m.smoothing.replace(straight_through=False)), d)
    return _with_derivatives_of(exact, smooth)


def _with_derivatives_of(exact: Data, smooth: Data) -> Data:
    """Return the values of the first with the derivatives of the second."""

    def joined(value: Array, surrogate: Array) -> Array:
        if not jnp.issubdtype(value.dtype, jnp.floating):
            return value
        return jax.lax.stop_gradient(value) + _without_value(surrogate)

    return jax.tree.map(joined, exact, smooth)


@custom_jvp
def _without_value(x: Array) -> Array:
    """Return zeros whose derivatives are those of x."""
    return jnp.zeros_like(x)


@_without_value.defjvp
def _without_value_jvp(primals, tangents):
    return _without_value(*primals), tangents[0]
