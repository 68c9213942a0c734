"""Functions that see the whole batch: how a kernel escapes `vmap`, to leave a loop or choose a size once for all."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

Array = jax.Array
T = TypeVar("T")

LEAST_CAPACITY = 32
MODERATE = 256


def whole_batch(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one world that calls `kernel` once for all worlds, however often it is vmapped.

    kernel: takes the arguments with a batch axis first on every leaf; returns a pytree with the same axis first. The
    function returned is not differentiable by itself: wrap it in a `custom_jvp`.
    """

    def mapped(axes: tuple[Any, ...], *args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        flat = tree.flatten_up_to(axes)
        size = next(x.shape[0] for x, a in zip(leaves, flat, strict=True) if a == 0)
        pairs = zip(leaves, flat, strict=True)
        return kernel(*tree.unflatten([x if a == 0 else jnp.broadcast_to(x, (size, *x.shape)) for x, a in pairs]))

    return mapped_batch(mapped)


def mapped_batch(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return what `whole_batch` does, but leave without a batch axis what no `vmap` maps.

    kernel: takes `in_axes` as `jax.vmap` does (the structure of the arguments with 0 or None on each leaf), then the
    arguments.
    """

    def single(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        return _unbatched(lambda axes, flat: kernel(jax.tree.unflatten(tree, axes), *jax.tree.unflatten(tree, flat)))(
            *leaves
        )

    return single


@custom_vmap
def largest(x: Array) -> Array:
    """Return the largest x of the worlds of a batch, the same for all: what depends on it alone has no batch axis."""
    return x


@largest.def_vmap
def _largest(size: int, in_batched: list[bool], x: Array) -> tuple[Array, bool]:
    return largest(jnp.max(x, axis=0)), False


def nested_batch(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return what `mapped_batch` does, but with an axis for each `vmap`: what only some of them map is not repeated.

    A Jacobian of many worlds maps tangents by one `vmap` and worlds by another: what is the same for all tangents of a
    world is then computed once for them.

    kernel: takes `levels`, a tuple with the `in_axes` of each `vmap`, the innermost first, then the arguments, their
    axes in the opposite order. It returns a pytree with an axis of every level.
    """

    def single(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)

        def flat(levels: tuple[tuple[int | None, ...], ...], leaves: list[Array]) -> Any:
            axes = tuple(jax.tree.unflatten(tree, level) for level in levels)
            return kernel(axes, *jax.tree.unflatten(tree, leaves))

        return _nested(flat, ())(*leaves)

    return single


def _nested(kernel: Callable[..., Any], levels: tuple[tuple[int | None, ...], ...]) -> Callable[..., Any]:
    @custom_vmap
    def call(*leaves):
        if levels:
            return kernel(levels, list(leaves))
        one = ((0,) * len(leaves),)
        return jax.tree.map(lambda x: x[0], kernel(one, [x[None] for x in leaves]))

    @call.def_vmap
    def rule(size, in_batched, *leaves):
        out = _nested(kernel, (*levels, tuple(0 if b else None for b in in_batched)))(*leaves)
        return out, jax.tree.map(lambda _: True, out)

    return call


def mapped(function: Callable[..., Any], levels: tuple[Any, ...]) -> Callable[..., Any]:
    """Return `function` under a `vmap` for each of `levels`, the innermost first."""
    for axes in levels:
        function = jax.vmap(function, in_axes=axes)
    return function


def _unbatched(kernel: Callable[..., Any]) -> Callable[..., Any]:
    @custom_vmap
    def call(*leaves):
        axes = (0,) * len(leaves)
        return jax.tree.map(lambda x: x[0], kernel(axes, [x[None] for x in leaves]))

    @call.def_vmap
    def rule(size, in_batched, *leaves):
        out = _batched(kernel, tuple(0 if b else None for b in in_batched))(*leaves)
        return out, jax.tree.map(lambda _: True, out)

    return call


def _batched(kernel: Callable[..., Any], axes: tuple[int | None, ...]) -> Callable[..., Any]:
    @custom_vmap
    def call(*leaves):
        return kernel(axes, list(leaves))

    @call.def_vmap
    def rule(outer, in_batched, *leaves):
        inner = next((x.shape[1 if b else 0] for x, a, b in zip(leaves, axes, in_batched, strict=True) if a == 0), None)
        flat = [_merge(x, a, b, outer, inner) for x, a, b in zip(leaves, axes, in_batched, strict=True)]
        merged = tuple(0 if (a == 0 or b) else None for a, b in zip(axes, in_batched, strict=True))
        out = _batched(kernel, merged)(*flat)
        out = jax.tree.map(lambda x: x.reshape((outer, inner, *x.shape[1:])), out)
        return out, jax.tree.map(lambda _: True, out)

    return call


def _merge(x: Array, axis: int | None, mapped: bool, outer: int, inner: int) -> Array:
    """Return `x` with one batch axis of outer * inner, or as it is if neither maps it."""
    if axis is None and not mapped:
        return x
    if axis is None:
        x = jnp.broadcast_to(x[:, None], (outer, inner, *x.shape[1:]))
    elif not mapped:
        x = jnp.broadcast_to(x[None], (outer, *x.shape))
    return x.reshape((outer * inner, *x.shape[2:]))


def capacities(limit: int, least: int = LEAST_CAPACITY, second: int = 2) -> tuple[int, ...]:
    """Return the capacities to choose from: `least`, `second` times as many, from there on fourfold, then `limit`."""
    sizes, size = [], least
    while size * 1.5 < limit:
        sizes.append(size)
        size *= second if len(sizes) == 1 else 4
    return (*sizes, limit)


def doubled(limit: int, least: int = 4 * LEAST_CAPACITY) -> tuple[int, ...]:
    """Return the capacities `least`, twice as many and so on, then `limit`: closer ones, where rows are many."""
    sizes = []
    while least * 1.5 < limit:
        sizes.append(least)
        least *= 2
    return (*sizes, limit)


def with_capacity(sizes: tuple[int, ...], need: Array, kernel: Callable[..., Any], *args: Any) -> Any:
    """Return `kernel(size, *args)` for the least of `sizes` that is not below any world's `need`, else for the last.

    need: shape (batch,), or () where it is the same for all worlds. One world alone takes the last size, since each
    choice makes its program larger, or, where that is large, the greatest moderate one if it is enough.
    """
    if need.shape == (1,):
        moderate = [size for size in sizes if size <= MODERATE] if sizes[-1] > 4 * MODERATE else []
        sizes = (*moderate[-1:], sizes[-1])
    if len(sizes) == 1:
        return kernel(sizes[0], *args)
    index = sum((jnp.max(need, initial=0) > size).astype(jnp.int32) for size in sizes[:-1])
    return lax.switch(index, [lambda *a, size=size: kernel(size, *a) for size in sizes], *args)


def each_with_capacity(sizes: tuple[int, ...], need: Array, kernel: Callable[..., Any], *args: Any) -> Any:
    """Return what `kernel` returns for a batch, of each world with the least of `sizes` that is not below its need.

    Worlds that need more than the last take the last. One world alone takes what `with_capacity` does.

    Args:
      need: shape (batch,).
      kernel: (size, own, *args) -> pytree, batch axis first on args and result. own: bool, shape (batch,), the worlds
        whose results are taken. It is not called for a size but the first that no world takes.
    """
    if need.shape == (1,):
        return with_capacity(sizes, need, lambda size, *a: kernel(size, jnp.ones(1, bool), *a), *args)
    choice = sum(((need > size).astype(jnp.int32) for size in sizes[:-1]), jnp.zeros(need.shape, jnp.int32))
    found = kernel(sizes[0], choice == 0, *args)
    for place, size in enumerate(sizes[1:], 1):
        more = functools.partial(_with_own, functools.partial(kernel, size))
        own = choice == place
        found = lax.cond(jnp.any(own), more, lambda own, found, *args: found, own, found, *args)
    return found


def _with_own(kernel: Callable[..., Any], own: Array, found: Any, *args: Any) -> Any:
    """Return what was found, with what `kernel` finds for a batch's own worlds."""
    return of_worlds(own, kernel(own, *args), found)


def of_worlds(where: Array, a: T, b: T) -> T:
    """Return a of the worlds where a flag is set, b of the rest; where: shape (batch,), as the first axis of both."""
    return jax.tree.map(lambda x, y: jnp.where(where.reshape(where.shape + (1,) * (x.ndim - 1)), x, y), a, b)
