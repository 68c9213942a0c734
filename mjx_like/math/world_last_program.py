"""Running a program of one world on arrays of many, whose last axis is that of the worlds, by rules of primitives."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend import core

from mjx_like.math.programs import inlined

Array = jax.Array


class Value(NamedTuple):
    """A value of a program, and whether it has the axis of the worlds."""

    array: Any
    mapped: bool


class Mapping(NamedTuple):
    """How a program is mapped."""

    size: int  # worlds
    rules: "Rules"  # by the name of a primitive


Rule = Callable[[Any, list[Value], Mapping], list[Any] | None]  # None: as `jax.vmap` does it
Rules = dict[str, Rule]


def spread(value: Value, size: int) -> Array:
    """Return a value with the axis of the worlds."""
    if value.mapped:
        return value.array
    x = jnp.asarray(value.array)
    return jnp.broadcast_to(x[..., None], (*x.shape, size))


def run(program: core.ClosedJaxpr, args: list[Value], mapping: Mapping) -> list[Value]:
    """Return the results of a program on mapped and common values."""
    known: dict[core.Var, Value] = {}
    jaxpr = program.jaxpr

    def read(v: Any) -> Value:
        return Value(v.val, False) if isinstance(v, core.Literal) else known[v]

    known.update(zip(jaxpr.constvars, (Value(c, False) for c in program.consts), strict=True))
    known.update(zip(jaxpr.invars, args, strict=True))
    for equation in jaxpr.eqns:
        values = _apply(equation, [read(v) for v in equation.invars], mapping)
        known.update(zip(equation.outvars, values, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _apply(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Value]:
    inner = inlined(equation)
    if inner is not None:
        return run(inner, inputs, mapping)
    if not any(v.mapped for v in inputs):
        return [Value(x, False) for x in _bind(equation, [v.array for v in inputs])]
    rule = mapping.rules.get(equation.primitive.name)
    results = None if rule is None else rule(equation, inputs, mapping)
    if results is None:
        results = moved(equation, inputs)
    return [Value(x, True) for x in results]


def _bind(equation: Any, arrays: list[Any]) -> list[Any]:
    named = {v: x for v, x in zip(equation.invars, arrays, strict=True) if isinstance(v, core.Var)}
    alone = jax.make_jaxpr(lambda: None)().jaxpr.replace(
        invars=list(named), outvars=equation.outvars, eqns=[equation], effects=equation.effects
    )
    return core.jaxpr_as_fun(core.ClosedJaxpr(alone, ()))(*named.values())


def moved(equation: Any, inputs: list[Value]) -> list[Any]:
    """Return what `jax.vmap` gives: right for every primitive, with the world axis moved first and back."""
    arrays, axes = [v.array for v in inputs], [-1 if v.mapped else None for v in inputs]
    return jax.vmap(lambda *x: _bind(equation, x), in_axes=axes, out_axes=-1)(*arrays)
