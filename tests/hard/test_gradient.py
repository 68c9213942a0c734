"""Derivatives of steps with hard contact: forward, reverse and second order against differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import model, state

XML = """<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody>
  <geom type="plane" size="9 9 .1" friction="0.4 0.01 0.001"/>
  <body pos="0 0 0.1"><freejoint/><geom type="sphere" size=".1" mass="1" condim="3" friction="0.4 .01 .001"/></body>
  <body pos="0.5 0 1"><joint axis="0 1 0" range="-30 20" limited="true" frictionloss="0.3"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>"""

SLIDER = """<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody>
  <geom type="plane" size="9 9 .1" friction="0.4 0.01 0.001"/>
  <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="1" friction="0.4 .01 .001"/></body>
</worldbody></mujoco>"""

# z less the radius, velocities: at rest, stuck, slipping, about to touch, just apart, lifting off, at zero slip
STATES = {
    "rest": (1e-3, (0, 0, 0)),
    "stuck": (1e-3, (1e-3, 0, 0)),
    "slipping": (1e-3, (1.0, 0.3, 0)),
    "touching": (0.02, (0.5, 0, -2.0)),
    "apart": (0.1, (0.5, 0, -1.0)),
    "lifting": (1e-3, (0.5, 0, 1.0)),
    "inside": (-1e-2, (0.5, 0.2, 0)),
}


@pytest.fixture(scope="module")
def m():
    return model(1e-3, XML)


@pytest.fixture(scope="module")
def derivatives(m):
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[7].set(0.3), qvel=d.qvel.at[6].set(0.5))

    def after(x):
        """State after a step from a change of velocity, 7, and height, 1."""
        start = d.replace(qpos=d.qpos.at[2].add(x[7]), qvel=d.qvel + x[:7])
        return state(mjx.step(m, start))

    def run(x):
        """The state, and its derivative in forward and in reverse mode: one program."""
        value, push = jax.linearize(after, x)
        pull = jax.linear_transpose(push, x)
        (reverse,) = jax.vmap(pull)(jnp.eye(value.size))
        return value, jax.vmap(push, out_axes=1)(jnp.eye(x.size)), reverse

    return jax.jit(run)


@pytest.mark.parametrize("name", STATES)
def test_step(derivatives, name):
    height, velocity = STATES[name]
    x = jnp.array([*velocity, 0, 0, 0, 0, height], float)
    _, forward, reverse = derivatives(x)
    eps = 1e-7
    rows = [(derivatives(x + e)[0] - derivatives(x - e)[0]) / (2 * eps) for e in eps * np.eye(8)]
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forward, np.array(rows).T, rtol=1e-5, atol=2e-6)
    assert np.all(np.isfinite(forward))


def test_contact_is_in_the_derivative(derivatives):
    """On the floor a faster fall changes little; far from it all."""
    _, pushed, _ = derivatives(jnp.zeros(8).at[2].set(-1.0).at[7].set(1e-3))
    _, high, _ = derivatives(jnp.zeros(8).at[7].set(1.0))
    assert abs(pushed[8 + 2, 2]) < 0.1 and abs(high[8 + 2, 2] - 1) < 1e-6


@pytest.fixture(scope="module")
def slider():
    """A ball that slides along x and z."""
    return model(1e-3, SLIDER)


@pytest.mark.slow
def test_second_derivatives_through_ten_steps(slider):
    """The ball slides, meets the floor on its way and slows down."""
    d = mjx.make_data(slider).replace(qpos=jnp.array([0.0, 0.04]))

    def cost(v):
        def go(d, _):
            return mjx.step(slider, d), None

        end, _ = jax.lax.scan(go, d.replace(qvel=v), None, 10)
        return jnp.sum(end.qpos**2) + jnp.sum(end.qvel**2)

    slope = jax.jit(jax.grad(cost))
    product = jax.jit(lambda v, w: jax.jvp(jax.grad(cost), (v,), (w,))[1])
    v, w, eps = jnp.array([0.5, -0.3]), jnp.array([1.0, -0.5]), 1e-5
    expected = (slope(v + eps * w) - slope(v - eps * w)) / (2 * eps)
    np.testing.assert_allclose(product(v, w), expected, rtol=1e-4, atol=1e-6)
    assert np.abs(expected).min() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("refresh", [0, 1])
def test_second_derivatives_where_bodies_just_touch(refresh):
    """What a contact pushes fades with the distance from 0 on: no derivative up to the second jumps there."""
    m = model(1e-3, SLIDER, refresh=refresh)
    d = mjx.make_data(m).replace(qvel=jnp.array([0.5, -0.3]))

    def end(x):
        return state(mjx.step(m, d.replace(qpos=d.qpos.at[1].add(x[0]), qvel=d.qvel + x[1:])))

    slope = jax.jit(jax.vmap(jax.jacfwd(end)))
    second = jax.jit(jax.hessian(end))(jnp.zeros(3))
    for eps in (1e-5, -1e-5):  # from both sides
        steps = eps * np.eye(3)
        sided = (4 * slope(0.5 * steps) - slope(steps) - 3 * slope(0 * steps)) / eps
        np.testing.assert_allclose(np.moveaxis(sided, 0, -1), second, rtol=1e-3, atol=1e-3 * np.abs(second).max())
    assert np.abs(second).max() > 1


@pytest.mark.slow
def test_a_larger_gap_for_derivatives_alone(slider):
    d = mjx.make_data(slider)
    biased = model(1e-3, SLIDER, grad_gap=1e-2)

    def rise(m, z):
        return mjx.step(m, d.replace(qpos=d.qpos.at[1].add(z))).qvel[1]

    both = jax.jit(jax.value_and_grad(rise, argnums=1))
    value, slope = both(biased, 5e-3)
    exact, sharp = both(slider, 5e-3)
    _, smooth = both(model(1e-2, SLIDER), 5e-3)
    np.testing.assert_allclose(value, exact)
    np.testing.assert_allclose(slope, smooth)
    assert abs(slope - sharp) > 0.01 * abs(sharp)
