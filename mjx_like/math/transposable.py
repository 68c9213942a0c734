"""Linear functions with a transpose of their own: `linear`.

JAX's transpose of a gather adds to memory at indices that may repeat; on a GPU each such sum is a loop that waits for
the others. A function made here says what its transpose is, and keeps it in every transformation.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Array = jax.Array
Function = Callable[..., Any]
_Shapes = tuple[jax.ShapeDtypeStruct, ...]


class _Linear(NamedTuple):
    """A function of flat arguments, linear in the last of them, and its transpose: the same of cotangents.

    exact: the same function as JAX differentiates it by the other arguments; given, out: shapes of what the function
    is linear in and of its results.
    """

    function: Function
    transpose: Function
    exact: Function
    given: _Shapes
    out: _Shapes

    def turned(self) -> "_Linear":
        def exact(*args: Array) -> list[Array]:
            fixed, ct = self.parted(args, len(self.out))
            return list(jax.linear_transpose(functools.partial(self.exact, *fixed), *self.given)(ct))

        return _Linear(self.transpose, self.function, exact, self.out, self.given)

    def parted(self, args: Any, count: int | None = None) -> tuple[list[Any], list[Any]]:
        """Return the fixed arguments and those, `count` of them, that the function is linear in."""
        start = len(args) - (len(self.given) if count is None else count)
        return list(args[:start]), list(args[start:])


def linear(
    function: Function, transpose: Function, fixed: tuple[Any, ...], x: Any, exact: Function | None = None
) -> Any:
    """Return function(*fixed, x), which is linear in x; transpose(*fixed, ct) is what it makes of a cotangent.

    `fixed`, x and the result are pytrees; x and the result hold floating-point arrays alone. None of the functions may
    refer to traced arrays other than its arguments.

    exact: the same function as JAX differentiates it by `fixed`, where it can have a derivative; else `function`.
    """
    exact = function if exact is None else exact
    leaves, tree = jax.tree.flatten(x)
    others, fixed_tree = jax.tree.flatten(fixed)
    shapes, out_tree = jax.tree.flatten(jax.eval_shape(exact, *fixed, x))

    def flat(f: Function, last: Any) -> Function:
        def call(*args: Array) -> list[Array]:
            own = fixed_tree.unflatten(args[: len(others)])
            return jax.tree.leaves(f(*own, last.unflatten(args[len(others) :])))

        return call

    given, out = (tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in own) for own in (leaves, shapes))
    call = _Linear(flat(function, tree), flat(transpose, out_tree), flat(exact, tree), given, out)
    return out_tree.unflatten(_linear.bind(*others, *leaves, call=call))


def _run(*args: Array, call: _Linear) -> list[Array]:
    return call.function(*args)


def _shapes(*avals: Any, call: _Linear) -> list[Any]:
    return [jax.core.ShapedArray(a.shape, a.dtype) for a in call.out]


def _jvp(primals: list[Array], tangents: list[Any], *, call: _Linear) -> tuple[list[Array], list[Any]]:
    out = _linear.bind(*primals, call=call)
    fixed, x = call.parted(primals)
    dfixed, dx = call.parted(tangents)
    moving = [i for i, t in enumerate(dfixed) if type(t) is not ad.Zero]
    change = [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in out]
    if any(type(t) is not ad.Zero for t in dx):
        change = _linear.bind(*fixed, *map(ad.instantiate_zeros, dx), call=call)
    if moving:

        def by_fixed(*values: Array) -> list[Array]:
            own = dict(zip(moving, values, strict=True))
            return call.exact(*(own.get(i, a) for i, a in enumerate(fixed)), *x)

        more = jax.jvp(by_fixed, [fixed[i] for i in moving], [dfixed[i] for i in moving])[1]
        change = [ad.add_tangents(a, b) for a, b in zip(change, more, strict=True)]
    return out, change


def _transposed(cts: list[Any], *args: Any, call: _Linear) -> list[Any]:
    fixed, x = call.parted(args)
    none = [None] * len(fixed)
    if all(type(ct) is ad.Zero for ct in cts):
        return [*none, *(ad.Zero(a.aval) if ad.is_undefined_primal(a) else None for a in x)]
    found = _linear.bind(*fixed, *map(ad.instantiate_zeros, cts), call=call.turned())
    return [*none, *(ct if ad.is_undefined_primal(a) else None for a, ct in zip(x, found, strict=True))]


def _batched(args: list[Array], axes: list[int | None], *, call: _Linear) -> tuple[list[Array], list[int]]:
    size = next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)
    fixed, x = call.parted(args)
    fixed_axes, x_axes = call.parted(axes)
    # the transpose needs an axis of its own for each member of the batch
    x = [jnp.broadcast_to(y, (size, *y.shape)) if a is None else jnp.moveaxis(y, a, 0)
         for y, a in zip(x, x_axes, strict=True)]  # fmt: skip
    given, out = (tuple(jax.ShapeDtypeStruct((size, *a.shape), a.dtype) for a in own) for own in (call.given, call.out))
    function, exact = (jax.vmap(f, (*fixed_axes, *[0] * len(given))) for f in (call.function, call.exact))
    transpose = jax.vmap(call.transpose, (*fixed_axes, *[0] * len(out)))
    return _linear.bind(*fixed, *x, call=_Linear(function, transpose, exact, given, out)), [0] * len(out)


_linear = Primitive("linear_with_transpose")
_linear.multiple_results = True
_linear.def_impl(_run)
_linear.def_abstract_eval(_shapes)
ad.primitive_jvps[_linear] = _jvp
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
mlir.register_lowering(_linear, mlir.lower_fun(_run, multiple_results=True))
