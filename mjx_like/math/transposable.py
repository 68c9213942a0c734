"""Linear functions with a transpose of their own: `linear`.

JAX's transpose of a gather adds to memory at indices that may repeat; on a GPU each such sum is a loop that waits for
the others. A function made here says what its transpose is, and keeps it in every transformation.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Array = jax.Array
Function = Callable[..., Array]


class _Pair(NamedTuple):
    """A function linear in its last argument, and its transpose: the same of a cotangent."""

    function: Function
    transpose: Function

    def turned(self) -> "_Pair":
        return _Pair(self.transpose, self.function)


def linear(
    function: Callable[..., Array], transpose: Callable[..., Array], fixed: tuple[Array, ...], x: Array
) -> Array:
    """Return function(*fixed, x), which is linear in x; transpose(*fixed, ct) is what it makes of a cotangent.

    Neither may refer to traced arrays other than its arguments. `fixed` has no derivative.
    """
    return _linear.bind(*fixed, x, pair=_Pair(function, transpose))


def _run(*args: Array, pair: _Pair) -> Array:
    return pair.function(*args)


def _shape(*avals: Any, pair: _Pair) -> Any:
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
    out = jax.eval_shape(pair.function, *shapes)
    return jax.core.ShapedArray(out.shape, out.dtype)


def _jvp(primals: list[Array], tangents: list[Any], *, pair: _Pair) -> tuple[Array, Any]:
    out = _linear.bind(*primals, pair=pair)
    if type(tangents[-1]) is ad.Zero:
        return out, ad.Zero(jax.typeof(out).to_tangent_aval())
    return out, _linear.bind(*primals[:-1], tangents[-1], pair=pair)


def _transposed(ct: Any, *args: Any, pair: _Pair) -> list[Any]:
    fixed = args[:-1]
    none = [None] * len(fixed)
    return [*none, ct if type(ct) is ad.Zero else _linear.bind(*fixed, ct, pair=pair.turned())]


def _batched(args: list[Array], axes: list[int | None], *, pair: _Pair) -> tuple[Array, int]:
    fixed = axes[:-1]
    if axes[-1] is None:  # the transpose needs an axis of its own for each member of the batch
        size = next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)
        args = [*args[:-1], jnp.broadcast_to(args[-1], (size, *args[-1].shape))]
    else:
        args = [*args[:-1], jnp.moveaxis(args[-1], axes[-1], 0)]
    both = (*fixed, 0)
    mapped = _Pair(jax.vmap(pair.function, both), jax.vmap(pair.transpose, both))
    return _linear.bind(*args, pair=mapped), 0


_linear = Primitive("linear_with_transpose")
_linear.def_impl(_run)
_linear.def_abstract_eval(_shape)
ad.primitive_jvps[_linear] = _jvp
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
mlir.register_lowering(_linear, mlir.lower_fun(_run, multiple_results=False))
