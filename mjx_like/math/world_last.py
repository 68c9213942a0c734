"""Mapping a function over worlds with the world axis last, so that short axes of a world do not break up long loops.

`jax.vmap` puts the mapped axis first: arrays then end in axes of 3 or 4, over which a CPU cannot vectorise. Here every
array ends in the axis of the worlds, and each primitive acts on all worlds at once.

A workaround for XLA's CPU compiler, needed with jax 0.10 and 0.12: it goes when `jax.vmap` in its stead, in
`rollout/rollout.py`, leaves the figures of `python -m benchmarks.throughput` as they are.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.math.rule import Call, call_with_rule
from mjx_like.math.world_last_loops import scan_last, scan_with_rule
from mjx_like.math.world_last_products import common_product, product_of_mapped
from mjx_like.math.world_last_program import Mapping, Rules, Value, run, spread

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
    "scan": scan_with_rule,
    call_with_rule.name: _with_rule,
}
