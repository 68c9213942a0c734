"""Sensors that look at the scene, on models of their own, against MuJoCo."""

import pathlib

import numpy as np
import pytest

from tests.oracle import TIGHT, error
from tests.sensor.against import compare

FEATURES = pathlib.Path(__file__).parents[2] / "models/features"


@pytest.mark.parametrize("name", ["rangefinder_surface"])
def test_sensors_equal_oracle(name):
    rows, _ = compare(str(FEATURES / f"{name}.xml"), count=6)
    assert [(kind.name, error(ours, theirs)) for kind, ours, theirs in rows if not error(ours, theirs) < TIGHT] == []
    assert all(np.abs(theirs).any() for _, _, theirs in rows)
