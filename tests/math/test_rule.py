"""Functions with a rule: it is the derivative to any order in any transformation, also where JAX drops its own."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.custom_derivatives import SymbolicZero

from mjx_like.math.rule import custom_jvp

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
