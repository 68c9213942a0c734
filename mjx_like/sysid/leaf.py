"""Parameters that are leaves: positive, between bounds or free; one number for all entries, or each its own.

Each function here returns a description without a model; `parameters.Parameters` binds it to one.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.leaves.selection import Selection, select
from mjx_like.sysid.bound import Bound, check_prior
from mjx_like.sysid.transform import Transform, interval, linear, logarithm
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model

Array = jax.Array
Names = str | Sequence[str]


class Leaf(NamedTuple):
    """Leaves, or parts of them, by name, whose values are to be found.  `factor`: of the model's values, not values."""

    kind: str
    names: tuple[str, ...]
    transform: Transform
    shared: bool
    factor: bool
    start: float | None
    prior: float

    def bind(self, m: Model) -> Bound:
        """Return the parameter of this model.

        Raises:
          InputError: a name that stands for nothing, a start outside the bounds, or a time constant that MuJoCo raises.
        """
        chosen = [select(m, name) for name in self.names]
        _check_time_constants(m, self, chosen)
        nominal = jnp.concatenate([jnp.ravel(s.get(m)) for s in chosen])
        start = jnp.ones_like(nominal) if self.factor else nominal
        start = start if self.start is None else jnp.full_like(nominal, self.start)
        start = jnp.mean(start, keepdims=True) if self.shared else start
        self._check_start(start)
        splits = np.cumsum([s.entries.size for s in chosen])[:-1]

        def changes(theta: Array) -> dict[str, Array]:
            value = jnp.broadcast_to(self.transform.to_value(theta), nominal.shape)
            value = nominal * value if self.factor else value
            parts = jnp.split(value, splits)
            return {s.name: part.reshape(s.shape) for s, part in zip(chosen, parts, strict=True)}

        return Bound(
            labels=self._labels(chosen),
            start=np.asarray(self.transform.to_coordinate(start)),
            values=self.transform.to_value,
            changes=changes,
            prior=self.prior,
        )

    def _labels(self, chosen: list[Selection]) -> tuple[str, ...]:
        if self.shared:
            return (("factor of " if self.factor else "") + ", ".join(self.names),)
        entries = [(s.name, index) for s in chosen for index in np.ndindex(*s.shape)]
        return tuple(f"{name} {index}" if index else name for name, index in entries)

    def _check_start(self, start: Array) -> None:
        low, high = self.transform.low, self.transform.high
        for value in np.asarray(start):
            if not low < value < high:
                allowed = f"above {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
                names = ", ".join(map(repr, self.names))
                raise InputError(f"{self.kind}({names}): starts at {value:g}, must be {allowed}: give start=")


def positive(names: Names, *, shared: bool = False, start: float | None = None, prior: float = math.inf) -> Leaf:
    """Return a parameter above zero: masses, damping, armature, gains, sizes. The coordinate is the logarithm.

    Args:
      names: one name or several, in the grammar of `with_leaves`: `"body_mass@link"`.
      shared: whether all entries have one value.
      start: the value to start from; None for the model's, with `shared` the mean of them.
      prior: standard deviation, in the coordinate, about the start; infinite for none.
    """
    return Leaf("positive", _tuple(names), logarithm(), shared, False, _number("start", start), check_prior(prior))


def bounded(
    names: Names, low: float, high: float, *, shared: bool = False, start: float | None = None, prior: float = math.inf
) -> Leaf:
    """Return a parameter between two bounds: friction, solref. The coordinate is that of a logistic curve.

    A time constant, column 0 of a solref, needs `low` of at least two time steps: MuJoCo raises smaller ones in
    silence (flag `refsafe`), and the derivative is zero there.

    Raises:
      InputError: bounds that are no numbers in their order.
    """
    low, high = _number("low", low), _number("high", high)
    if not (low is not None and high is not None and -math.inf < low < high < math.inf):
        raise InputError(f"bounded({shown(names)}, {low}, {high}): needs two finite numbers, low < high")
    kind = interval(low, high)
    return Leaf("bounded", _tuple(names), kind, shared, False, _number("start", start), check_prior(prior))


def free(
    names: Names, *, scale: float = 1.0, shared: bool = False, start: float | None = None, prior: float = math.inf
) -> Leaf:
    """Return a parameter without bounds: positions, angles.

    scale: by how much it is thought to move [its unit]; the coordinate is the value over it.
    """
    scale = _number("scale", scale)
    if scale is None or not 0 < scale < math.inf:
        raise InputError(f"free({shown(names)}): scale={shown(scale)}: must be a positive number")
    return Leaf("free", _tuple(names), linear(scale), shared, False, _number("start", start), check_prior(prior))


def scaled(
    names: Names, low: float | None = None, high: float | None = None, *, start: float = 1.0, prior: float = math.inf
) -> Leaf:
    """Return one positive factor of all the entries, which keep their ratios: `scaled("body_inertia@cube")`.

    low, high: bounds of the factor, both or none.
    """
    low, high = _number("low", low), _number("high", high)
    if (low is None) != (high is None) or (low is not None and not 0 <= low < high < math.inf):
        raise InputError(f"scaled({shown(names)}, {low}, {high}): needs 0 <= low < high, or no bounds")
    kind = logarithm() if low is None else interval(low, high)
    return Leaf("scaled", _tuple(names), kind, True, True, _number("start", start), check_prior(prior))


def _tuple(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _number(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}={shown(value)}: must be a number") from None


def _check_time_constants(m: Model, leaf: Leaf, chosen: list[Selection]) -> None:
    """Raise where a time constant of a solref may come below two time steps, where `refsafe` raises it."""
    if m.disabled(DisableBit.REFSAFE) or m.plans.integrator.in_step:
        return
    least = 2 * float(m.opt.timestep)
    for s in chosen:
        if "solref" not in s.field or not (s.entries.ravel() % 2 == 0).any():
            continue
        pairs = np.asarray(getattr(m, s.field)).reshape(-1, 2)[s.entries.ravel() // 2]
        lowest = leaf.transform.low * (pairs[:, 0].min() if leaf.factor else 1)
        if (pairs > 0).all() and lowest < least * (1 - 1e-6):
            raise InputError(
                f"{leaf.kind}('{s.name}'): a time constant below two time steps, {least:g} s, is raised to that in "
                f"silence (flag refsafe), and its derivative is 0 there: bounded('{s.name}', {least:g}, high)"
            )
