"""The tossed cube: parameters through contact: simulated tosses with a truth, real ones beside MuJoCo C."""

import numpy as np
import pytest

from benchmarks import identification as bench
from mjx_like.compiler.load import from_xml_path
from mjx_like.leaves.change import with_leaves
from mjx_like.rollout.rollout import rollout
from mjx_like.state.batch import batch
from mjx_like.state.initial import make_data
from mjx_like.sysid.fit import fit
from mjx_like.sysid.leaf import bounded
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.recording import Recording

pytestmark = pytest.mark.slow
FRAMES = 45
NAMES = ("geom_friction@table[0]", "geom_solref@table[0]")


@pytest.fixture(scope="module")
def m():
    return from_xml_path(str(bench.ROOT / "models/cube.xml"))


@pytest.fixture(scope="module")
def tosses():
    data = np.load(bench.ROOT / "notebooks/data/cube_tosses.npz")
    return [data["frames"][a : a + FRAMES].astype(float) for a in data["start"][:4]]


@pytest.fixture(scope="module")
def parameters(m):
    return Parameters(m, [bounded(NAMES[0], 0.02, 1.0, start=0.4), bounded(NAMES[1], 0.0034, 0.1, start=0.015)])


def test_simulated_tosses_give_the_truth(m, tosses, parameters):
    """Secants find the neighbourhood from far away, small differences the truth from there."""
    true = with_leaves(m, dict(zip(NAMES, (0.18, 0.008), strict=True)))
    first = [[x[0] for x in bench.states(toss)] for toss in tosses]
    qpos, qvel = (np.array([x[i] for x in first]) for i in range(2))
    path = rollout(true, batch(make_data(m), qpos=qpos, qvel=qvel), steps=4 * (FRAMES - 1), every=4)
    time = np.arange(FRAMES) / bench.RATE
    recordings = [
        Recording(time, qpos=np.r_[qpos[i : i + 1], path.qpos[i]], qvel=np.r_[qvel[i : i + 1], path.qvel[i]])
        for i in range(len(tosses))
    ]
    options = {"noise": {"qpos": 1e-3, "qvel": 0.1}, "lengths": (5, 15), "progress": False, "iterations": (12, 8)}
    near = fit(m, recordings, parameters, step=0.02, **options)
    np.testing.assert_allclose(near.values, [0.18, 0.008], rtol=0.02)
    again = Parameters(near.model, [bounded(NAMES[0], 0.02, 1.0), bounded(NAMES[1], 0.0034, 0.1)])
    found = fit(near.model, recordings, again, **options)
    np.testing.assert_allclose(found.values, [0.18, 0.008], rtol=1e-6)
    assert found.noise_scale < 1e-3


def test_real_tosses(m, tosses, parameters):
    """The friction is near the published 0.18, and MuJoCo C with the same parameters misses by as much."""
    recordings = [bench.recording_of_toss(toss) for toss in tosses]
    options = {"lengths": (15, None), "progress": False, "iterations": (6, 6), "step": 0.05}
    found = fit(m, recordings, parameters, noise=bench.NOISE, **options)
    assert 0.12 < found.values[0] < 0.25
    ours, c = bench.simulated_errors(found.model, tosses), bench.mujoco_errors(found.model, tosses)
    start = bench.simulated_errors(m, tosses)
    assert ours[0] < start[0]
    np.testing.assert_allclose(ours, c, rtol=0.02)
