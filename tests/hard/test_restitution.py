"""Restitution: heights and speeds after impacts, rest, exact derivatives of bounces, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, UnsupportedError
from tests.hard.scene import model

G = 9.81
BALL = '<geom size=".1" mass="1" condim="1"/>'
DROP = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 1.1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
ROW = '<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>{}</worldbody></mujoco>'
ALONG = f'<body><joint type="slide" axis="1 0 0"/>{BALL}</body>'
WALL = ROW.format('<geom type="plane" size="5 5 1" zaxis="1 0 0" condim="1"/>' + ALONG)
LINE = ROW.format(ALONG + ALONG)
ACROSS = ALONG.replace("<geom", '<joint type="slide" axis="0 1 0"/><geom')
TABLE = ROW.format(ACROSS + ACROSS)


@pytest.fixture(scope="module")
def drops():
    """Heights and speeds, of restitutions 0.5, 0.8 and 1: (3, steps); and the solves that fell short."""
    m = model(1e-5, DROP)

    def drop(e):
        moving = m.tree_replace({"opt.restitution": e})
        d = mjx.make_data(m)

        def go(d, _):
            d = mjx.step(moving, d)
            return d, (d.qpos[0], d.qvel[0])

        end, (z, v) = jax.lax.scan(go, d, None, 600)
        return z + 1, v, end.unconverged

    return [np.asarray(x) for x in jax.jit(jax.vmap(drop))(jnp.array([0.5, 0.8, 1.0]))]


@pytest.mark.slow
@pytest.mark.parametrize("i, e", [(0, 0.5), (1, 0.8), (2, 1.0)])
def test_heights_fall_by_the_square(drops, i, e):
    z, v, short = (x[i] for x in drops)
    top = z + (v - G * 0.01 / 2) ** 2 / (2 * G)  # of the parabola, whose velocity is half a step early
    impacts = np.flatnonzero((v[:-1] < 0) & (v[1:] > 0)) + 1
    tops = np.array([1.0, *top[impacts[:3] + 3]])
    np.testing.assert_allclose(tops[1:] / tops[:-1], e * e, rtol=2e-3)
    assert short == 0 and z.min() > 0


def test_comes_to_rest_or_goes_on(drops):
    z, v, _ = drops
    assert np.abs(v[:2, -50:]).max() < 1e-6
    np.testing.assert_allclose(z[:2, -50:], 1e-5, rtol=1e-3)
    top = z[2] + (v[2] - G * 0.01 / 2) ** 2 / (2 * G)
    np.testing.assert_allclose(top, 1.0, rtol=2e-3)  # no energy is gained or lost over five bounces


def end_of(xml, steps, gap=1e-7):
    """The function from qpos, qvel and restitution to qpos and qvel after some steps."""
    m = model(gap, xml)
    nv, d = m.nv, mjx.make_data(m)

    def end(x):
        moving = m.tree_replace({"opt.restitution": x[2 * nv]})
        first = d.replace(qpos=x[:nv], qvel=x[nv : 2 * nv])
        last, _ = jax.lax.scan(lambda d, _: (mjx.step(moving, d), None), first, None, steps)
        return jnp.concatenate([last.qpos, last.qvel])

    return end


@pytest.fixture(scope="module")
def bounce():
    """A ball and a wall: the state after 25 steps from place, speed and restitution, and its derivative with it."""
    end = end_of(WALL, 25)
    return jax.jit(end), jax.jit(jax.jacfwd(end))


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_derivatives_of_a_bounce(bounce, e):
    """2.1 cm before a wall at 1 m/s; for what is left of 0.05 s it goes back."""
    end, forward = bounce
    x, left, eps = jnp.array([0.121, -1.0, e]), 0.05 - 0.021, 1e-6
    np.testing.assert_allclose(end(x), [0.1 + e * left, e], rtol=1e-4)
    slope = forward(x)
    np.testing.assert_allclose(slope, [[-e, -e * 0.05, left], [0, -e, 1]], rtol=1e-2, atol=2e-3)
    rows = [(end(x + step) - end(x - step)) / (2 * eps) for step in eps * np.eye(3)[:2]]
    np.testing.assert_allclose(slope[:, :2], np.array(rows).T, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_reverse_mode_is_forward_mode(bounce):
    x = jnp.array([0.121, -1.0, 0.7])
    np.testing.assert_allclose(jax.jit(jax.jacrev(bounce[0]))(x), bounce[1](x), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_equal_balls_exchange_their_velocities():
    end = end_of(LINE, 25)
    x = jnp.array([0.0, 0.2216, 1.0, 0.2, 1.0])
    slope, last = jax.jit(jax.jacfwd(lambda x: (end(x), end(x)), has_aux=True))(x)
    np.testing.assert_allclose(last, [0.0216 + 0.05 * 0.2, 0.05 + 0.2, 0.2, 1.0], atol=1e-4)
    right = np.array([[0, 1, 0, 0.05], [1, 0, 0.05, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    np.testing.assert_allclose(slope[:, :4], right, atol=1e-2)


def struck(start, speed, e):
    """Where a ball ends after 0.05 s that another one 0.1 m off its line has struck; by the line of centres."""
    cosine, sine = np.sqrt(0.75), -0.5
    left = 0.05 - (-start - 0.2 * cosine) / speed
    return (1 + e) / 2 * speed * cosine * left * jnp.array([cosine, sine])


@pytest.fixture(scope="module")
def oblique():
    """The place of a ball that is struck, and its derivatives with the start and the speed of the other."""
    end = end_of(TABLE, 25, gap=1e-9)

    def place(start, speed, e):
        return end(jnp.array([start, 0.1, 0, 0, speed, 0, 0, 0, e]))[2:4]

    return jax.jit(lambda *x: (place(*x), jax.jacfwd(place, argnums=(0, 1))(*x)))


@pytest.mark.slow
@pytest.mark.parametrize("e", [1.0, 1e-9])
def test_the_normal_of_an_oblique_impact_does_not_depend_on_when_in_its_step_it_comes(oblique, e):
    starts = -0.2 * np.sqrt(0.75) - 0.0203 - 0.0005 * np.arange(4)  # a quarter of a step apart
    for start in starts:
        end, slope = oblique(start, 1.0, e)
        np.testing.assert_allclose(end, struck(start, 1.0, e), rtol=1e-3)
        right = jax.jacfwd(struck, argnums=(0, 1))(start, 1.0, e)
        np.testing.assert_allclose(slope, right, rtol=1e-2)


def test_none_is_what_it_was():
    m, zero = model(), mjx.with_hard_contact(mjx.without_hard_contact(model()), 1e-5, restitution=0.0)
    assert jax.tree.structure(m) == jax.tree.structure(zero) and not m.hard.rebounds
    assert model(restitution=0.5).hard.rebounds and model(restitution=0.5).opt.restitution == 0.5


@pytest.mark.parametrize(
    "values, message",
    [
        ({"restitution": -0.1}, "restitution=-0.1 must be at least 0 and at most 1"),
        ({"restitution": 1.5}, "restitution=1.5 must be at least 0 and at most 1"),
        ({"restitution": "much"}, "restitution='much' must be at least 0 and at most 1"),
        ({"rebound_speed": 0.0}, "rebound_speed=0.0 must be above 0"),
    ],
)
def test_values(values, message):
    with pytest.raises(InputError, match=message):
        model(xml=DROP, **values)


def test_what_it_does_not_do():
    m = model(xml=DROP, restitution=0.5)
    with pytest.raises(UnsupportedError, match="inverse: hard contact has none with restitution"):
        jax.eval_shape(mjx.inverse, m, mjx.make_data(m))
    m = m.replace(opt=m.opt.replace(integrator="variational"))
    with pytest.raises(UnsupportedError, match="no restitution with the integrator variational"):
        jax.eval_shape(mjx.step, m, mjx.make_data(m))
