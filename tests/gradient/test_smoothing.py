"""Smoothed contacts and limits: MuJoCo's when deep, gradual at the touch, felt from afar, or in gradients alone."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from mjx_like.smoothing import with_smoothing, without_smoothing
from mjx_like.state.initial import make_data
from mjx_like.step import step

XML = """
<mujoco><option timestep="0.002" tolerance="0" iterations="50"/><worldbody><geom type="plane" size="1 1 1" condim="1"/>
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" condim="1"/></body>
<body pos="1 0 1"><joint type="slide" axis="1 0 0" range="0 2" limited="true"/><geom size=".1"/></body>
</worldbody></mujoco>
"""
WIDTH = 1e-3
DEPTHS = np.array([-2.95, -1.45, -0.95, -0.45, 0.05, 0.55, 1.05, 2.05, 5.05, 30.05]) * WIDTH


@functools.cache
def _model():
    return put_model(mujoco.MjModel.from_xml_string(XML))


@jax.jit
@functools.partial(jax.vmap, in_axes=(None, 0))
def _velocity(m, height):
    """Return velocity after a step that starts falling, `height` above the plane and the limit, and its derivative."""

    def after(height):
        d = make_data(m)
        return step(m, d.replace(qpos=jnp.stack([height, height]), qvel=jnp.array([-0.1, -0.1]))).qvel

    return jax.jvp(after, (height,), (jnp.ones_like(height),))


@functools.cache
def _exact():
    return _velocity(_model(), jnp.asarray(DEPTHS))


@pytest.mark.slow
def test_gradual_and_exact_when_deep():
    m = with_smoothing(_model(), WIDTH)
    value, slope = _velocity(m, jnp.asarray(DEPTHS))
    ahead, behind = (_velocity(m, jnp.asarray(DEPTHS) + eps)[0] for eps in (1e-8, -1e-8))
    assert np.abs(slope - (ahead - behind) / 2e-8).max() < 1e-4 * np.abs(slope).max()
    exact, _ = _exact()
    deep, far = DEPTHS < -WIDTH, DEPTHS > WIDTH
    np.testing.assert_allclose(value[deep], exact[deep], atol=1e-12)
    np.testing.assert_allclose(value[far], exact[far], atol=1e-12)
    assert np.abs(value - exact)[~deep & ~far].max(axis=0).min() > 1e-3  # and not between


@pytest.mark.slow
def test_contacts_from_a_distance_have_gradients():
    apart = (DEPTHS > WIDTH) & (DEPTHS < 10 * WIDTH)
    _, near = _velocity(with_smoothing(_model(), WIDTH, reach=10 * WIDTH, strength=0.1), jnp.asarray(DEPTHS))
    assert (np.abs(near[apart]) > 1e-3).all() and not np.any(_exact()[1][apart])


def test_contacts_without_damping_push_from_a_distance():
    elastic = XML.replace('condim="1"', 'condim="1" solref="-1000 0"').replace(
        "limited", 'solreflimit="-1000 0" limited'
    )
    m = with_smoothing(put_model(mujoco.MjModel.from_xml_string(elastic)), WIDTH, reach=10 * WIDTH, strength=0.1)
    apart = (DEPTHS > WIDTH) & (DEPTHS < 10 * WIDTH)
    value, slope = _velocity(m, jnp.asarray(DEPTHS))
    free = np.array([-0.1 - 0.002 * 9.81, -0.1])  # velocities of what falls and of what slides
    assert (value[apart] > free + 1e-8).all() and (slope[apart] < 0).all()
    np.testing.assert_allclose(value[DEPTHS > 10 * WIDTH], free[None], atol=1e-12)


@pytest.mark.slow
def test_straight_through_keeps_values():
    heights = jnp.asarray(DEPTHS)
    value, slope = _velocity(with_smoothing(_model(), WIDTH, straight_through=True), heights)
    exact, exact_slope = _exact()
    _, smooth_slope = _velocity(with_smoothing(_model(), WIDTH), heights)
    np.testing.assert_array_equal(value, exact)
    np.testing.assert_allclose(slope, smooth_slope, atol=1e-9)
    assert np.abs(slope - exact_slope).max() > 0.1


@pytest.mark.slow
def test_limits_may_stay_sudden_and_smoothing_may_be_taken_off():
    value, _ = _velocity(with_smoothing(_model(), WIDTH, limits=False), jnp.asarray(DEPTHS))
    exact, _ = _exact()
    assert np.abs(value[:, 1] - exact[:, 1]).max() < 1e-12 < np.abs(value[:, 0] - exact[:, 0]).max()
    assert without_smoothing(with_smoothing(_model())).smoothing is None


def test_bad_widths_are_named():
    with pytest.raises(InputError, match="width=-1"):
        with_smoothing(_model(), -1.0)
    with pytest.raises(InputError, match="reach='a' must be at least 0"):
        with_smoothing(_model(), reach="a")
    with pytest.raises(InputError, match="strength=1"):
        with_smoothing(_model(), strength=1)
    width = jax.jit(lambda w: with_smoothing(_model(), w, reach=0.1).smoothing.width)(0.5)
    assert width == 0.5
