"""Quotients, roots and angles as primitives of their own, because JAX's derivative of a / b may be infinite.

JAX multiplies by b^-2, which overflows float32 for |b| below 5e-20 and then makes NaN of a zero cotangent. Here the
derivative is (da - (a / b) db) / b; where b may be small the factors are computed first and limited, so that what
they multiply decides. The primitives act element by element. `safe` is how the rest of the package uses them.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.extend.core.primitives import atan2_p, div_p, sqrt_p
from jax.interpreters import ad, batching, mlir

Array = jax.Array


def steepest(dtype: np.dtype) -> float:
    """Return the bound on factors of derivatives: the root of the largest number, 1.8e19 in float32."""
    return float(np.sqrt(jnp.finfo(dtype).max))


def limited_quotient(a: Array, b: Array) -> Array:
    """Return a / b for b that is a normal number; the factors 1 / b and (a / b) / b of its derivative are limited."""
    return _limited_quotient.bind(a, b)


def quotient(a: Array, b: Array, inverse: Array | None = None) -> Array:
    """Return a / b for b whose square is a normal number, as is that of 1e-15; nothing is limited.

    a, b: one shape and dtype. inverse: 1 / b if the value is to be a * inverse, which rounds otherwise.
    """
    return _quotient.bind(a, b) if inverse is None else _scaled.bind(a, b, inverse)


def root(x: Array) -> Array:
    """Return the square root of a positive normal number, with the derivative dx / (2 root)."""
    return _root.bind(x)


def angle(y: Array, x: Array) -> Array:
    """Return the angle of the point (x, y), whose squared distance is a normal number; derivatives are limited."""
    return _angle.bind(y, x)


def _limited(factor: Array) -> Array:
    bound = np.asarray(steepest(factor.dtype), factor.dtype)
    return lax.clamp(-bound, factor, bound)


def _limited_inverse(b: Array) -> Array:
    # limited before it is multiplied: XLA makes (a / b) * (1 / b) into a / (b * b), where the square underflows
    return _limited(_limited_quotient.bind(jnp.ones_like(b), b))


def _limited_by_numerator(g: Array, value: Array, a: Array, b: Array) -> Array:
    return g * _limited_inverse(b)


def _limited_by_denominator(g: Array, value: Array, a: Array, b: Array) -> Array:
    return g * _limited(-value * _limited_inverse(b))


def _divided(x: Array, b: Array, inverse: Array | None = None) -> Array:
    # a division by b anew: 1 / b with several uses would be an array of its own, which XLA writes to memory
    return _quotient.bind(x, b) if inverse is None else x * inverse


def _jvp(primitive: Primitive, primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    value, (da, db) = primitive.bind(*primals), tangents[:2]
    if type(db) is ad.Zero and type(da) is ad.Zero:
        return value, ad.Zero(jax.typeof(value).to_tangent_aval())
    if type(db) is not ad.Zero:
        change = value * db
        da = -change if type(da) is ad.Zero else da - change
    return value, _divided(da, *primals[1:])


def _by_square(g: Array, value: Array, x: Array) -> Array:
    return g * (0.5 * _quotient.bind(jnp.ones_like(value), value))


def _by_y(g: Array, value: Array, y: Array, x: Array) -> Array:
    return g * _limited(_limited_quotient.bind(x, x * x + y * y))


def _by_x(g: Array, value: Array, y: Array, x: Array) -> Array:
    return g * _limited(-_limited_quotient.bind(y, x * x + y * y))


def _transposed(divided, ct: Array, a: Array, *below: Array) -> tuple[Array | None, ...]:
    # by the numerator alone it is linear: the tangent of a rule may go through a division
    return ct if type(ct) is ad.Zero else divided(ct, *below), *(None for _ in below)


def _batched(primitive: Primitive, args: list[Array], dims: list[int | None]) -> tuple[Array, int]:
    front = next(d for d in dims if d is not None)
    if any(d != front for d in dims):
        size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
        args, front = [batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)], 0
    return primitive.bind(*args), front


def _elementwise(name: str, like: Primitive, value) -> Primitive:
    """Return a primitive with the shapes and dtypes of one of JAX."""
    primitive = Primitive(name)
    primitive.def_impl(value)
    primitive.def_abstract_eval(lambda *x: like.abstract_eval(*x[:2])[0])
    batching.primitive_batchers[primitive] = functools.partial(_batched, primitive)
    mlir.register_lowering(primitive, mlir.lower_fun(value, multiple_results=False))
    return primitive


_limited_quotient = _elementwise("limited_quotient", div_p, lambda a, b: jnp.divide(a, b))
_quotient = _elementwise("quotient", div_p, lambda a, b: jnp.divide(a, b))
_scaled = _elementwise("scaled", div_p, lambda a, b, inverse: a * inverse)
_root = _elementwise("root", sqrt_p, lambda x: jnp.sqrt(x))
_angle = _elementwise("angle", atan2_p, lambda y, x: jnp.arctan2(y, x))
ad.defjvp2(_limited_quotient, _limited_by_numerator, _limited_by_denominator)
ad.defjvp2(_root, _by_square)
ad.defjvp2(_angle, _by_y, _by_x)
ad.primitive_transposes[_limited_quotient] = functools.partial(_transposed, lambda x, b: x * _limited_inverse(b))
for _primitive in (_quotient, _scaled):
    ad.primitive_jvps[_primitive] = functools.partial(_jvp, _primitive)
    ad.primitive_transposes[_primitive] = functools.partial(_transposed, _divided)
