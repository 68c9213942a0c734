"""Identification of a pendulum: parameters, standard errors and their coverage, ways to the same optimum, messages."""

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import InputError
from mjx_like.rollout import rollout as module
from mjx_like.sysid.fit import fit
from mjx_like.sysid.identifiability import in_words, least_identifiable, uncertainty, value_errors
from mjx_like.sysid.inertia import inertia
from mjx_like.sysid.leaf import positive
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.plot import plot_fit
from mjx_like.sysid.recording import Recording
from tests.sysid import pendulum

NOISE = {"qpos": 0.01}
PARTS = [positive(name) for name in pendulum.NAMES]


@pytest.fixture(scope="module")
def moved():
    return pendulum.motion(pendulum.model())


@pytest.fixture(scope="module")
def start():
    return pendulum.guess(pendulum.model())


@pytest.fixture(scope="module")
def parameters(start):
    return Parameters(start, PARTS)


@pytest.fixture(scope="module")
def found(start, parameters, moved):
    return fit(start, [pendulum.noisy(moved, 0)], parameters, noise=NOISE, progress=False)


def test_parameters_are_found(found):
    z = (found.values - pendulum.TRUTH) / found.standard_errors
    assert np.abs(z).max() < 3 and (found.standard_errors < [0.01, 0.003]).all()
    assert 0.7 < found.noise_scale < 1.3
    assert float(found.model.body_mass[1]) == pytest.approx(found.values[0])
    assert found.history[-1].cost < 0.05 * found.history[0].cost or len(found.history) < 6


def test_standard_errors_are_the_curvature_of_the_cost(found):
    """Half the squared norm grows by 1/2 over one standard error of a coordinate, the other one following."""
    problem, at = found.problem, found.at
    cost = lambda theta: 0.5 * (problem.residuals([at._replace(theta=theta)]) ** 2).sum()  # noqa: E731
    precision = np.linalg.inv(found.covariance)
    for way in np.linalg.eigh(found.covariance)[1].T:
        length = 0.3 / np.sqrt(way @ precision @ way)
        rise = 0.5 * (cost(at.theta + length * way) + cost(at.theta - length * way)) - cost(at.theta)
        assert rise == pytest.approx(0.5 * 0.3**2, rel=0.05)


def test_directions_go_with_their_singular_values(found):
    J = found.problem.linearise(found.at)[1].reshape(-1, found.theta.size)
    np.testing.assert_allclose(np.linalg.norm(J @ found.directions.T, axis=0), found.singular_values, rtol=1e-8)
    assert in_words(np.array([-0.9, 0.05, 0.43]), "abc") == "+0.90 a -0.43 c"


@pytest.mark.slow
def test_forward_mode_agrees_with_differences(found, start, parameters, moved):
    other = fit(start, [pendulum.noisy(moved, 0)], parameters, noise=NOISE, derivative="forward", progress=False)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-6)
    np.testing.assert_allclose(other.singular_values, found.singular_values, rtol=1e-6)
    np.testing.assert_allclose(
        other.problem.linearise(found.at)[1], found.problem.linearise(found.at)[1], rtol=1e-6, atol=1e-5
    )


@pytest.mark.parametrize(
    "options",
    [{"method": "gauss-newton"}, {"robust": 4.0}, pytest.param({"lengths": (10, None)}, marks=pytest.mark.slow)],
)
def test_other_ways_to_the_same_optimum(options, found, start, moved):
    """Segments begin at measured states, which here are exact: they are taken from the true motion."""
    time, qpos, qvel, _, ctrl = moved
    r = pendulum.noisy(moved, 0)
    r.qvel = qvel[::5]
    exact = {"noise": {"qpos": 0.01, "qvel": np.inf}} | options
    other = fit(start, [r], PARTS, progress=False, tolerance=1e-12, **exact)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-4)


@pytest.mark.slow
def test_estimated_starts(start, moved):
    """Multiple shooting: the noise of the states that segments begin at does no harm, and the gaps close."""
    time, qpos, qvel, _, ctrl = moved
    rng = np.random.default_rng(3)
    noisy = qpos + 0.02 * rng.normal(size=qpos.shape), qvel + 0.1 * rng.normal(size=qvel.shape)
    r = Recording(time[::2], qpos=noisy[0][::2], qvel=noisy[1][::2], ctrl=(time[:-1], ctrl))
    options = {"noise": {"qpos": 0.02, "qvel": 0.1}, "progress": False}
    both = [fit(start, [r], PARTS, lengths=(20,), starts=kind, **options) for kind in ("measured", "estimated")]
    z = [np.abs(x.values - pendulum.TRUTH) / x.standard_errors for x in both]
    assert z[1].max() < 3 and z[0].max() > 2 * z[1].max(), "noise in the starts is not noise of the parameters"
    paths = both[1].problem.states(both[1].at)["qpos"]
    gap = paths[:-1, -1] - both[1].at.starts["qpos"][1:]
    assert np.abs(gap).max() < 0.002 < np.abs(r.qpos[20:100:20] - qpos[40:200:40]).max()
    assert 0.85 < both[1].noise_scale < 1.15


def test_sensors_alone(start, moved):
    time, _, _, sensors, ctrl = moved
    rng = np.random.default_rng(1)
    r = Recording(
        sensordata=(time[:-1:4], sensors[::4] + 0.01 * rng.normal(size=sensors[::4].shape)),
        ctrl=(time[:-1], ctrl),
        start={"qpos": [1.0], "qvel": [0.0]},
    )
    found = fit(start, [r], PARTS, noise={"sensordata": 0.01}, progress=False)
    assert (np.abs(found.values - pendulum.TRUTH) < 3 * found.standard_errors).all()


@pytest.mark.slow
def test_reverse_mode_and_adam(start, found, moved):
    r = pendulum.noisy(moved, 0)
    other = fit(start, [r], PARTS, noise=NOISE, method="adam", iterations=120, progress=False)
    assert (np.abs(other.values - found.values) < 0.5 * found.standard_errors).all()
    assert other.history[-1].cost < other.history[0].cost


def test_noise_of_unknown_size_is_taken_from_the_residuals(start, parameters, found, moved):
    other = fit(start, [pendulum.noisy(moved, 0)], parameters, progress=False, tolerance=1e-12)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-4)
    np.testing.assert_allclose(other.standard_errors, found.standard_errors * found.noise_scale, rtol=0.02)


@pytest.mark.slow
def test_a_direction_that_the_data_do_not_see_is_named(start, moved):
    """Ten inertial parameters of a body on one hinge: three or fewer can be found."""
    r = pendulum.noisy(moved, 0)
    open_ = fit(start, [r], [inertia("rod")], noise=NOISE, progress=False, iterations=4)
    assert "not identifiable" in open_.least_identifiable and np.isinf(open_.standard_errors).any()
    assert (open_.singular_values > 1e-6 * open_.singular_values[0]).sum() <= 3
    held = fit(start, [r], [inertia("rod", prior=0.3)], noise=NOISE, progress=False)
    assert np.isfinite(held.standard_errors).all() and "not identifiable" not in held.least_identifiable


def test_uncertainty_of_the_first_unknowns_is_a_block_of_the_inverse():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(40, 7))
    u = uncertainty(J.T @ J, 3, 2.0)
    np.testing.assert_allclose(u.covariance, 2 * np.linalg.inv(J.T @ J)[:3, :3], rtol=1e-10)
    np.testing.assert_allclose(u.singular_values[-1] ** -2, np.linalg.eigvalsh(u.covariance)[-1], rtol=1e-10)
    np.testing.assert_allclose(value_errors(np.eye(3), u.covariance) ** 2, np.diag(u.covariance))
    assert "least identifiable" in least_identifiable(u, ("a", "b", "c"))


@pytest.mark.slow
def test_other_lengths_compile_no_other_rollout(start, parameters, moved):
    r = pendulum.noisy(moved, 0)
    r.qvel = moved[2][::5]
    fit(start, [r], parameters, lengths=(10, 20, None), iterations=1, progress=False)
    before = module._rollout._cache_size()
    fit(start, [r], parameters, lengths=(10, 20, None), iterations=3, progress=False)
    assert module._rollout._cache_size() == before
    fit(start, [r], PARTS, lengths=(10, 20, 25, None), iterations=1, progress=False)
    assert module._rollout._cache_size() <= before + 1


def test_a_picture(found, tmp_path):
    matplotlib.use("Agg")
    path = plot_fit(found, tmp_path / "fit.png")
    assert path.stat().st_size > 20_000
    with pytest.raises(InputError, match="the fit has recordings 0 to 0"):
        plot_fit(found, path, recording=1)


def test_the_table_says_what_was_found(found):
    assert "body_mass@rod" in str(found) and "+-" in str(found) and "least identifiable" in str(found)


@pytest.mark.slow
def test_one_standard_error_covers_two_thirds(start, parameters, moved):
    inside, repetitions = np.zeros(2), 100
    for seed in range(repetitions):
        f = fit(start, [pendulum.noisy(moved, 100 + seed)], parameters, noise=NOISE, progress=False)
        inside += np.abs(f.values - pendulum.TRUTH) < f.standard_errors
    assert (np.abs(inside / repetitions - 0.683) < 3 * np.sqrt(0.683 * 0.317 / repetitions)).all(), inside


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "lbfgs"}, "method='lbfgs': must be one of 'lm', 'gauss-newton', 'adam'"),
        ({"derivative": "reverse"}, "derivative='reverse': must be one of 'auto', 'forward', 'difference'"),
        ({"starts": "estimate"}, "starts='estimate': must be one of .*did you mean 'estimated'"),
        ({"noise": {"qpos": 0}}, r"noise\['qpos'\] must be positive, a number or an array of shape \(1,\); it is 0"),
        ({"noise": {"angle": 1}}, "must be a mapping from qpos, qvel, sensordata"),
        ({"lengths": 10}, r"lengths=10: must be a list of frames, None for whole recordings"),
        ({"iterations": (3, 4)}, "must be one number, or as many as lengths has, 1"),
        ({"robust": -1}, "robust=-1: must be a positive number"),
        ({"step": 2}, "step=2: must be a number between 0 and 1"),
        ({"starts": "estimated", "gap": 0}, "gap=0: must be a positive number"),
        ({"starts": "estimated", "method": "adam"}, "method='adam' takes starts='measured'"),
        ({"smoothing": -1}, "width=-1.0 must be at least 0"),
    ],
)
def test_messages(start, moved, options, message):
    with pytest.raises(InputError, match=message) as raised:
        fit(start, [pendulum.noisy(moved, 0)], PARTS, progress=False, **options)
    assert "\n" not in str(raised.value)


def test_a_cost_that_is_not_finite_names_the_residual(start, moved):
    r = pendulum.noisy(moved, 0)
    r.qpos[7] = np.inf
    with pytest.raises(InputError, match="residual of recording 0 at frame 7, 0.35 s, qpos of dof 0, is not finite"):
        fit(start, [r], PARTS, progress=False)


@pytest.mark.slow
def test_float32_in_forward_mode():
    """Where JAX has no x64 models are float32; here one is cast."""
    m = from_xml_string(pendulum.XML)
    single = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, pendulum.guess(m))
    r = pendulum.noisy(pendulum.motion(m), 0)
    found = fit(single, [r], PARTS, noise=NOISE, progress=False)
    assert (
        found.problem.derivative == "forward"
        and (np.abs(found.values - pendulum.TRUTH) < 3 * found.standard_errors).all()
    )
