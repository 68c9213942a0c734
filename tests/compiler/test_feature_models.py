"""Our own model of each feature compiles to MuJoCo's arrays."""

import pathlib

import pytest

from tests.compiler.compare import differences

FEATURES = sorted((pathlib.Path(__file__).parents[2] / "models/features").glob("*.xml"))


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_feature_model(path):
    assert differences(str(path)) == {}
