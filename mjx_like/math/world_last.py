"""Mapping a function over worlds with the world axis last, so that short axes of a world do not break up long loops.

`jax.vmap` puts the mapped axis first: arrays then end in axes of 3 or 4, over which a CPU cannot vectorise. Here every
array ends in the axis of the worlds, and each primitive acts on all worlds at once.

A workaround for XLA's CPU compiler, needed with jax 0.10 and 0.12: it goes when `jax.vmap` in its stead, in
`rollout/rollout.py`, leaves the figures of `python -m benchmarks.throughput` as they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

Array = jax.Array

_SHORTEST_DOT = 8  # contractions of two mapped arrays up to this length are sums of products

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
_INLINE = frozenset(("pjit", "jit", "closed_call", "core_call"))


class _Value(NamedTuple):
    array: Any
    mapped: bool


def map_last(function: Callable[..., Any], mapped: Any) -> Callable[..., Any]:
    """Return `function` of one world as a function of many; arrays have the axis of the worlds last.

    mapped: pytree of bools with the structure of the tuple of arguments: which leaves have that axis. All leaves of the
    result have it. Equal to `jax.vmap` with `in_axes` -1 or None and `out_axes` -1, up to rounding.
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
        values = [_Value(x, flag) for x, flag in zip(leaves, flags, strict=True)]
        results = _run(program.jaxpr, program.consts, values, size)
        return jax.tree.unflatten(jax.tree.structure(shape), [_spread(v, size) for v in results])

    return many


def _spread(value: _Value, size: int) -> Array:
    if value.mapped:
        return value.array
    x = jnp.asarray(value.array)
    return jnp.broadcast_to(x[..., None], (*x.shape, size))


def _run(program: core.Jaxpr, consts: list[Any], args: list[_Value], size: int) -> list[_Value]:
    """Return the results of a program on mapped and common values."""
    known: dict[core.Var, _Value] = {}

    def read(v: Any) -> _Value:
        return _Value(v.val, False) if isinstance(v, core.Literal) else known[v]

    known.update(zip(program.constvars, (_Value(c, False) for c in consts), strict=True))
    known.update(zip(program.invars, args, strict=True))
    for equation in program.eqns:
        values = _apply(equation, [read(v) for v in equation.invars], size)
        known.update(zip(equation.outvars, values, strict=True))
    return [read(v) for v in program.outvars]


def _apply(equation: Any, inputs: list[_Value], size: int) -> list[_Value]:
    name, params = equation.primitive.name, equation.params
    if name in _INLINE:
        inner = params["jaxpr"] if "jaxpr" in params else params["call_jaxpr"]
        return _run(inner.jaxpr, inner.consts, inputs, size)
    if not any(v.mapped for v in inputs):
        return [_Value(x, False) for x in _bind(equation, [v.array for v in inputs])]
    rule = _RULES.get(name)
    results = None if rule is None else rule(equation, inputs, size)
    if results is None:
        results = _moved(equation, inputs)
    return [_Value(x, True) for x in results]


def _bind(equation: Any, arrays: list[Any]) -> list[Any]:
    named = {v: x for v, x in zip(equation.invars, arrays, strict=True) if isinstance(v, core.Var)}
    alone = jax.make_jaxpr(lambda: None)().jaxpr.replace(
        invars=list(named), outvars=equation.outvars, eqns=[equation], effects=equation.effects
    )
    return core.jaxpr_as_fun(core.ClosedJaxpr(alone, ()))(*named.values())


def _moved(equation: Any, inputs: list[_Value]) -> list[Any]:
    """Return what `jax.vmap` gives: right for every primitive, with the world axis moved first and back."""
    arrays, axes = [v.array for v in inputs], [-1 if v.mapped else None for v in inputs]
    return jax.vmap(lambda *x: _bind(equation, x), in_axes=axes, out_axes=-1)(*arrays)


def _elementwise(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    shape = (*equation.outvars[0].aval.shape, size)

    def as_mapped(v: _Value) -> Array:
        x = jnp.asarray(v.array)
        return jnp.broadcast_to(x if v.mapped else x[..., None] if x.ndim else x, shape)

    return [equation.primitive.bind(*map(as_mapped, inputs), **equation.params)]


def _same(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return [equation.primitive.bind(inputs[0].array, **equation.params)]


def _broadcast(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    shape, axes = equation.params["shape"], equation.params["broadcast_dimensions"]
    return [lax.broadcast_in_dim(inputs[0].array, (*shape, size), (*axes, len(shape)))]


def _reshape(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return [lax.reshape(inputs[0].array, (*equation.params["new_sizes"], size))]


def _transpose(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    axes = equation.params["permutation"]
    return [lax.transpose(inputs[0].array, (*axes, len(axes)))]


def _concatenate(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return [lax.concatenate([_spread(v, size) for v in inputs], equation.params["dimension"])]


def _stack(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return [jnp.stack([_spread(v, size) for v in inputs], equation.params["axis"])]


def _unstack(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return jnp.unstack(inputs[0].array, axis=equation.params["axis"])


def _split(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return lax.split(inputs[0].array, equation.params["sizes"], equation.params["axis"])


def _slice(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    p = equation.params
    strides = None if p["strides"] is None else (*p["strides"], 1)
    return [lax.slice(inputs[0].array, (*p["start_indices"], 0), (*p["limit_indices"], size), strides)]


def _pad(equation: Any, inputs: list[_Value], size: int) -> list[Any] | None:
    x, fill = inputs
    return None if fill.mapped else [lax.pad(x.array, fill.array, (*equation.params["padding_config"], (0, 0, 0)))]


def _sort(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
    return equation.primitive.bind(*(_spread(v, size) for v in inputs), **equation.params)


def _gather(equation: Any, inputs: list[_Value], size: int) -> list[Any]:
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
        offset, slices = (*offset, len(equation.outvars[0].aval.shape)), (*slices, size)
    wider = lax.GatherDimensionNumbers(
        offset, numbers.collapsed_slice_dims, numbers.start_index_map, mapped_operand, mapped_index
    )
    changes = {"dimension_numbers": wider, "slice_sizes": slices}
    return [equation.primitive.bind(x.array, starts, **{**p, **changes})]


def _dot(equation: Any, inputs: list[_Value], size: int) -> list[Any] | None:
    (x, y), p = inputs, equation.params
    (cx, cy), (bx, _) = p["dimension_numbers"]
    if x.mapped and y.mapped:
        return _product_of_mapped(x.array, y.array, cx, cy, bx)
    if bx or len(cx) != 1:
        return None
    if x.mapped:
        return [_common_product(y.array, cy[0], x.array, cx[0], p)]
    if cy[0] == 0:
        return [_common_rows(x.array, cx[0], y.array, p)]
    product = _common_product(x.array, cx[0], y.array, cy[0], p)
    rows, free = x.array.ndim - 1, y.array.ndim - 2
    return [jnp.moveaxis(product, range(free, free + rows), range(rows))]


def _common_rows(common: Array, c: int, mapped: Array, p: dict[str, Any]) -> Array:
    """Return the product over axis `c` of a common array and the first of a mapped one, as one product of matrices.

    The result has the other axes of `common`, then those of `mapped`. Neither it nor its derivative moves an axis.
    """
    rows, columns = jnp.moveaxis(common, c, -1), mapped.reshape(mapped.shape[0], -1)
    product = lax.dot_general(rows, columns, (((rows.ndim - 1,), (0,)), ((), ())), **_settings(p))
    return product.reshape(*rows.shape[:-1], *mapped.shape[1:])


def _settings(p: dict[str, Any]) -> dict[str, Any]:
    return {name: p[name] for name in ("precision", "preferred_element_type")}


def _common_product(common: Array, c: int, mapped: Array, along: int, p: dict[str, Any]) -> Array:
    """Return the product over axis `c` of a common array and axis `along` of a mapped one.

    The result has the other axes of `mapped`, then those of `common`, then the worlds: one matrix product for each of
    the former, so that no axis is merged with that of the worlds.
    """
    mapped, rows = jnp.moveaxis(mapped, along, -2), jnp.moveaxis(common, c, -1)
    free = mapped.ndim - 2
    rows = jnp.broadcast_to(rows, (*mapped.shape[:free], *rows.shape))
    numbers = (((rows.ndim - 1,), (free,)), (tuple(range(free)), tuple(range(free))))
    return lax.dot_general(rows, mapped, numbers, **_settings(p))


def _product_of_mapped(x: Array, y: Array, cx, cy, bx) -> list[Any] | None:
    if len(cx) != 1 or bx or x.shape[cx[0]] > _SHORTEST_DOT:
        return None
    x, y = jnp.moveaxis(x, cx[0], 0), jnp.moveaxis(y, cy[0], 0)
    nx, ny = x.ndim - 2, y.ndim - 2
    x = x.reshape(*x.shape[:-1], *(1,) * ny, x.shape[-1])
    y = y.reshape(y.shape[0], *(1,) * nx, *y.shape[1:])
    return [sum(x[k] * y[k] for k in range(x.shape[0]))]


_RULES: dict[str, Callable[..., list[Any] | None]] = {
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
    "dot_general": _dot,
}
