"""Products of matrices of many worlds, whose arrays have the axis of the worlds last: rules of `world_last`."""

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array

_LONGEST_SUM = 16  # contractions of two mapped arrays up to this length are sums of products


class Operand(Protocol):
    """An array, and whether its last axis is that of the worlds."""

    array: Any
    mapped: bool


def common_product(x: Operand, y: Operand, p: dict[str, Any]) -> list[Any] | None:
    """Return the product of a mapped array and a common one, None where it is none over one axis."""
    (cx, cy), (bx, _) = p["dimension_numbers"]
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


def product_of_mapped(x: Operand, y: Operand, p: dict[str, Any]) -> list[Any] | None:
    """Return the product of two mapped arrays over a short axis, None where it is another."""
    (cx, cy), (bx, _) = p["dimension_numbers"]
    if len(cx) != 1 or bx or x.array.shape[cx[0]] > _LONGEST_SUM:
        return None
    x, y = jnp.moveaxis(x.array, cx[0], 0), jnp.moveaxis(y.array, cy[0], 0)
    nx, ny = x.ndim - 2, y.ndim - 2
    x = x.reshape(*x.shape[:-1], *(1,) * ny, x.shape[-1])
    y = y.reshape(y.shape[0], *(1,) * nx, *y.shape[1:])
    return [sum(x[k] * y[k] for k in range(x.shape[0]))]
