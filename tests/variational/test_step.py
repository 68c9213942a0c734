"""Steps of the integrator "variational" by `mjx.step`: free, with soft and with hard contact; derivatives; refusals."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.integrator.table import conditions, integrator_of
from mjx_like.variational.conserved import kinetic_energy, momentum
from mjx_like.variational.midpoint import residual
from tests.variational.scene import ASTRONAUT, model, run, state

GAP = 1e-4
# A body of two links with a foot at each end; contacts are gradual enough for an order of convergence.
LINKS = """<mujoco><option timestep="0.01"/>
<default><geom friction=".4" solref=".1 1" solimp=".5 .9 .05"/></default>
<worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .5"><freejoint/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 .1" mass=".5" contype="0"/>
    <geom name="a" size=".06" mass="1"/><site name="s"/>
    <body pos=".4 0 .1"><joint name="j" axis="0 1 .2" damping=".1" stiffness="2"/>
      <geom name="b" size=".05" pos=".4 .1 0" mass=".7"/></body></body></worldbody>
<actuator><velocity joint="j" kv=".3"/></actuator></mujoco>"""

TURNING = """<mujoco><option gravity="0 0 0" timestep="0.1"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 1"><joint name="j"/><geom type="box" size=".3 .1 .1" mass="1"/></body></worldbody>
<actuator><motor joint="j" gear=".1"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def soft():
    return model(LINKS)


@pytest.fixture(scope="module")
def hard(soft):
    return mjx.with_hard_contact(soft, GAP)


def thrown(m):
    d = mjx.make_data(m)
    return d.replace(qvel=jnp.array([1.0, 0.3, -1.0, 1.0, 2.0, -0.5, 1.0]), ctrl=jnp.full(m.nu, 0.5))


@pytest.mark.parametrize("contact", ["soft", pytest.param("hard", marks=pytest.mark.slow)])
def test_a_chain_without_contact_keeps_momentum_and_energy(contact):
    """Ten seconds at a step of 0.1 s; both modes of contact make the same steps."""
    m = model(ASTRONAUT, 0.1)
    m = m.replace(opt=m.opt.replace(contact=contact))

    def kept(m, d):
        d = mjx.forward(m, d)
        return (*momentum(m, d), kinetic_energy(m, d))

    d = state(m, 0)
    start, (linear, angular, energy) = jax.jit(kept)(m, d), run(m, d, 100, each=kept)[1]
    np.testing.assert_allclose(linear, np.broadcast_to(start[0], linear.shape), atol=1e-10, rtol=0)
    np.testing.assert_allclose(angular, np.broadcast_to(start[1], angular.shape), atol=1e-10, rtol=0)
    np.testing.assert_allclose(energy, start[2], rtol=5e-3)


@functools.partial(jax.jit, static_argnames="steps")
def fall(m, d, steps):
    """Return the last Data; the least distance to the floor, and what is left of the equation over its impulses."""

    def go(d, _):
        d, h = mjx.forward(m, d), m.opt.timestep
        rest = residual(m.topology, conditions(m, d), d.qvel + h * d.qacc) / h - d.qfrc_constraint
        size = jnp.linalg.norm(d.qfrc_constraint) + jnp.linalg.norm(d.qfrc_bias)
        along = jnp.min(d.geom_xpos[2:, 2] - jnp.array([0.06, 0.05])), jnp.linalg.norm(rest) / size
        return integrator_of(m).advance(m, d), along

    return jax.lax.scan(go, d, None, steps)


@pytest.fixture(scope="module")
def fallen(hard):
    return fall(hard, thrown(hard), 500)


@pytest.mark.slow
def test_hard_contact_rests_at_its_gap(hard, fallen):
    end = fallen[0]
    bottom = np.asarray(end.geom_xpos)[[2, 3], 2] - np.array([0.06, 0.05])
    np.testing.assert_array_less(0.3 * GAP, bottom)
    np.testing.assert_array_less(bottom, 6 * GAP)
    assert np.abs(end.qvel).max() < 3e-2 and int(end.unconverged) == 0
    np.testing.assert_allclose(end.qfrc_constraint[2], 2.2 * 9.81, rtol=1e-3)


def test_little_penetrates_and_little_is_left_of_the_equation(fallen):
    """From the fall to rest, after two solves."""
    distance, rest = (np.asarray(x) for x in fallen[1])
    assert distance.min() > -1e-4
    assert rest.max() < 1e-3 and np.median(rest) < 1e-8


@pytest.mark.slow
def test_one_more_solve_leaves_a_tenth(hard, fallen):
    m = hard.replace(opt=hard.opt.replace(refresh=2))
    rest = fall(m, thrown(m), 100)[1][1]
    assert rest.max() < 1e-4 and rest.max() < 0.1 * fallen[1][1].max()


def turning(m, d):
    return d.qvel[0], d.unconverged


def fine_run_in_c(time, h=1e-5):
    mj = mujoco.MjModel.from_xml_string(LINKS.replace('timestep="0.01"', f'timestep="{h}"'))
    d = mujoco.MjData(mj)
    d.qvel[:], d.ctrl[:] = np.asarray(thrown(mjx.put_model(mj)).qvel), 0.5
    mujoco.mj_step(mj, d, round(time / h))
    return d.qpos


@pytest.mark.slow
def test_soft_contact_converges_to_mujoco(soft):
    """With the first order, as forces of contact are those half a step early; contact begins after 0.2 s."""
    exact, errors = fine_run_in_c(0.6), []
    for h in (0.004, 0.002, 0.001):
        m = model(LINKS, h)
        end = run(m, thrown(m), round(0.6 / h))[0]
        errors.append(float(jnp.linalg.norm(mjx.differentiate_pos(m, jnp.asarray(exact), end.qpos))))
    ratio = np.divide(errors[:-1], errors[1:])
    assert errors[-1] < 5e-3
    np.testing.assert_array_less(1.7, ratio)


def after(m, start, steps):
    """Return the function from changes of velocity and control to the state after some steps."""

    def end(x):
        d = start.replace(qvel=start.qvel + x[: m.nv], ctrl=start.ctrl + x[m.nv :])
        d = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, steps)[0]
        return jnp.concatenate([d.qpos, d.qvel])

    return end


@pytest.fixture(scope="module", params=["soft", pytest.param("hard", marks=pytest.mark.slow)])
def end(request, soft, hard):
    """Three steps, of which the second brings both feet to the floor."""
    m = {"soft": soft, "hard": hard}[request.param]
    d = thrown(m)
    return after(m, d.replace(qpos=d.qpos.at[2].set(0.08).at[7].set(0.5)), 3)


def differences(end, along, eps=1e-6):
    """Return the derivative of `end` at 0 along a direction."""
    return (8 * (end(eps * along) - end(-eps * along)) - (end(2 * eps * along) - end(-2 * eps * along))) / (12 * eps)


def test_derivative_through_contact(end, soft):
    along = jnp.asarray(np.random.default_rng(0).normal(size=soft.nv + soft.nu))
    both = jax.jit(lambda x: jax.jvp(end, (x,), (along,)))
    value, slope = both(0 * along)
    assert value[soft.nq + 2] > -1.1, "it falls on"
    np.testing.assert_allclose(slope, differences(lambda x: both(x)[0], along), atol=1e-6)
    assert np.abs(slope).max() > 0.3


@pytest.mark.slow
def test_forward_reverse_and_differences_through_contact(end, soft):
    x = jnp.zeros(soft.nv + soft.nu)
    forward, reverse = jax.jit(jax.jacfwd(end))(x), jax.jit(jax.jacrev(end))(x)
    expected = differences(jax.jit(jax.vmap(end)), jnp.eye(x.size)).T
    np.testing.assert_allclose(reverse, forward, atol=1e-9)
    np.testing.assert_allclose(forward, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_a_quarter_turn_in_a_step_is_told(contact):
    """A motor turns a body faster and faster; at a step of 0.1 s the midpoint rule ends at 15.7 rad/s."""
    m = mjx.Model.from_xml_string(TURNING, contact=contact, integrator="variational")
    d = mjx.make_data(m).replace(ctrl=jnp.ones(1))
    end, (speed, told) = run(m, d, 40, each=turning)
    first = int(np.flatnonzero(told)[0])
    np.testing.assert_array_less(np.abs(speed[:first]), 0.5 * np.pi / 0.1)
    assert speed[first - 1] > 13
    assert any("a shorter time step or more iterations may help" in line for line in mjx.check(m, end))


def test_inverse_of_a_step_is_refused_by_name(soft, hard):
    discrete = soft.replace(opt=soft.opt.replace(enableflags=int(mjx.EnableBit.INVDISCRETE)))
    for m, error, message in (
        (discrete, InputError, "flag invdiscrete: a step of variational cannot be inverted"),
        (hard, UnsupportedError, "inverse|invert"),
    ):
        with pytest.raises(error, match=message):
            jax.eval_shape(functools.partial(mjx.inverse, m), mjx.make_data(m))
