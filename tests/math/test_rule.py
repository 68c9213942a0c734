"""Functions with a rule: it is the derivative to any order in any transformation, also where JAX drops its own."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.interpreters import partial_eval

from mjx_like.math.rule import Call, call_with_rule, custom_jvp

X = jnp.array(0.05)


def found(x):
    """Return x + sin x through a loop that hides how it depends on x."""
    return lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, lax.stop_gradient(x + jnp.sin(x))), (0, 0 * x))[1]


@custom_jvp
def ruled(x):
    """Return x + sin x."""
    return found(x)


@ruled.defjvp
def _rule(primals, tangents):
    y = ruled(*primals)
    return y, tangents[0] * (1 + jnp.sqrt(1 - (y - primals[0]) ** 2))


def known(x):
    return x + jnp.sin(x)


def scanned(f, x):
    return lax.scan(lambda c, _: (1.01 * f(c), None), x, None, 4)[0]


def kept(f, x):
    return lax.scan(jax.checkpoint(lambda c, _: (1.01 * f(c), None)), x, None, 4)[0]


def chosen(f, x):
    return lax.cond(x > 0, lambda x: f(f(x)), lambda x: x, x)


def mapped(f, x):
    return jnp.sum(jax.vmap(jax.vmap(lambda a: f(a * x)))(jnp.arange(6.0).reshape(2, 3)))


def compiled(f, x):
    return jax.jit(lambda x: f(f(x)))(x)


PROGRAMS = (scanned, kept, chosen, mapped, compiled)
ORDERS = {
    "reverse": (jax.grad,),
    "forward over reverse": (jax.grad, jax.jacfwd),
    "reverse over reverse": (jax.grad, jax.grad),
    "third": (jax.grad, jax.jacfwd, jax.jacfwd),
}


@pytest.mark.parametrize("order", ORDERS)
def test_derivatives_of_every_order(order):
    for program in PROGRAMS:
        got, want = (
            functools.reduce(lambda g, d: d(g), ORDERS[order], functools.partial(program, f))(X) for f in (ruled, known)
        )
        np.testing.assert_allclose(got, want, rtol=1e-9, err_msg=program.__name__)


@pytest.mark.skipif(jax.__version_info__ >= (0, 12), reason="JAX 0.12 keeps it")
def test_jax_forgets_its_own_rule_in_a_scan():
    """When this fails, `jax.custom_jvp` will do."""
    own = jax.custom_jvp(found)

    @own.defjvp
    def rule(primals, tangents):
        y = own(*primals)
        return y, tangents[0] * (1 + jnp.sqrt(1 - (y - primals[0]) ** 2))

    got, want = (jax.jacfwd(jax.grad(functools.partial(scanned, f)))(X) for f in (own, known))
    assert abs(got - want) > 0.1 * abs(want)


def test_a_batch_equals_a_loop():
    xs = jnp.linspace(0.1, 0.9, 5)
    slope = jax.jit(jax.vmap(jax.grad(ruled)))
    np.testing.assert_allclose(slope(xs), [jax.grad(known)(x) for x in xs], rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(ruled, 1)(xs[None]), jax.vmap(ruled)(xs[:, None]))


def test_pytrees_integers_and_arguments_that_are_held():
    seen = []

    @functools.partial(custom_jvp, nondiff_argnums=(0,))
    def f(power, x, count):
        return {"value": x["a"] ** power + x["b"], "count": count + 1}

    @functools.partial(f.defjvp, symbolic_zeros=True)
    def rule(power, primals, tangents):
        (x, _), rates = primals, tangents[0]
        seen.append({k: type(t) is SymbolicZero for k, t in rates.items()})
        out = f(power, *primals)
        zero = np.zeros((), jax.dtypes.float0)
        return out, {"value": power * x["a"] ** (power - 1) * rates["a"], "count": zero}

    def total(a):
        out = f(3, {"a": a, "b": jnp.ones(2)}, jnp.int32(4))
        return jnp.sum(out["value"]) * out["count"]

    np.testing.assert_allclose(jax.jit(jax.grad(total))(jnp.array([1.0, 2.0])), [15, 60])
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(total)))(jnp.array([[1.0, 2.0]])), [[15, 60]])
    assert seen and all(s == {"a": False, "b": True} for s in seen)
    assert jax.tree.structure(f(2, {"a": 1.0, "b": 2.0}, 3)) == jax.tree.structure({"value": 0, "count": 0})


def test_traced_arrays_from_outside_raise():
    @jax.jit
    def run(x):
        @custom_jvp
        def shifted(y):
            return x + y

        return shifted(1.0)

    with pytest.raises(TypeError, match="shifted refers to traced arrays: make them arguments"):
        run(X)


def test_without_a_rule():
    def bare(x):
        return x

    with pytest.raises(AssertionError, match="bare has no rule"):
        jax.grad(custom_jvp(bare))(X)


def called(own: bool):
    """Return a function of two numbers with two results, as a call whose rule is that of the function or of others."""

    def flat(x, y):
        return [jnp.sin(x), jnp.cos(y)]

    def rule(values, rates):
        zero = [jnp.zeros_like(x) if t is None else t for x, t in zip(values, rates, strict=True)]
        return tuple(map(list, jax.jvp(flat, values, zero)))

    return lambda x, y: call_with_rule.bind(x, y, call=Call(flat, rule, "called", own))


@pytest.mark.parametrize("own", [True, False])
def test_what_nobody_reads_is_dropped_where_the_rule_does_not_need_it(own):
    def first(x, y):
        return lax.scan(lambda c, _: (called(own)(c, jnp.tanh(y))[0], None), x, None, 3)[0]

    assert ("cosine" in jax.jit(first).lower(X, X).as_text()) is not own
    assert ("tanh" in jax.jit(first).lower(X, X).as_text()) is not own
    slopes = jax.jit(jax.grad(first, argnums=(0, 1)))(X, X)
    want = jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(x))))(X)
    np.testing.assert_allclose(slopes, (want, 0), atol=1e-15)


def test_a_call_that_was_reduced_keeps_its_derivative():
    jaxpr = jax.make_jaxpr(lambda x, y: called(True)(x, y))(X, X)
    reduced, kept = partial_eval.dce_jaxpr(jaxpr.jaxpr, [True, False])
    assert kept == [True, False]
    slope = jax.grad(lambda x: jax.core.eval_jaxpr(reduced, (), x)[0])(X)
    np.testing.assert_allclose(slope, jnp.cos(X), atol=1e-15)
