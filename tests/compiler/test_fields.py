"""Every field, option, statistic and name of a compiled model equals mjModel's."""

import pathlib

import pytest

from tests.compiler.compare import differences
from tests.compiler.features import FEATURES
from tests.support.oracle import GYM

SUITE = pathlib.Path(__import__("dm_control").__file__).parent / "suite"
SUITE_FILES = (
    "acrobot", "ball_in_cup", "cartpole", "cheetah", "finger", "fish", "hopper", "humanoid", "humanoid_CMU",
    "pendulum", "point_mass", "reacher", "swimmer", "walker", "quadruped",
)  # fmt: skip
REAL = [*sorted(GYM.glob("*.xml")), *(SUITE / f"{name}.xml" for name in SUITE_FILES)]


@pytest.mark.parametrize("name", FEATURES)
def test_feature(name):
    assert differences(FEATURES[name]) == {}


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_model(path):
    assert differences(str(path)) == {}
