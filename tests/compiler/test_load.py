"""The loaders give the Model that put_model gives, and take the same arguments."""

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_path, from_xml_string
from mjx_like.errors import InputError
from mjx_like.interop import put_model
from tests.compiler.features import FEATURES
from tests.oracle import GYM


@pytest.mark.parametrize("name", ["ant.xml", "humanoid.xml"])
def test_path_equals_put_model(name):
    ours = from_xml_path(str(GYM / name))
    theirs = put_model(mujoco.MjModel.from_xml_path(str(GYM / name)))
    assert ours.topology == theirs.topology
    for mine, reference in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-6, atol=1e-6)
        assert mine.dtype == reference.dtype


def test_string_with_included_file():
    xml = '<mujoco><include file="part.xml"/></mujoco>'
    part = b'<mujoco><worldbody><body name="b"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    model = from_xml_string(xml, assets={"part.xml": part})
    assert (model.nv, model.body("b").id) == (6, 1)


def test_texture_and_hfield_from_assets():
    xml = """<mujoco><asset><texture name="t" type="2d" file="t.png"/><hfield name="h" file="h.bin" size="1 1 1 1"/>
      </asset><worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>"""
    png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (7).to_bytes(4, "big") + (5).to_bytes(4, "big") + b"\x08\2\0\0\0"
    heights = np.array([[0, 1, 2], [3, 4, 8]], "<f4")
    hfield = np.array([2, 3], "<i4").tobytes() + heights.tobytes()
    model = from_xml_string(xml, assets={"t.png": png, "h.bin": hfield})
    assert (model.tex_width[0], model.tex_height[0]) == (7, 5)
    np.testing.assert_allclose(np.asarray(model.hfield_data), heights.ravel() / 8, rtol=1e-6)


def test_capacity_and_dtype():
    model = from_xml_string(FEATURES["joints"], nconmax=7, njmax=9, dtype=np.float32, active=("geom_adhesion",))
    assert (model.topology.nconmax, model.topology.njmax) == (7, 9)
    assert all(leaf.dtype == np.float32 for leaf in jax.tree.leaves(model))
    assert model.topology.has["geom_adhesion"].all()
    with pytest.raises(InputError, match="decides no term"):
        from_xml_string(FEATURES["empty"], active=("nothing",))
