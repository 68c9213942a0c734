"""Recordings and segments: streams with their own times, missing values, frames between steps, messages."""

import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import InputError
from mjx_like.sysid.fit import fit
from mjx_like.sysid.leaf import positive
from mjx_like.sysid.recording import Recording, recording_of
from mjx_like.sysid.segments import segments
from tests.sysid import pendulum

PARTS = [positive(name) for name in pendulum.NAMES]


@pytest.fixture(scope="module")
def m():
    return pendulum.model()


@pytest.fixture(scope="module")
def moved(m):
    return pendulum.motion(m)


def test_streams_are_merged_on_the_union_of_their_times():
    r = Recording(qpos=([0.0, 0.1, 0.2], np.ones((3, 1))), sensordata=([0.05, 0.1 + 1e-12], [[2.0], [3.0]]))
    np.testing.assert_allclose(r.time, [0, 0.05, 0.1, 0.2])
    np.testing.assert_array_equal(r.qpos[:, 0], [1, np.nan, 1, 1])
    np.testing.assert_array_equal(r.sensordata[:, 0], [np.nan, 2, 3, np.nan])
    assert r.qvel is None and "4 frames, 0 to 0.2 s: qpos, sensordata" in repr(r)


def test_segments_are_padded_and_joined(m, moved):
    time, qpos, qvel, _, ctrl = moved
    r = Recording(time, qpos=qpos, qvel=qvel, ctrl=(time[:-1], ctrl))
    s = segments(m, [r, Recording(time[:31], qpos=qpos[:31], qvel=qvel[:31])], 80)
    assert s.recording.tolist() == [0, 0, 0, 1] and s.first.tolist() == [0, 80, 160, 0]
    assert s.joined.tolist() == [True, True, False, False] and s.steps == 80
    seen = np.isfinite(s.measured["qpos"])
    assert seen.shape == (4, 81, 1) and seen.sum(axis=(1, 2)).tolist() == [81, 81, 41, 31]
    np.testing.assert_array_equal(s.start["qvel"][1], qvel[80])
    np.testing.assert_array_equal(s.ctrl[1], ctrl[80:160])
    assert not s.ctrl[3].any(), "without controls: zero"


def test_controls_are_held(m, moved):
    time, qpos, qvel, _, _ = moved
    r = Recording(time, qpos=qpos, qvel=qvel, ctrl=([0.0, 0.055, 0.1], [[1.0], [2.0], [3.0]]))
    found = segments(m, [r]).ctrl[0, :, 0]
    assert found[:12].tolist() == [1] * 6 + [2] * 4 + [3] * 2


def test_true_parameters_leave_no_residual(m, moved):
    """Every channel, each at its own times, a fifth of the values missing; sensors stand for the start of a step."""
    time, qpos, qvel, sensors, ctrl = moved
    rng = np.random.default_rng(0)
    holes = [np.where(rng.uniform(size=x.shape) < 0.2, np.nan, x) for x in (qpos[::3], qvel[::5], sensors[::2])]
    r = Recording(
        qpos=(time[::3], holes[0]), qvel=(time[::5], holes[1]), sensordata=(time[:-1:2], holes[2]),
        ctrl=(time[:-1], ctrl), start={"qpos": [1.0], "qvel": [0.0]},
    )  # fmt: skip
    found = fit(m, [r], PARTS, iterations=1, progress=False)
    for name, values in found.residuals.items():
        assert np.abs(values).max() < 1e-9, name
    kept = sum(np.isfinite(x).sum() for x in holes) - sum(np.isfinite(x[0]).sum() for x in holes[:2])
    assert found.problem.count() == kept, "the start is known: it is not compared"


def test_frames_between_steps_are_interpolated(m, moved):
    time, qpos, qvel, _, ctrl = moved
    at = np.arange(0, 1.9, 0.0137)
    r = Recording(
        qpos=(at, np.interp(at, time, qpos[:, 0])[:, None]),
        ctrl=(time[:-1], ctrl),
        start={"qpos": [1.0], "qvel": [0.0]},
    )
    found = fit(m, [r], PARTS, iterations=1, progress=False)
    assert np.abs(found.residuals["qpos"]).max() < 1e-9
    assert (found.problem.segments.share[0, 1:] > 0).sum() > 100


def test_a_velocity_that_was_not_measured_is_estimated(m, moved):
    time, qpos, qvel, _, _ = moved
    s = segments(m, [Recording(time, qpos=qpos)], 50)
    between = 0.5 * (qvel + np.roll(qvel, -1, axis=0))  # positions move with the velocity at the end of a step
    np.testing.assert_allclose(s.start["qvel"][1:], between[[50, 100, 150]], atol=1e-9)


@pytest.mark.slow
def test_rotations_are_compared_on_the_tangent_space():
    body = "<body name='b'><freejoint/><geom size='.1'/></body>"
    m = from_xml_string(f"<mujoco><option gravity='0 0 0'/><worldbody>{body}</worldbody></mujoco>")
    half = 0.15
    second = [0.1, 0, 0, np.cos(half), 0, 0, np.sin(half)]
    turned = np.array([[0, 0, 0, 1, 0, 0, 0], second, [0, 0, 0, np.nan, 0, 0, 0]])
    r = Recording([0.0, 0.01, 0.02], qpos=turned, start={"qpos": turned[0], "qvel": np.zeros(6)})
    found = fit(m, [r], [positive("body_mass@b")], noise={"qpos": 0.5}, iterations=1, progress=False)
    np.testing.assert_allclose(found.residuals["qpos"][0, 1], [-0.2, 0, 0, 0, 0, -0.6], atol=1e-12)
    assert not found.residuals["qpos"][0, 2].any() and found.problem.count() == 9


def test_recording_of_a_rollout(m, moved):
    time, qpos, qvel, sensors, ctrl = moved

    class Path:
        pass

    path, start = Path(), Path()
    path.time, path.qpos, path.qvel, path.sensordata = time[1:], qpos[1:], qvel[1:], sensors
    start.time, start.qpos, start.qvel = 0.0, qpos[0], qvel[0]
    r = recording_of(path, start, ctrl, sensors=True)
    assert len(r.time) == 201 and np.isnan(r.sensordata[-1]).all()
    found = fit(m, [r], PARTS, iterations=1, progress=False)
    assert max(np.abs(x).max() for x in found.residuals.values()) < 1e-9


ONE = np.zeros((3, 1))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Recording([0, 1, 2]), "nothing measured"),
        (lambda: Recording([0, 2, 1], qpos=ONE), "finite and increasing"),
        (lambda: Recording([0, 1], qpos=ONE), r"qpos has shape \(3, 1\); it must be \(2, size\)"),
        (lambda: Recording(qpos=ONE), r"qpos has no times: give time=, or qpos=\(times, values\)"),
        (lambda: Recording([0, 1, 2], qpos=ONE, ctrl=ONE * np.nan), "ctrl has values that are not finite"),
        (lambda: Recording([0, 1, 2], qpos=ONE, start={"qacc": [0]}), "allowed are qpos and qvel"),
    ],
)
def test_messages_of_recordings(make, message):
    with pytest.raises(InputError, match=message) as raised:
        make()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "recording, length, message",
    [
        (Recording([0, 1, 2], qpos=np.zeros((3, 2))), None, "recording 0: qpos has 2 columns, the model has nq = 1"),
        (Recording([0, 1, 2], qvel=ONE), None, "begins at frame 0, 0 s, where qpos is not complete"),
        (Recording([0, 1, 2], qpos=[[0], [np.nan], [0]], qvel=ONE), 1, "begins at frame 1, 1 s, where qpos is not"),
        (Recording([0, 1, 2], qpos=[[0], [np.nan], [np.nan]]), None, "where qvel is neither measured nor to be had"),
        (Recording([0], qpos=[[0.0]]), None, "has one frame"),
        (Recording([0, 1, 2], qpos=ONE, start={"qvel": [0, 0]}), None, "start qvel has shape"),
        (Recording([0, 1, 2], qpos=ONE), 0, "length=0: must be a whole number of at least 1"),
    ],
)
def test_messages_of_segments(m, recording, length, message):
    with pytest.raises(InputError, match=message):
        segments(m, [recording], length)
    with pytest.raises(InputError, match="must be a list of Recording"):
        segments(m, recording)
