"""Searches in lanes find for each world what it finds alone; elimination with pivots solves what LAPACK solves.

XLA would end the process where it does not take a kernel, so each compiles in a process of its own, but for those of
`tests/hard/test_search.py`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest
from jax import lax

from mjx_like.math.lanes import LANES, in_lanes
from mjx_like.math.one_kernel import TESTED
from mjx_like.math.pivots import solve
from tests.support.processes import succeeds

needs_kernels = pytest.mark.skipif(jaxlib.__version__ not in TESTED, reason="releases of jaxlib that are tested")


class Found(NamedTuple):
    """Roots, how many steps they took, and a field without entries."""

    x: Any
    steps: Any
    nothing: Any


def roots(square: Any, nothing: Any) -> Found:
    """Return the roots of a world by Newton's method, with products, sums, a choice and a loop of each kind."""

    def left(x: Any) -> Any:
        return jnp.max(jnp.abs(x * x / square - 1)) + jnp.sum(nothing)

    def step(s: tuple[Any, Any]) -> tuple[Any, Any]:
        x, steps = s
        power = lax.fori_loop(0, 2, lambda k, z: z * x, jnp.ones_like(x))
        x = jnp.eye(x.size, dtype=x.dtype)[::-1] @ (x - (power - square) / (2 * x))
        return lax.cond(steps > 2, lambda: x[::-1], lambda: x[::-1] * 1.01), steps + 1

    x, steps = lax.while_loop(lambda s: (left(s[0]) > 1e-5) & (s[1] < 40), step, (jnp.ones_like(square), jnp.int32(0)))
    return Found(x, steps, nothing)


def problems(worlds: int) -> tuple[jax.Array, jax.Array]:
    """Return what to take the roots of, from 0.5 to 1e5, and arrays without entries."""
    square = np.random.default_rng(0).uniform(0.5, 1, (worlds, 5)) * 10 ** np.linspace(0, 5, worlds)[:, None]
    return jnp.asarray(square, jnp.float32), jnp.zeros((worlds, 0), jnp.float32)


@needs_kernels
@pytest.mark.parametrize("worlds", [LANES, LANES + 9, 40])
def test_each_world_finds_what_it_finds_alone(worlds):
    code = f"""
import jax, numpy as np
from mjx_like.math.lanes import in_lanes
from tests.math.test_lanes import problems, roots
found = jax.jit(lambda *x: in_lanes(roots, *x))(*problems({worlds}))
alone = jax.jit(jax.vmap(roots))(*problems({worlds}))
for a, b in zip(found, alone, strict=True):
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-6)
np.testing.assert_allclose(found.x**2, problems({worlds})[0], rtol=1e-5)
assert len(set(np.asarray(found.steps))) > 5
print("equal")
"""
    assert "equal" in succeeds(code)


@needs_kernels
def test_few_worlds_and_what_is_no_kernel_are_left_to_others(monkeypatch):
    assert in_lanes(lambda x, _: jnp.sort(x), *problems(LANES)) is None
    assert in_lanes(roots, *problems(8)) is None
    monkeypatch.setattr("mjx_like.math.lanes.on_cpu", lambda: False)
    assert in_lanes(roots, *problems(LANES)) is None


@pytest.mark.parametrize("n", [1, 2, 9])
def test_elimination_takes_the_largest_pivots(n):
    rng = np.random.default_rng(n)
    a = jnp.asarray(rng.normal(size=(20, n, n)))
    a = a.at[:, 0, 0].set(0.0) if n > 1 else a
    b = jnp.asarray(rng.normal(size=(20, n)))
    x = jax.jit(jax.vmap(solve))(a, b)
    np.testing.assert_allclose(jnp.einsum("bij,bj->bi", a, x), b, atol=1e-11)


def test_elimination_keeps_the_digits_of_a_stiff_system():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3, 9))
    a = np.eye(9) + np.einsum("bki,bkj->bij", rows, rows * 10 ** rng.uniform(3, 7, (200, 3, 1)))
    b = rng.normal(size=(200, 9))
    a, b = a.astype(np.float32), b.astype(np.float32)
    x = np.asarray(jax.jit(jax.vmap(solve))(a, b))
    left = np.abs(np.einsum("bij,bj->bi", a.astype(float), x.astype(float)) - b)
    assert np.max(left / np.einsum("bij,bj->bi", np.abs(a), np.abs(x))) < 30 * np.finfo(np.float32).eps
