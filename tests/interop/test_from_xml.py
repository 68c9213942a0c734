"""put_model of MuJoCo's compile result equals from_xml_path, leaf for leaf, on models that nobody here wrote."""

import pathlib

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.types.model import Model
from tests.support.oracle import GYM

SUITE = pathlib.Path(__import__("dm_control").__file__).parent / "suite"
NAMES = (
    "acrobot ball_in_cup cartpole cheetah finger fish hopper humanoid humanoid_CMU pendulum point_mass quadruped "
    "reacher swimmer walker"
)
FILES = [*sorted(GYM.glob("*.xml")), *(SUITE / f"{name}.xml" for name in NAMES.split())]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_put_model_equals_from_xml(path):
    ours, theirs = Model.from_xml_path(str(path)), put_model(mujoco.MjModel.from_xml_path(str(path)))
    assert ours.topology == theirs.topology
    pairs = zip(jax.tree_util.tree_leaves_with_path(ours), jax.tree.leaves(theirs), strict=True)
    for (place, a), b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9, err_msg=jax.tree_util.keystr(place))
