"""Quotients and roots as primitives of their own, because JAX's derivative of a / b is not finite wherever a / b is.

JAX multiplies by b^-2, which overflows float32 for |b| below 5e-20 and then makes NaN of a zero cotangent. Here the
factors of a derivative, 1 / b and (a / b) / b, are computed first and limited, so that what they multiply decides.
The primitives act element by element. `safe` is how the rest of the package uses them.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.extend.core.primitives import div_p, sqrt_p
from jax.interpreters import ad, batching, mlir

Array = jax.Array


def steepest(dtype: np.dtype) -> float:
    """Return the bound on factors of derivatives: the root of the largest number, 1.8e19 in float32."""
    return float(np.sqrt(jnp.finfo(dtype).max))


def quotient(a: Array, b: Array, inverse: Array | None = None) -> Array:
    """Return a / b for b that is a normal number, with the derivative (da - (a / b) db) / b, its factors limited.

    a, b: one shape and dtype. inverse: 1 / b if the value is to be a * inverse, which rounds otherwise.
    """
    if inverse is None:
        return _quotient.bind(a, b)
    return _scaled.bind(a, b, inverse)


def root(x: Array) -> Array:
    """Return the square root of a positive normal number, with the derivative dx / (2 root), its factor limited."""
    return _root.bind(x)


def _limited_inverse(b: Array, inverse: Array | None = None) -> Array:
    # limited before it is multiplied: XLA makes (a / b) * (1 / b) into a / (b * b), where the square underflows
    return _limited(_quotient.bind(jnp.ones_like(b), b) if inverse is None else inverse)


def _limited(factor: Array) -> Array:
    bound = np.asarray(steepest(factor.dtype), factor.dtype)
    return lax.clamp(-bound, factor, bound)


def _by_numerator(g: Array, value: Array, a: Array, b: Array, *inverse: Array) -> Array:
    return g * _limited_inverse(b, *inverse)


def _by_denominator(g: Array, value: Array, a: Array, b: Array, *inverse: Array) -> Array:
    return g * _limited(-value * _limited_inverse(b, *inverse))


def _by_square(g: Array, value: Array, x: Array) -> Array:
    return g * (0.5 * _limited_inverse(value))


def _transposed(ct: Array, a: Array, b: Array, *inverse: Array) -> tuple[Array | None, ...]:
    # by the numerator alone it is linear: the tangent of a rule may go through a division
    return ct if type(ct) is ad.Zero else ct * _limited_inverse(b, *inverse), None, *(None for _ in inverse)


def _batched(primitive: Primitive, args: list[Array], dims: list[int | None]) -> tuple[Array, int]:
    front = next(d for d in dims if d is not None)
    if any(d != front for d in dims):
        size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
        args, front = [batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)], 0
    return primitive.bind(*args), front


def _elementwise(name: str, like: Primitive, value, *slopes) -> Primitive:
    """Return a primitive with the shapes and dtypes of one of JAX, and with a slope by each argument that has one."""
    primitive = Primitive(name)
    primitive.def_impl(value)
    primitive.def_abstract_eval(lambda *x: like.abstract_eval(*x[:2])[0])
    batching.primitive_batchers[primitive] = functools.partial(_batched, primitive)
    mlir.register_lowering(primitive, mlir.lower_fun(value, multiple_results=False))
    ad.defjvp2(primitive, *slopes)
    return primitive


_quotient = _elementwise("quotient", div_p, lambda a, b: jnp.divide(a, b), _by_numerator, _by_denominator)
_scaled = _elementwise("scaled", div_p, lambda a, b, inverse: a * inverse, _by_numerator, _by_denominator, None)
_root = _elementwise("root", sqrt_p, lambda x: jnp.sqrt(x), _by_square)
ad.primitive_transposes[_quotient] = ad.primitive_transposes[_scaled] = _transposed
