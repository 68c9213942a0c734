"""Second derivatives through several steps in contact, in a scan: equal differences of the gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.support.oracle import error

XML = """<mujoco><option timestep="0.01" integrator="implicitfast" cone="elliptic"/><worldbody>
  <geom type="plane" size="9 9 .1" friction="0.4 0.01 0.001"/>
  <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="1" friction="0.4 .01 .001"/></body>
</worldbody></mujoco>"""


@pytest.mark.slow
def test_a_ball_at_rest():
    """The search starts at its end there: nothing is to be seen of contact in what its iterations do."""
    m = mjx.Model.from_xml_string(XML)
    start = mjx.make_data(m).replace(qpos=jnp.array([0, -1e-3]))
    d = jax.jit(lambda d: jax.lax.fori_loop(0, 400, lambda _, d: mjx.step(m, d), d))(start)
    assert int(d.ncon) == 1 and np.abs(d.qvel).max() < 1e-9

    def cost(v):
        end, _ = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d.replace(qvel=v), None, 8)
        return 1e3 * jnp.sum(end.qpos**2) + jnp.sum(end.qvel**2)

    slope = jax.jit(jax.grad(cost))
    product = jax.jit(lambda v, w: jax.jvp(jax.grad(cost), (v,), (w,))[1])
    v, w, eps = jnp.zeros(2), jnp.array([1.0, -0.5]), 1e-6
    expected = (slope(v + eps * w) - slope(v - eps * w)) / (2 * eps)
    assert np.abs(expected).min() > 1e-6
    assert error(product(v, w), expected) < 1e-5
