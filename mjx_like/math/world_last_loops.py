"""Loops of given length of many worlds, whose arrays have the axis of the worlds last: rules of `world_last`."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from mjx_like.math.programs import closed, depends
from mjx_like.math.rule import Call, call_with_rule
from mjx_like.math.tangent import changing
from mjx_like.math.world_last_program import Mapping, Value, moved, run, spread

Array = jax.Array


def scan_last(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    """Return what a loop of given length carries at its end, and what it leaves in each turn."""
    p, body = equation.params, closed(equation.params["jaxpr"])
    given, start, each = _of_loop(equation, inputs)
    flags = carried_with_worlds(body, given, start, each)

    def turn(x: list[Array], own: list[Array]) -> tuple[list[Array], list[Array]]:
        own = [Value(v, of_all.mapped) for v, of_all in zip(own, each, strict=True)]
        out = run(body, [*given, *map(Value, x, flags), *own], mapping)
        return with_worlds(flags, out[: len(flags)], mapping), [spread(v, mapping.size) for v in out[len(flags) :]]

    start, each_array = with_worlds(flags, start, mapping), [v.array for v in each]
    end, left = lax.scan(turn, start, each_array, p["length"], p["reverse"], p["unroll"])
    return [*(spread(Value(x, flag), mapping.size) for x, flag in zip(end, flags, strict=True)), *left]


def _of_loop(equation: Any, inputs: list[Value]) -> tuple[list[Value], list[Value], list[Value]]:
    """Return what a loop of given length has in all turns, what it carries, and what it has in each turn."""
    inside = closed(equation.params["jaxpr"]).jaxpr
    # parameters of the equation say how many there are, by names that differ among releases of JAX
    carry = sum(map(_of_one_rank, equation.outvars, inside.outvars))
    both = sum(map(_of_one_rank, equation.invars, inside.invars))
    return inputs[: both - carry], inputs[both - carry : both], inputs[both:]


def scan_with_rule(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    """Return what `scan_last` does, with the derivative that `jax.vmap` gives.

    The derivative of a loop with the worlds last takes two fifths longer to compile, and a quarter longer to run.
    """
    flags = [v.mapped for v in inputs]

    def last(*arrays: Any) -> list[Any]:
        return scan_last(equation, list(map(Value, arrays, flags)), mapping)

    def rule(values: list[Any], rates: list[Any]) -> tuple[list[Any], list[Any]]:
        own, own_rates, with_others = changing(values, rates)

        def first(changed: list[Any]) -> list[Any]:
            return moved(equation, list(map(Value, with_others(changed), flags)))

        out, change = jax.jvp(first, (own,), (own_rates,))
        follow = _follows(equation, [Value(x, t is not None) for x, t in zip(values, rates, strict=True)])
        real = [flag and t.dtype != jax.dtypes.float0 for flag, t in zip(follow, change, strict=True)]
        return out, [t if flag else None for t, flag in zip(change, real, strict=True)]

    call = Call(last, rule, equation.primitive.name, own=True)
    return call_with_rule.bind(*(v.array for v in inputs), call=call)


def _follows(equation: Any, inputs: list[Value]) -> list[bool]:
    """Return which results of a loop of given length depend on inputs that are flagged."""
    body, (given, start, each) = closed(equation.params["jaxpr"]), _of_loop(equation, inputs)
    carried = carried_with_worlds(body, given, start, each)
    return depends(body, [*(v.mapped for v in given), *carried, *(v.mapped for v in each)])


def _of_one_rank(outside: Any, inside: Any) -> bool:
    """Return whether a value of a loop is one of its body, and not an entry of it for each turn."""
    return outside.aval.ndim == inside.aval.ndim


def with_worlds(flags: list[bool], values: list[Value], mapping: Mapping) -> list[Array]:
    """Return arrays, those with a flag with the axis of the worlds."""
    return [spread(v, mapping.size) if flag else jnp.asarray(v.array) for flag, v in zip(flags, values, strict=True)]


def carried_with_worlds(
    body: core.ClosedJaxpr, given: list[Value], start: list[Value], each: Sequence[Value] = ()
) -> list[bool]:
    """Return which of the values that a loop carries depend on the world, at its start or later.

    body: of the loop, a function of what is `given` to all turns, what it carries, and what `each` turn has.
    """
    flags = [v.mapped for v in start]
    while True:
        after = depends(body, [*(v.mapped for v in given), *flags, *(v.mapped for v in each)])
        new = [a or b for a, b in zip(flags, after, strict=False)]
        if new == flags:
            return flags
        flags = new
