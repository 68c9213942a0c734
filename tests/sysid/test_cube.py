"""The tossed cube: parameters through contact, vertices one by one, real tosses beside MuJoCo C."""

import mujoco
import numpy as np
import pytest

from benchmarks import identification as bench
from mjx_like.compiler.load import from_xml_path
from mjx_like.leaves.change import with_leaves
from mjx_like.rollout.rollout import rollout
from mjx_like.state.batch import batch
from mjx_like.state.initial import make_data
from mjx_like.sysid.fit import fit
from mjx_like.sysid.leaf import bounded, free
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.recording import Recording

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


@pytest.mark.slow
def test_vertices_one_by_one(m):
    """Gauss-Newton finds 24 numbers and the friction from motions of MuJoCo C; vertices start 2 mm off at most."""
    rng = np.random.default_rng(0)
    c = mujoco.MjModel.from_xml_path(str(bench.ROOT / "models/cube.xml"))
    c.geom_pos[-8:] += rng.uniform(-2e-3, 2e-3, (8, 3))
    c.geom_friction[0, 0], c.opt.tolerance = 0.22, 1e-14
    recordings = [pressed(c, vertex, rng) for vertex in (*range(8), *range(8))]
    parts = [bounded("geom_friction@table[0]", 0.02, 1.0), free(bench.VERTICES, scale=1e-3)]
    noise = {"qpos": 1e-4, "qvel": 1e-2}
    found = fit(m, recordings, parts, noise=noise, method="gauss-newton", iterations=5, progress=False)
    np.testing.assert_allclose(found.values[1:].reshape(8, 3), c.geom_pos[-8:], atol=1e-9)
    assert found.values[0] == pytest.approx(0.22, rel=1e-7)
    assert found.labels[-1] == "geom_pos@vertex_7 (2,)" and np.isfinite(found.standard_errors).all()


def pressed(c, vertex, rng, steps=8):
    """Return the motion of a cube that slides and turns at random, a vertex about 8 mm below the table at first."""
    up = -c.geom_pos[-8 + vertex] + rng.uniform(-0.01, 0.01, 3)
    up /= np.linalg.norm(up)
    d = mujoco.MjData(c)
    d.qpos[:] = np.r_[0, 0, 0.082, 1 + up[2], up[1], -up[0], 0]  # turns `up` to the vertical
    d.qpos[3:] /= np.linalg.norm(d.qpos[3:])
    d.qvel[:] = rng.normal(size=6) * np.repeat([0.3, 2.0], 3)
    states = [(d.qpos.copy(), d.qvel.copy())]
    for _ in range(steps):
        mujoco.mj_step(c, d)
        states.append((d.qpos.copy(), d.qvel.copy()))
    qpos, qvel = map(np.array, zip(*states, strict=True))
    return Recording(c.opt.timestep * np.arange(steps + 1), qpos=qpos, qvel=qvel)


@pytest.mark.slow
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


@pytest.mark.slow
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
