"""The choice of contact in a model file and in the arguments of loaders: read, overridden, written, kept, refused."""

import jax
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, ModelError, UnsupportedError
from mjx_like.types.hard import CONTACT_OPTIONS

XML = """<mujoco>
<option {}/>
<worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .11"><freejoint/><geom size=".1"/></body></worldbody>
<custom>
  <numeric name="mine" data="1 2"/>
  {}
</custom>
</mujoco>"""
HARD = '<text name="contact" data="hard"/>'
ALL = (
    HARD
    + """<numeric name="contact_gap" data="1e-4"/><numeric name="contact_slip" data="0.25"/>
<numeric name="contact_recovery" data="2"/><numeric name="contact_grad_gap" data="1e-2"/>
<numeric name="contact_iterations" data="9"/><numeric name="contact_refresh" data="0"/>
<numeric name="contact_restitution" data=".5"/><numeric name="contact_rebound_speed" data=".2"/>"""
)
GIVEN = ("hard", 1e-4, 0.25, 1e-2, 2.0, 9, 0, 0.5, 0.2)


def model(custom="", option="", **options):
    return mjx.Model.from_xml_string(XML.format(option, custom), **options)


def contact(m):
    """Options of contact in the order of CONTACT_OPTIONS, as plain numbers."""
    values = (getattr(m.opt, name) for name in CONTACT_OPTIONS)
    return tuple(float(x) if hasattr(x, "dtype") else x for x in values)


def same(a, b):
    assert contact(a) == contact(b) and a.flags == b.flags
    jax.tree.map(np.testing.assert_array_equal, jax.tree.leaves(a.hard), jax.tree.leaves(b.hard))


def test_custom_elements():
    assert contact(model()) == ("soft", *[None] * 8)
    same(model(HARD), mjx.with_hard_contact(model()))
    m = model(ALL)
    np.testing.assert_allclose(contact(m)[1:], GIVEN[1:])
    assert m.flags.cone == mjx.ConeType.ELLIPTIC and m.opt.cone == mjx.ConeType.PYRAMIDAL
    assert m.njmax == mjx.with_hard_contact(model()).njmax


def test_what_the_file_says_of_hard_contact_rests_with_soft():
    assert contact(model(ALL.replace('"hard"', '"soft"')))[0] == "soft"
    same(model(ALL.replace('"hard"', '"soft"'), contact="hard"), model(ALL))
    assert contact(model('<numeric name="contact_gap" data="1 2 3"/><text name="contact_x" data="y"/>'))[0] == "soft"


def test_arguments_override_the_file():
    assert contact(model(ALL, contact="soft"))[0] == "soft"
    m = model(ALL, gap=1e-3)
    np.testing.assert_allclose(contact(m)[1:3], (1e-3, 0.25))
    m = model(contact="hard", gap=1e-3, slip=0.5)
    same(m, mjx.with_hard_contact(model(), 1e-3, 0.5))


def test_every_loader_takes_the_arguments(tmp_path):
    (tmp_path / "m.xml").write_text(XML.format("", ""))
    wanted = mjx.with_hard_contact(model(), 1e-3)
    asked = {"contact": "hard", "gap": 1e-3}
    same(mjx.Model.from_xml_path(str(tmp_path / "m.xml"), **asked), wanted)
    same(mjx.Spec.from_file(str(tmp_path / "m.xml")).compile(**asked), wanted)
    same(mjx.put_model(mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml")), **asked), wanted)
    mjx.save(tmp_path / "m.npz", model())
    same(mjx.load(tmp_path / "m.npz", **asked), wanted)


def test_mujoco_reads_the_same_file_and_gives_it_back():
    mj = mujoco.MjModel.from_xml_string(XML.format("", ALL))
    same(mjx.put_model(mj), model(ALL))
    assert contact(mjx.put_model(mj, contact="soft"))[0] == "soft"
    d = mujoco.MjData(mj)
    d.qvel[0] = 1.0
    mujoco.mj_step(mj, d, 50)
    ours = mjx.put_data(mj, d)
    np.testing.assert_array_equal(ours.qpos, d.qpos)
    np.testing.assert_array_equal(ours.qvel, d.qvel)
    assert ours.efc_type.shape == (model(ALL).njmax,) and d.nefc > 0


@pytest.mark.parametrize("custom", ["", HARD, ALL])
def test_saved_and_loaded(tmp_path, custom):
    m = mjx.with_hard_contact(model(custom), 2e-4, grad_gap=1e-3, refresh=2)
    mjx.save(tmp_path / "m.npz", m)
    same(mjx.load(tmp_path / "m.npz"), m)
    mjx.save(tmp_path / "m.npz", mjx.without_hard_contact(m))
    assert mjx.load(tmp_path / "m.npz").hard is None


@pytest.mark.parametrize("custom", ["", HARD, ALL])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_written(custom, dtype):
    m = mjx.with_hard_contact(model(custom, dtype=dtype), 2e-4, slip=0.1)
    text = mjx.Spec.from_model(m).to_xml()
    same(mjx.Model.from_xml_string(text, dtype=dtype), m)
    assert text.count('name="contact') == 8 and 'name="mine"' in text and '"0.0002"' in text
    soft = mjx.without_hard_contact(model(custom, dtype=dtype))
    text = mjx.Spec.from_model(soft).to_xml()
    same(mjx.Model.from_xml_string(text, dtype=dtype), soft)


def test_a_spec_keeps_it():
    spec = mjx.Spec.from_string(XML.format("", ALL))
    same(mjx.Model.from_xml_string(spec.to_xml()), model(ALL))
    m = spec.compile(contact="hard", gap=3e-3)
    again, _ = spec.recompile(m, mjx.make_data(m))
    same(again, m)


@pytest.mark.parametrize(
    "custom, message",
    [
        (
            '<text name="contact" data="hrad"/>',
            "'hrad' must be 'soft' or 'hard'; did you mean 'hard'?",
        ),
        ('<text name="contact" data="left foot"/>', "give a text of yours that means another thing another name"),
        (HARD + '<numeric name="contact_gap" data="0"/>', "data is 0, must be one number above 0"),
        (HARD + '<numeric name="contact_slip" data="1 2"/>', "data is 1 2, must be one number above 0"),
        (HARD + '<numeric name="contact_gap" data="1" size="2"/>', "data is 1 0, must be one number above 0"),
        (
            HARD + '<numeric name="contact_iterations" data="2.5"/>',
            "data is 2.5, must be one whole number of at least 1",
        ),
        (HARD + '<numeric name="contact_restitution" data="1.5"/>', "data is 1.5, must be one number from 0 to 1"),
        (HARD + '<numeric name="contact_refresh" data="-1"/>', "must be one whole number of at least 0"),
        (HARD + '<numeric name="contact_gpa" data="1"/>', "is no option of contact; did you mean 'contact_gap'?"),
        (HARD + '<text name="contact_gap" data="1"/>', "beside the text 'contact' this is a number"),
    ],
)
def test_mistakes_in_the_file(tmp_path, custom, message):
    path = tmp_path / "m.xml"
    path.write_text(XML.format("", custom))
    with pytest.raises(ModelError) as mistake:
        mjx.Model.from_xml_path(str(path))
    assert message in str(mistake.value) and "m.xml:6: element <" in str(mistake.value)
    with pytest.raises(ModelError, match="custom field 'contact"):
        mjx.put_model(mujoco.MjModel.from_xml_path(str(path)))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"contact": "harder"}, "contact='harder': must be 'soft' or 'hard'; did you mean 'hard'?"),
        ({"gap": 1e-3}, "gap belongs to hard contact: give contact='hard' with it"),
        ({"contact": "soft", "slip": 1e-3}, "slip belongs to hard contact"),
        ({"contact": "hard", "gap": -1}, "gap=-1 must be above 0"),
    ],
)
def test_mistakes_in_arguments(options, message):
    with pytest.raises(InputError) as mistake:
        model(**options)
    assert message in str(mistake.value)


def test_a_model_that_hard_contact_cannot_step():
    with pytest.raises(UnsupportedError, match="no integrator discrete"):
        model(HARD, 'integrator="discrete"')
    assert model(HARD, 'integrator="discrete"', contact="soft").hard is None
