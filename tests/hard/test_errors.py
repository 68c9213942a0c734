"""What hard contact refuses, and how it says so."""

import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, UnsupportedError

XML = """<mujoco>{}<worldbody><geom type="plane" size="1 1 1"/>
<body><freejoint/><geom size=".1" {}/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "values, message",
    [
        ({"gap": 0.0}, "gap=0.0 must be above 0"),
        ({"slip": -1.0}, "slip=-1.0 must be above 0"),
        ({"grad_gap": "wide"}, "grad_gap='wide' must be above 0"),
        ({"iterations": 0}, "iterations"),
        ({"refresh": -1}, "refresh"),
    ],
)
def test_values(values, message):
    with pytest.raises(InputError, match=message):
        mjx.with_hard_contact(mjx.Model.from_xml_string(XML.format("", "")), **values)


def test_with_smoothing():
    m = mjx.with_smoothing(mjx.Model.from_xml_string(XML.format("", "")))
    with pytest.raises(InputError, match=r"without_smoothing\(m\) first"):
        mjx.with_hard_contact(m)


@pytest.mark.parametrize(
    "option, attribute, message",
    [
        ('<option integrator="discrete"/>', "", "no integrator discrete: take implicitfast"),
        ('<option><flag fwdinv="enable"/></option>', "", "no flag fwdinv"),
    ],
)
def test_what_it_does_not_do(option, attribute, message):
    with pytest.raises(UnsupportedError, match=message):
        mjx.with_hard_contact(mjx.Model.from_xml_string(XML.format(option, attribute)))
