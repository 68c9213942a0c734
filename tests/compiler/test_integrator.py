"""The variational integrator in a model file: read, kept by every way of writing, left alone by MuJoCo, refused."""

import functools

import mujoco
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, ModelError, UnsupportedError
from mjx_like.types.enums import IntegratorType

XML = """<mujoco><option integrator="{}"/>
<worldbody><body><freejoint/><geom size=".1"/></body></worldbody>
<custom><text name="mine" data="yours"/>{}</custom></mujoco>"""
TEXT = '<text name="integrator" data="variational"/>'
VARIATIONAL = IntegratorType.VARIATIONAL


def model(custom="", option="implicitfast"):
    return mjx.Model.from_xml_string(XML.format(option, custom))


def changed(m, integrator):
    return m.replace(opt=m.opt.replace(integrator=integrator))


def test_the_text_goes_before_the_attribute():
    assert model(TEXT).opt.integrator == VARIATIONAL
    assert model().opt.integrator == IntegratorType.IMPLICITFAST


def test_by_word_and_by_member():
    m = model()
    assert changed(m, "variational").flags == changed(m, VARIATIONAL).flags == model(TEXT).flags
    assert changed(model(TEXT), "RK4").opt.integrator == IntegratorType.RK4


def test_mujoco_reads_the_same_file_and_gives_it_back():
    mj = mujoco.MjModel.from_xml_string(XML.format("implicitfast", TEXT))
    assert mj.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert mjx.put_model(mj).opt.integrator == VARIATIONAL


@pytest.mark.parametrize("name", ["m.xml", "m.npz"])
def test_files_keep_it(tmp_path, name):
    """Both ways: also that a file says no more of it once the model has another integrator."""
    write = mjx.save_xml if name.endswith("xml") else mjx.save
    read = mjx.Model.from_xml_path if name.endswith("xml") else mjx.load
    for m in (changed(model(), "variational"), changed(model(TEXT), "RK4")):
        write(tmp_path / name, m)
        assert read(str(tmp_path / name)).opt.integrator == m.opt.integrator
        if name.endswith("xml"):
            mujoco.MjModel.from_xml_path(str(tmp_path / name))


@pytest.mark.parametrize("asked", ["variational", "RK4", VARIATIONAL])
@pytest.mark.parametrize("custom", ["", TEXT])
def test_every_loader_takes_it_over_the_file(tmp_path, custom, asked):
    xml, path = XML.format("implicitfast", custom), tmp_path / "m.xml"
    path.write_text(xml)
    mjx.save(tmp_path / "m.npz", model(custom))
    kind = changed(model(), asked).opt.integrator
    for m in (
        mjx.Model.from_xml_string(xml, integrator=asked),
        mjx.Model.from_xml_path(str(path), integrator=asked),
        mjx.Spec.from_string(xml).compile(integrator=asked),
        mjx.load(tmp_path / "m.npz", integrator=asked),
        mjx.put_model(mujoco.MjModel.from_xml_string(xml), integrator=asked),
    ):
        assert m.opt.integrator == kind


def test_a_loader_with_hard_contact():
    xml = XML.format("discrete", "")
    assert mjx.Model.from_xml_string(xml, contact="hard", integrator="variational").opt.integrator == VARIATIONAL
    with pytest.raises(UnsupportedError, match="hard contact has no integrator discrete"):
        mjx.Model.from_xml_string(XML.format("Euler", ""), contact="hard", integrator="discrete")


def test_a_spec_keeps_it():
    spec = mjx.Spec.from_model(model(TEXT))
    assert spec.compile().opt.integrator == VARIATIONAL
    assert mjx.Model.from_xml_string(spec.to_xml()).opt.integrator == VARIATIONAL


@pytest.mark.parametrize(
    "word, remedy",
    [("RK4", "give it to the attribute 'integrator' of <option>"), ("mine", "give your text another name")],
)
def test_another_word_is_refused(word, remedy):
    xml = XML.format("Euler", TEXT.replace("variational", word))
    for load in (mjx.Model.from_xml_string, lambda xml: mjx.put_model(mujoco.MjModel.from_xml_string(xml))):
        with pytest.raises(ModelError) as mistake:
            load(xml)
        assert f"chooses the integrator: '{word}' must be 'variational'; {remedy}" in str(mistake.value)


def test_the_attribute_does_not_have_it():
    with pytest.raises(ModelError, match="variational"):
        model(option="variational")
    for choose in (model().opt.replace, functools.partial(mjx.Model.from_xml_string, XML.format("Euler", ""))):
        with pytest.raises(InputError, match="integrator='variationl': must be an IntegratorType: .*VARIATIONAL=100"):
            choose(integrator="variationl")
