"""No derivative divides by a power of what a division had below it: every division that is differentiated is `safe`.

JAX's own rule for a / b multiplies by b^-2, which overflows float32 where a / b does not. A trace of the gradient shows
it, whatever the state: nothing is compiled or run.
"""

import jax
import jax.numpy as jnp
import pytest

from mjx_like.compiler.load import from_xml_path
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.models import FEATURES, MAIN

QUICK = {"condim3_elliptic", "muscle", "wrap_sphere", "equality_weld", "fluid_ellipsoid", "sensor_frame"}
FILES = [*MAIN, *FEATURES]


def trace(file):
    """Return the program of the gradient of a step by every float of the model and of the state."""
    m = from_xml_path(str(file))
    leaves, tree = jax.tree.flatten((m, make_data(m)))
    floats = [i for i, x in enumerate(leaves) if jnp.issubdtype(x.dtype, jnp.floating)]

    def loss(values):
        given = dict(zip(floats, values, strict=True))
        end = step(*jax.tree.unflatten(tree, [given.get(i, x) for i, x in enumerate(leaves)]))
        return sum(jnp.sum(x) for x in jax.tree.leaves(end) if jnp.issubdtype(x.dtype, jnp.floating))

    return jax.make_jaxpr(jax.grad(loss))([leaves[i] for i in floats]).jaxpr


def equations(program):
    """Yield all equations of a program and of those within it."""
    for equation in program.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def site(equation):
    """Return the line of the package that an equation comes from."""
    lines = str(equation.source_info.traceback).splitlines()
    return next((line.strip() for line in lines if "/mjx_like/" in line and "/tests/" not in line), "unknown")


@pytest.mark.parametrize(
    "file", [pytest.param(f, id=f.stem, marks=() if f.stem in QUICK else pytest.mark.slow) for f in FILES]
)
def test_no_derivative_has_the_inverse_square_of_a_divisor(file):
    powers = (e for e in equations(trace(file)) if e.primitive.name == "integer_pow" and e.params["y"] < 0)
    assert not {site(e) for e in powers}


def test_a_division_that_is_not_safe_is_found():
    program = jax.make_jaxpr(jax.grad(lambda x: 1.0 / x))(2.0).jaxpr
    assert [e.params["y"] for e in equations(program) if e.primitive.name == "integer_pow"] == [-2]
