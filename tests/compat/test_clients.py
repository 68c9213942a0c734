"""MuJoCo Playground and Brax on this engine, beside MJX: observations, rewards and states of ten control steps."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("mujoco_playground", "brax")),
        reason="needs the extra `clients`",
    ),
]

PLAYGROUND = ("AcrobotSwingup", "AcrobotSwingupSparse", "BallInCup", "CartpoleBalance", "CartpoleBalanceSparse")
PLAYGROUND += ("CartpoleSwingup", "CartpoleSwingupSparse", "CheetahRun", "FingerSpin", "FingerTurnEasy")
PLAYGROUND += ("FingerTurnHard", "FishSwim", "HopperHop", "HopperStand", "HumanoidRun", "HumanoidStand", "HumanoidWalk")
PLAYGROUND += ("PendulumSwingup", "PointMass", "ReacherEasy", "ReacherHard", "SwimmerSwimmer6")
PLAYGROUND += ("WalkerRun", "WalkerStand", "WalkerWalk")
# Brax gives ant and humanoid one iteration of Newton, after which two engines are at two points: there it may converge.
BRAX = ("brax:ant@", "brax:halfcheetah", "brax:hopper", "brax:humanoid@")

LIMITS = {"brax:halfcheetah": 1e-11}  # rounding grows over its 50 steps in contact, from 1e-15 after the first five


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    runs = []
    for engine in ("mjx", "mjx_like"):
        call = [sys.executable, "-m", "tests.compat.play", engine, str(folder / f"{engine}.npz"), *PLAYGROUND, *BRAX]
        runs.append(subprocess.Popen(call, env={**os.environ, "JAX_PLATFORMS": "cpu"}))
    assert [run.wait() for run in runs] == [0, 0]
    return [np.load(folder / f"{engine}.npz") for engine in ("mjx", "mjx_like")]


@pytest.mark.parametrize("name", PLAYGROUND + BRAX)
def test_steps_equal_those_of_mjx(results, name):
    theirs, ours = results
    for field in ("obs", "reward", "qpos", "qvel", "xpos", "sensordata"):
        expected, found = theirs[f"{name}/{field}"], ours[f"{name}/{field}"]
        assert found.shape == expected.shape
        error = np.abs(found - expected).max(initial=0) / (1 + np.abs(expected).max(initial=0))
        assert error < LIMITS.get(name, 1e-12), field
