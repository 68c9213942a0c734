"""Inertias of two links from noisy torques, by inverse dynamics."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import InputError
from mjx_like.inverse import inverse
from mjx_like.state.initial import make_data
from mjx_like.sysid.forces import fit_forces
from mjx_like.sysid.inertia import inertia
from mjx_like.sysid.leaf import positive
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.plot import plot_fit

XML = """
<mujoco><option><flag contact="disable"/></option><worldbody>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping=".3"/>
  <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="2"/>
  <body name="lower" pos="0 0 -.4"><joint name="elbow" axis="1 0 0" damping=".1"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 .1 -.3" mass="1"/></body></body>
</worldbody></mujoco>
"""
NOISE = 0.05
PRIOR = 0.3


@pytest.fixture(scope="module")
def m():
    return from_xml_string(XML)


@pytest.fixture(scope="module")
def parameters(m):
    return Parameters(m, [inertia("upper", prior=PRIOR), inertia("lower", prior=PRIOR), positive("dof_damping@elbow")])


@pytest.fixture(scope="module")
def torques(m):
    return torques_of(m)


def torques_of(m):
    """Return a function of a model and of positions, velocities and accelerations of samples: the torques."""
    d = make_data(m)

    @jax.jit
    def of(model, qpos, qvel, qacc):
        return jax.vmap(lambda q, v, a: inverse(model, d.replace(qpos=q, qvel=v, qacc=a)).qfrc_inverse)(
            qpos, qvel, qacc
        )

    return of


def samples(seed, count=200):
    rng = np.random.default_rng(seed)
    return {
        "qpos": rng.uniform(-2, 2, (count, 2)),
        "qvel": rng.normal(size=(count, 2)) * 3,
        "qacc": rng.normal(size=(count, 2)) * 10,
    }


@pytest.mark.slow
def test_inertias_from_noisy_torques(m, parameters, torques):
    """Truths are drawn from the prior: standard errors cover them, and torques of other motions come out right."""
    z = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        theta = parameters.start + PRIOR * rng.normal(size=parameters.start.size) * 0.8
        (true, values, _), motion = parameters.found(m, theta), samples(seed + 50)
        clean = np.asarray(torques(true, **motion))
        force = clean + NOISE * rng.normal(size=clean.shape)
        force[::7, 0] = np.nan
        found = fit_forces(m, parameters, **motion, force=force, noise=NOISE, progress=False)
        z.append((found.values - values) / found.standard_errors)
        other = samples(seed + 90)
        wrong, left = (
            np.sqrt(np.mean((np.asarray(torques(x, **other)) - np.asarray(torques(true, **other))) ** 2))
            for x in (m, found.model)
        )
        assert left < 0.5 * NOISE < 0.1 * wrong
        assert 0.85 < found.noise_scale < 1.15
    inside = np.mean(np.abs(z) < 1)
    assert np.isfinite(z).all() and 0.5 < inside < 0.9, inside


@pytest.mark.slow
def test_damping_is_a_line(m, torques):
    """Of a parameter that forces are linear in, the answer is that of linear regression."""
    motion = samples(0)
    force = np.asarray(torques(m.replace(dof_damping=jnp.array([0.3, 0.25])), **motion))
    force = force + NOISE * np.random.default_rng(1).normal(size=force.shape)
    found = fit_forces(m, [positive("dof_damping")], **motion, force=force, progress=False)
    rest = force - np.asarray(torques(m.replace(dof_damping=jnp.zeros(2)), **motion))
    v = motion["qvel"]
    slope = (v * rest).sum(axis=0) / (v**2).sum(axis=0)
    np.testing.assert_allclose(found.values, slope, rtol=1e-6)
    sigma = np.sqrt(((rest - v * slope) ** 2).sum() / (2 * len(v) - 2))
    np.testing.assert_allclose(found.standard_errors, sigma / np.sqrt((v**2).sum(axis=0)), rtol=1e-6)


def test_messages(m, tmp_path):
    motion = samples(0, 3)
    good = motion | {"force": np.zeros((3, 2))}
    for change, message in (
        ({"force": np.zeros((4, 2))}, "all arrays need the same number of samples"),
        ({"qacc": np.zeros((3, 1))}, r"qacc has shape \(3, 1\); it must be \(samples, 2\)"),
        ({"qvel": np.full((3, 2), np.nan)}, "qvel has values that are not finite; only force may miss some"),
        ({"noise": 0}, "noise=0: must be a positive number"),
        ({"method": "adam"}, "method='adam': must be 'lm' or 'gauss-newton'"),
    ):
        with pytest.raises(InputError, match=message):
            fit_forces(m, [positive("dof_damping")], **(good | change), progress=False)
    with pytest.raises(InputError, match="the force of sample 1 at dof 0 is not finite"):
        bad = good | {"force": np.array([[0, 0], [np.inf, 0], [0, 0]])}
        fit_forces(m, [positive("dof_damping")], **bad, progress=False)
    found = fit_forces(m, [positive("dof_damping")], **good, progress=False, iterations=1)
    with pytest.raises(InputError, match="a fit of forces has no recordings"):
        plot_fit(found, tmp_path / "x.png")
