"""Sampling and shooting: they come near the optimum of a linear system, and never beyond limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import knots_of, mppi, plan_costs, predictive_sampling, shoot, spline_matrix
from mjx_like.control.sampling import weighted_mean
from mjx_like.errors import InputError
from tests.control import models as on

LIMITS = [[-3, 3]]


def cost_of(ctrl):
    return on.mass_total(np.asarray(ctrl)[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("method", [mppi, predictive_sampling])
def test_samples_come_near_the_optimum_within_limits(method):
    options = dict(samples=64, rounds=60, noise=0.1, knots=10, limits=LIMITS)
    plan = method(on.mass, on.mass_start, on.mass_cost, on.mass_guess, jax.random.key(0), **options)
    first, end = cost_of(on.mass_guess), cost_of(plan)
    optimum = cost_of(shoot(on.mass, on.mass_start, on.mass_cost, on.mass_guess, limits=LIMITS, progress=False).ctrl)
    assert end < first and end < 1.03 * optimum
    assert np.abs(plan).max() <= 3


def test_predictive_sampling_never_gets_worse():
    plan = on.mass_guess
    for k in range(4):
        better = predictive_sampling(on.mass, on.mass_start, on.mass_cost, plan, jax.random.key(k), knots=40, samples=8)
        assert cost_of(better) <= cost_of(plan) * (1 + 1e-12)
        plan = better


def test_weights_are_those_of_mppi_and_infinite_costs_have_none():
    knots, costs = jnp.arange(4.0)[:, None, None], jnp.array([1.0, 2.0, 4.0, jnp.inf])
    above = np.array([0, 1, 3])
    weights = np.exp(-above / (0.5 * above.mean()))
    found = weighted_mean(knots, costs, temperature=0.5)
    np.testing.assert_allclose(found[0, 0], weights @ np.arange(3) / weights.sum(), rtol=1e-12)
    np.testing.assert_array_equal(weighted_mean(knots, jnp.full(4, jnp.inf), 0.5), knots[0])


@pytest.mark.slow
def test_shooting_of_several_starts_with_its_history():
    starts = mjx.batch(on.mass_start, qpos=np.array([[1.0], [-0.3]]))
    found = shoot(on.mass, starts, on.mass_cost, on.mass_guess, knots=8, iterations=20, limits=LIMITS, progress=False)
    assert found.ctrl.shape == (2, on.STEPS, 1) and found.history.shape == (2, 21) and found.K is None
    np.testing.assert_allclose(found.cost[0], cost_of(found.ctrl[0]), rtol=1e-10)
    assert np.all(found.cost < found.history[:, 0])
    value, _ = plan_costs(on.mass, starts, on.mass_cost, found.ctrl)
    np.testing.assert_allclose(value, found.cost, rtol=1e-12)


@pytest.mark.parametrize("kind", ["zero", "linear", "cubic"])
def test_splines_go_through_their_knots_and_come_back(kind):
    W = spline_matrix(5, 17, kind)
    np.testing.assert_allclose(W[::4], np.eye(5), atol=1e-15)
    np.testing.assert_allclose(W.sum(1), 1, atol=1e-12)
    knots = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(knots_of(W, W @ knots), knots, atol=1e-10)
    line = np.arange(5.0)
    if kind != "zero":
        np.testing.assert_allclose(W @ line, np.linspace(0, 4, 17), atol=1e-12)


@pytest.mark.parametrize(
    "options, part",
    [
        ({"kind": "square"}, "kind='square': must be one of zero, linear, cubic"),
        ({"samples": 1}, "samples=1"),
        ({"knots": 0}, "knots=0"),
        ({"temperature": 0.0}, "temperature=0.0: must be positive"),
        ({"ctrl": np.zeros((2, 4, 1))}, "plans for one world"),
        ({"noise": -1}, "noise=-1: must be positive"),
    ],
)
def test_messages(options, part):
    arguments = {"ctrl": on.mass_guess} | options
    with pytest.raises(InputError) as mistake:
        mppi(on.mass, on.mass_start, on.mass_cost, arguments.pop("ctrl"), jax.random.key(0), **arguments)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
