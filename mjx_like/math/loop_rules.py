"""Rules of `map_last` for one kernel: sums are loops over the entries of an axis, loops stay loops.

XLA's CPU backend vectorises a loop over an array whose last axis is that of the worlds, but adds up the entries of
another axis one by one, world after world. As a loop over the entries, a sum of any kind adds the numbers of all
worlds at once. Within one kernel (`one_kernel`) such a loop costs nothing beside that.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.math.programs import depends
from mjx_like.math.world_last_loops import carried_with_worlds, scan_last, with_worlds
from mjx_like.math.world_last_program import Mapping, Rules, Value, run, spread

Array = jax.Array
Operation = Callable[[Array, Array], Array]

_PRODUCTS = 2  # of a sum of them, in each turn of its loop


def _total(op: Operation, equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    """Return a sum of any kind over axes of one array."""
    x, axes = inputs[0].array, sorted(equation.params["axes"])
    if 0 in x.shape:
        return None
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    x = jnp.transpose(x, (*axes, *kept)).reshape(-1, *(x.shape[axis] for axis in kept))
    return [_added_up(op, x.shape[0], functools.partial(_entry, x, 0))]


def _product(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    """Return a product of two arrays over one axis."""
    (cx, cy), (batched, _) = equation.params["dimension_numbers"]
    if batched or len(cx) != 1:
        return None
    out, (x, y) = equation.outvars[0].aval, (spread(v, mapping.size) for v in inputs)
    if 0 in x.shape or 0 in y.shape:
        return [jnp.zeros((*out.shape, mapping.size), out.dtype)]
    nx, ny = x.ndim - 2, y.ndim - 2

    def term(k: Any) -> Array:
        a, b = _entry(x, cx[0], k), _entry(y, cy[0], k)
        return jnp.expand_dims(a, range(nx, nx + ny)) * jnp.expand_dims(b, range(nx))

    return [_added_up(lax.add, x.shape[cx[0]], term, _PRODUCTS)]


def _added_up(op: Operation, count: int, term: Callable[[Any], Array], at_once: int = 1) -> Array:
    """Return the sum of any kind of so many terms; term: of its number; at_once: terms in a turn of the loop."""

    def several(first: Any, count: int) -> Array:
        return functools.reduce(op, [term(first + k) for k in range(count)])

    rest = count % at_once
    first = rest or at_once
    turns = (count - first) // at_once
    return lax.fori_loop(0, turns, lambda k, x: op(x, several(first + at_once * k, at_once)), several(0, first))


def _entry(x: Array, axis: int, k: Any) -> Array:
    if isinstance(k, int):
        return lax.index_in_dim(x, k, axis, keepdims=False)
    return lax.dynamic_index_in_dim(x, k, axis, keepdims=False)


def _while(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    """Return what a loop carries at its end; a world that has ended waits for the rest."""
    p = equation.params
    count, consts = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    asked, given, start = inputs[:count], inputs[count:consts], inputs[consts:]
    flags = carried_with_worlds(p["body_jaxpr"], given, start)
    together = not any(depends(p["cond_jaxpr"], [*(v.mapped for v in asked), *flags]))
    flags = flags if together else [True] * len(flags)

    def goes_on(x: list[Array]) -> Array:
        return run(p["cond_jaxpr"], [*asked, *map(Value, x, flags)], mapping)[0].array

    def turn(x: list[Array]) -> list[Array]:
        new = with_worlds(flags, run(p["body_jaxpr"], [*given, *map(Value, x, flags)], mapping), mapping)
        if together:
            return new
        going = goes_on(x)
        return [jnp.where(going, b, a) for a, b in zip(x, new, strict=True)]

    end = lax.while_loop(lambda x: jnp.any(goes_on(x)), turn, with_worlds(flags, start, mapping))
    return [spread(Value(x, flag), mapping.size) for x, flag in zip(end, flags, strict=True)]


def _part(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    x, *start = inputs
    if any(v.mapped for v in start):
        return None
    return [lax.dynamic_slice(x.array, (*(v.array for v in start), 0), (*equation.params["slice_sizes"], mapping.size))]


def _with_part(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    x, part, *start = inputs
    if any(v.mapped for v in start):
        return None
    whole, part = (spread(v, mapping.size) for v in (x, part))
    return [lax.dynamic_update_slice(whole, part, (*(v.array for v in start), 0))]


_OPERATIONS = {
    "reduce_sum": lax.add, "reduce_prod": lax.mul, "reduce_max": lax.max, "reduce_min": lax.min,
    "reduce_and": lax.bitwise_and, "reduce_or": lax.bitwise_or,
}  # fmt: skip

LOOP_RULES: Rules = {
    **{name: functools.partial(_total, op) for name, op in _OPERATIONS.items()},
    "dot_general": _product,
    "scan": scan_last,
    "while": _while,
    "dynamic_slice": _part,
    "dynamic_update_slice": _with_part,
}
