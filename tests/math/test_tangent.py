"""Derivatives by what changes alone: equal to the whole ones, and without code for what does not change."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.tangent import changing, rate, still


def product(x):
    return x["a"] * jnp.sin(x["b"]) + x["c"]


@jax.custom_jvp
def ruled(x):
    return product(x)


@functools.partial(ruled.defjvp, symbolic_zeros=True)
def _ruled_jvp(primals, tangents):
    return ruled(*primals), rate(product, primals[0], tangents[0])


POINT = {"a": jnp.array([2.0, 3.0]), "b": jnp.array([0.3, 0.4]), "c": jnp.array([1.0, -1.0])}


def test_rates_equal_those_of_the_function():
    for names in (("a",), ("b", "c"), ("a", "b", "c")):
        own = {name: POINT[name] for name in names}
        got, want = (jax.jacrev(lambda v, f=f: f(POINT | v))(own) for f in (ruled, product))
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-15), got, want)


def test_what_does_not_change_has_no_code():
    def text(*names):
        def total(v):
            return jnp.sum(ruled(POINT | v))

        return jax.jit(jax.grad(total)).lower({name: POINT[name] for name in names}).as_text()

    assert "cosine" in text("b") and "cosine" not in text("c")


def test_nothing_changes():
    out, move = jax.jvp(lambda y: (ruled(POINT), y), (1.0,), (1.0,))
    assert out[0].shape == (2,) and not np.any(move[0]) and move[1] == 1


def test_leaves_that_change_are_put_back_in_their_place():
    seen = []

    @jax.custom_jvp
    def f(x):
        return x["a"] + x["c"]

    @functools.partial(f.defjvp, symbolic_zeros=True)
    def rule(primals, tangents):
        values, rates, with_others = changing(primals[0], tangents[0])
        seen.append((len(values), len(rates), with_others(["new"])["c"], with_others(["new"])["a"] is primals[0]["a"]))
        return f(*primals), rates[0]

    jax.jvp(lambda c: f(POINT | {"c": c}), (POINT["c"],), (jnp.ones(2),))
    assert seen == [(1, 1, "new", True)]


def test_tangents_of_what_is_held():
    assert still(jnp.ones(2)).dtype == jnp.ones(2).dtype and still(jnp.arange(2)).dtype == jax.dtypes.float0
