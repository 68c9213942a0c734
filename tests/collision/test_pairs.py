"""Each pair of geom types against the oracle: which points touch, where, how deep, and with what parameters."""

import numpy as np
import pytest

from tests.collision import scene

CLOSED = [
    "plane-sphere", "plane-capsule", "plane-ellipsoid", "plane-cylinder", "plane-box", "sphere-sphere",
    "sphere-capsule", "sphere-cylinder", "sphere-box", "capsule-capsule", "capsule-box", "box-box",
]  # fmt: skip


def _check(mj, m, qpos, dist: float, pos: float, frame: float, least: int):
    reference = scene.oracle(mj, qpos)
    worst = scene.compare(scene.ours(m, reference), reference)
    assert worst["wrong"] == []
    assert worst["contacts"] >= least
    assert worst["dist"] <= dist and worst["pos"] <= pos and worst["frame"] <= frame
    for name in ("includemargin", "friction", "solref", "solreffriction", "solimp"):
        assert worst[name] == 0


@pytest.mark.parametrize("pair", CLOSED)
def test_closed_form_equals_oracle(pair):
    kinds = pair.split("-")
    mj, m = scene.model(*kinds, margin=0.01, gap=0.02)
    reach = 0.15 if kinds[0] == "plane" else 0.3
    tilts = (None, 0.0, 1e-3, 5e-5)
    qpos = np.concatenate([scene.poses(mj, 60, seed, reach, tilt) for seed, tilt in enumerate(tilts)])
    _check(mj, m, qpos, 1e-12, 1e-11, 1e-10, least=100)


@pytest.mark.parametrize("second", ["cylinder", pytest.param("box", marks=pytest.mark.slow)])
def test_cylinders_that_stand_on_a_face_have_four_points(second):
    mj, m = scene.model("cylinder", second)
    height = 0.239 if second == "cylinder" else 0.249
    reference = scene.oracle(mj, np.array([[0, 0, 0, 1, 0, 0, 0, 0.01, 0.02, height, 1, 0, 0, 0]]))
    data = scene.ours(m, reference)
    assert data.ncon[0] == reference[0].ncon == 4
    np.testing.assert_allclose(data.contact.dist[0, :4], -0.001, atol=1e-12)
    np.testing.assert_allclose(data.contact.frame[0, :4, 0], [[0, 0, 1]] * 4, atol=1e-9)


def test_parallel_capsules_touch_twice_and_end_to_end():
    mj, m = scene.model("capsule", "capsule", margin=0.1)
    quarter = np.array([np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0])
    flipped = np.array([0.0, 1, 0, 0])
    rows = [
        [0, 0, 0, 1, 0, 0, 0, 0.1, 0, 0.05, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0.1, 0, 0.05, *flipped],
        [0, 0, 0, *flipped, 0.1, 0, 0.05, 1, 0, 0, 0],
        [0, 0, 0, *quarter, 0.3, 0, 0.01, *quarter],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0.05, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, *quarter],
    ]
    _check(mj, m, np.array(rows), 1e-12, 1e-12, 1e-10, least=10)


def test_coincident_centres_have_a_normal():
    for kinds in (("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box")):
        mj, m = scene.model(*kinds)
        _check(
            mj,
            m,
            np.array([[0, 0, 0, 1, 0, 0, 0] * 2, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.8, 0.6, 0, 0]]),
            1e-12,
            1e-12,
            1e-12,
            2,
        )


def test_boxes_in_a_stack_touch_at_four_corners():
    mj, m = scene.model("box", "box", sizes=(".1 .1 .1", ".1 .1 .1"))
    rows = [[0, 0, 0, 1, 0, 0, 0, 0, 0, 0.199, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0.05, 0.02, 0.199, 1, 0, 0, 0]]
    _check(mj, m, np.array(rows), 1e-12, 1e-12, 1e-12, least=8)
