"""The loaders give the Model that put_model gives, and take the same arguments."""

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_path, from_xml_string
from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from tests.compiler.features import FEATURES
from tests.support.images import image
from tests.support.oracle import GYM


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
    png = image(7, 5)
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


def test_loading_compiles_no_program():
    """XLA would make one for every new shape of a leaf that it casts, which takes a second in all."""
    compiled = []

    def listen(event, *_, **__):
        compiled.append(event)

    geom = '<geom size=".1"/>'
    bodies = "".join(f"<body><site/>{geom * (1 + i % 3)}<freejoint/></body>" for i in range(37))
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        model = from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", dtype="float32")
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert model.body_mass.dtype == "float32" and not model.body_mass.weak_type
    assert sum("backend_compile" in event for event in compiled) <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_model_is_a_copy(dtype):
    mj = mujoco.MjModel.from_xml_path(str(GYM / "ant.xml"))
    model = put_model(mj, dtype=dtype)
    before = mj.body_mass.copy()
    mj.body_mass[:] = 99
    np.testing.assert_allclose(model.body_mass, before, rtol=1e-6)
