"""Mapping a function over worlds with the world axis last, so that short axes of a world do not break up long loops.

`jax.vmap` puts the mapped axis first: arrays then end in axes of 3 or 4, over which a CPU cannot vectorise. Here every
array ends in the axis of the worlds, and each primitive acts on all worlds at once.

A workaround for XLA's CPU compiler, needed with jax 0.10 and 0.12: it goes when `jax.vmap` in its stead, in
`rollout/rollout.py`, leaves the figures of `python -m benchmarks.throughput` as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from mjx_like.math.programs import closed, depends, inlined
from mjx_like.math.rule import Call, call_with_rule
from mjx_like.math.world_last_products import common_product, product_of_mapped

Array = jax.Array

_ELEMENTWISE = frozenset(
    "abs acos acosh add add_any and angle asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type copy"
    " copy_p cos cosh div eq erf erf_inv exp exp2 expm1 floor ge gt integer_pow is_finite le limited_quotient log"
    " log1p logistic lt max min mul name ne neg nextafter not or population_count pow quotient reduce_precision rem"
    " root round rsqrt scaled select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt"
    " square stop_gradient sub tan tanh xor".split()
)
# These name axes by number and take arrays of one rank: a further axis at the end changes nothing.
_SAME = frozenset(
    "argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce_and reduce_max reduce_min reduce_or reduce_prod"
    " reduce_sum rev squeeze".split()
)


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


def map_last(function: Callable[..., Any], mapped: Any, rules: Rules | None = None) -> Callable[..., Any]:
    """Return `function` of one world as a function of many; arrays have the axis of the worlds last.

    mapped: pytree of bools with the structure of the tuple of arguments: which leaves have that axis. All leaves of the
    result have it. Equal to `jax.vmap` with `in_axes` -1 or None and `out_axes` -1, up to rounding.
    rules: for some primitives, in place of those of this module.
    """

    def many(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        flags = tree.flatten_up_to(mapped)
        size = next(x.shape[-1] for x, flag in zip(leaves, flags, strict=True) if flag)
        one = [
            jax.ShapeDtypeStruct(x.shape[:-1] if flag else x.shape, x.dtype)
            for x, flag in zip(leaves, flags, strict=True)
        ]
        program, shape = jax.make_jaxpr(lambda *x: function(*tree.unflatten(x)), return_shape=True)(*one)
        values = [Value(x, flag) for x, flag in zip(leaves, flags, strict=True)]
        results = run(program, values, Mapping(size, _RULES | (rules or {})))
        return jax.tree.unflatten(jax.tree.structure(shape), [spread(v, size) for v in results])

    return many


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
        results = _moved(equation, inputs)
    return [Value(x, True) for x in results]


def _bind(equation: Any, arrays: list[Any]) -> list[Any]:
    named = {v: x for v, x in zip(equation.invars, arrays, strict=True) if isinstance(v, core.Var)}
    alone = jax.make_jaxpr(lambda: None)().jaxpr.replace(
        invars=list(named), outvars=equation.outvars, eqns=[equation], effects=equation.effects
    )
    return core.jaxpr_as_fun(core.ClosedJaxpr(alone, ()))(*named.values())


def _moved(equation: Any, inputs: list[Value]) -> list[Any]:
    """Return what `jax.vmap` gives: right for every primitive, with the world axis moved first and back."""
    arrays, axes = [v.array for v in inputs], [-1 if v.mapped else None for v in inputs]
    return jax.vmap(lambda *x: _bind(equation, x), in_axes=axes, out_axes=-1)(*arrays)


def _elementwise(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    shape = (*equation.outvars[0].aval.shape, mapping.size)

    def as_mapped(v: Value) -> Array:
        x = jnp.asarray(v.array)
        return jnp.broadcast_to(x if v.mapped else x[..., None] if x.ndim else x, shape)

    return [equation.primitive.bind(*map(as_mapped, inputs), **equation.params)]


def _same(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return [equation.primitive.bind(inputs[0].array, **equation.params)]


def _broadcast(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    shape, axes = equation.params["shape"], equation.params["broadcast_dimensions"]
    return [lax.broadcast_in_dim(inputs[0].array, (*shape, mapping.size), (*axes, len(shape)))]


def _reshape(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return [lax.reshape(inputs[0].array, (*equation.params["new_sizes"], mapping.size))]


def _transpose(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    axes = equation.params["permutation"]
    return [lax.transpose(inputs[0].array, (*axes, len(axes)))]


def _concatenate(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return [lax.concatenate([spread(v, mapping.size) for v in inputs], equation.params["dimension"])]


def _stack(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return [jnp.stack([spread(v, mapping.size) for v in inputs], equation.params["axis"])]


def _unstack(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return jnp.unstack(inputs[0].array, axis=equation.params["axis"])


def _split(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return lax.split(inputs[0].array, equation.params["sizes"], equation.params["axis"])


def _slice(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    p = equation.params
    strides = None if p["strides"] is None else (*p["strides"], 1)
    return [lax.slice(inputs[0].array, (*p["start_indices"], 0), (*p["limit_indices"], mapping.size), strides)]


def _pad(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    x, fill = inputs
    return None if fill.mapped else [lax.pad(x.array, fill.array, (*equation.params["padding_config"], (0, 0, 0)))]


def _sort(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    return equation.primitive.bind(*(spread(v, mapping.size) for v in inputs), **equation.params)


def _gather(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    x, index = inputs
    p, numbers = equation.params, equation.params["dimension_numbers"]
    offset, slices = numbers.offset_dims, p["slice_sizes"]
    mapped_operand, mapped_index = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    starts = index.array
    if index.mapped:  # worlds become the last axis but one of the indices, and so the last of the result
        starts = jnp.moveaxis(starts, -1, -2)
    if x.mapped and index.mapped:
        mapped_operand, mapped_index = (*mapped_operand, x.array.ndim - 1), (*mapped_index, starts.ndim - 2)
        slices = (*slices, 1)
    elif x.mapped:
        offset, slices = (*offset, len(equation.outvars[0].aval.shape)), (*slices, mapping.size)
    wider = lax.GatherDimensionNumbers(
        offset, numbers.collapsed_slice_dims, numbers.start_index_map, mapped_operand, mapped_index
    )
    changes = {"dimension_numbers": wider, "slice_sizes": slices}
    return [equation.primitive.bind(x.array, starts, **{**p, **changes})]


def _product(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any] | None:
    (x, y), p = inputs, equation.params
    return (product_of_mapped if x.mapped and y.mapped else common_product)(x, y, p)


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


def _scan(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    """Return what `scan_last` does, with the derivative that `jax.vmap` gives.

    The derivative of a loop with the worlds last takes two fifths longer to compile, and a quarter longer to run.
    """
    flags = [v.mapped for v in inputs]

    def last(*arrays: Any) -> list[Any]:
        return scan_last(equation, list(map(Value, arrays, flags)), mapping)

    def rule(values: list[Any], rates: list[Any]) -> tuple[list[Any], list[Any]]:
        moving = [t is not None for t in rates]

        def first(*changed: Any) -> list[Any]:
            others = iter(changed)
            arrays = [next(others) if flag else x for x, flag in zip(values, moving, strict=True)]
            return _moved(equation, list(map(Value, arrays, flags)))

        some = ([x for x, flag in zip(xs, moving, strict=True) if flag] for xs in (values, rates))
        out, change = jax.jvp(first, *map(tuple, some))
        follow = _follows(equation, list(map(Value, values, moving)))
        real = [flag and t.dtype != jax.dtypes.float0 for flag, t in zip(follow, change, strict=True)]
        return out, [t if flag else None for t, flag in zip(change, real, strict=True)]

    call = Call(last, rule, equation.primitive.name, own=True)
    return call_with_rule.bind(*(v.array for v in inputs), call=call)


def _follows(equation: Any, inputs: list[Value]) -> list[bool]:
    """Return which results of a loop of given length depend on inputs that are flagged."""
    body, (given, start, each) = closed(equation.params["jaxpr"]), _of_loop(equation, inputs)
    carried = carried_with_worlds(body, given, start, each)
    return depends(body, [*(v.mapped for v in given), *carried, *(v.mapped for v in each)])


def _with_rule(equation: Any, inputs: list[Value], mapping: Mapping) -> list[Any]:
    """Return the results of a function with a derivative rule, which stays that of `jax.vmap`.

    JAX never differentiates the function itself, so that its loops can have the worlds last: the derivative of such a
    loop takes two fifths longer to compile, and a quarter longer to run.
    """
    call, flags = equation.params["call"], [v.mapped for v in inputs]
    axes = [-1 if flag else None for flag in flags]
    rule = jax.vmap(call.rule, in_axes=(axes, axes), out_axes=-1)
    last = Call(map_last(call.function, tuple(flags), {"scan": scan_last}), rule, call.name, call.own)
    return call_with_rule.bind(*(v.array for v in inputs), call=last)


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


_RULES: Rules = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(_SAME, _same),
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "stack": _stack,
    "split": _split,
    "unstack": _unstack,
    "slice": _slice,
    "pad": _pad,
    "sort": _sort,
    "gather": _gather,
    "dot_general": _product,
    "scan": _scan,
    call_with_rule.name: _with_rule,
}
