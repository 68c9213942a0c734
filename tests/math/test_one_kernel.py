"""Functions of one kernel give what they give otherwise, and what cannot be one kernel compiles as ever.

XLA would end the process where it does not take a call, so each compiles in a process of its own.
"""

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest
from jax import lax

from mjx_like.math.one_kernel import TESTED, one_kernel
from tests.support.processes import succeeds

X = jnp.linspace(0.1, 1.2, 12).reshape(3, 4)
CALL = "xla_cpu_small_call"


def looped(x):
    """Return sums that a loop, a choice and a table lead to."""
    table = np.arange(8.0)

    def body(s):
        step, y = s
        y = lax.cond(y[0] > 1, lambda y: y / 2, lambda y: y + jnp.sin(x[:, 0]) * jnp.asarray(table, x.dtype)[step], y)
        return step + 1, y

    return lax.while_loop(lambda s: (s[0] < 7) & (jnp.sum(s[1]) < 9), body, (0, jnp.sum(x, axis=1)))[1]


PLAIN = {
    "sort": lambda x: jnp.sort(x, axis=1),
    "scatter": lambda x: x.at[jnp.argmax(x, axis=1), 0].add(1.0),
    "dot": lambda x: x @ x.T,
    "library": lambda x: jnp.linalg.cholesky(x @ x.T + 9 * jnp.eye(3)),
    "large constant": lambda x: x + jnp.sum(jnp.asarray(np.arange(20_000.0), x.dtype)),
}


def is_one(function, *args):
    return CALL in jax.jit(function).lower(*args).as_text()


@pytest.mark.skipif(jaxlib.__version__ not in TESTED, reason="one kernel only in releases of jaxlib that are tested")
def test_loops_and_choices_are_one_kernel_with_the_same_result():
    assert is_one(one_kernel(looped), X) and not is_one(looped, X)
    code = """
import jax, numpy as np
from mjx_like.math.one_kernel import one_kernel
from tests.math.test_one_kernel import X, looped
program = jax.jit(one_kernel(looped)).lower(X).compile()
assert sum("inlineable" in line and " call(" in line for line in program.as_text().splitlines()) == 1
np.testing.assert_allclose(program(X), looped(X), rtol=1e-6)
print("equal")
"""
    assert "equal" in succeeds(code)


def test_arguments_that_nothing_reads_and_constants_do_not_end_the_process():
    code = """
import jax, jax.numpy as jnp, numpy as np
from mjx_like.math.one_kernel import one_kernel
from tests.math.test_one_kernel import X, looped
fixed = jnp.asarray(np.arange(2000.0), X.dtype)
function = one_kernel(lambda x, y, z: (looped(x), 0 * z + 1, fixed[: x.size] + y))
given = jax.jit(lambda x: function(x, 2.0, jnp.arange(3)))
for mine, other in zip(given(X), (looped(X), jnp.ones(3), fixed[: X.size] + 2), strict=True):
    np.testing.assert_allclose(mine, other, rtol=1e-6)
print("equal")
"""
    assert "equal" in succeeds(code)


@pytest.mark.parametrize("name", PLAIN)
def test_what_cannot_be_one_kernel_compiles_as_ever(name):
    function = PLAIN[name]
    assert not is_one(one_kernel(function), X)
    np.testing.assert_array_equal(one_kernel(function)(X), function(X))


@pytest.mark.skipif(jaxlib.__version__ not in TESTED, reason="one kernel only in releases of jaxlib that are tested")
def test_arguments_can_be_large_and_constant():
    code = """
import jax, jax.numpy as jnp, numpy as np
from mjx_like.math.one_kernel import one_kernel
from tests.math.test_one_kernel import is_one
large = jnp.asarray(np.arange(60_000.0).reshape(300, 200) % 7, jnp.float32)
function = one_kernel(lambda a, b: jnp.sum(a * b[:, None], axis=0))
assert is_one(lambda b: function(large, b), jnp.ones(300))
np.testing.assert_allclose(jax.jit(lambda b: function(large, b))(jnp.ones(300)), large.sum(axis=0), rtol=1e-6)
print("equal")
"""
    assert "equal" in succeeds(code)


def test_batches_and_derivatives_are_those_of_the_function():
    batch = jnp.stack([X, 2 * X, 0.5 * X])
    np.testing.assert_allclose(jax.vmap(one_kernel(looped))(batch), jax.vmap(looped)(batch), rtol=1e-6)
    assert not is_one(jax.vmap(one_kernel(looped)), batch)
    mine, other = (jax.jvp(f, (X,), (jnp.cos(X),)) for f in (one_kernel(looped), looped))
    np.testing.assert_allclose(mine[1], other[1], rtol=1e-6)
    slope = jax.grad(lambda x: jnp.sum(one_kernel(jnp.sin)(x)))(X)
    np.testing.assert_allclose(slope, jnp.cos(X), rtol=1e-6)


def test_releases_that_are_not_tested_compile_as_ever(monkeypatch):
    monkeypatch.setattr("mjx_like.math.one_kernel.jaxlib.__version__", "0.99.0")
    assert not is_one(one_kernel(looped), X)
    np.testing.assert_allclose(one_kernel(looped)(X), looped(X), rtol=1e-6)
