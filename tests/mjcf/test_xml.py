"""XML as MuJoCo's parser takes it: sections of text, slips, places of errors, depth."""

import time

import mujoco
import pytest

from mjx_like.compiler.compile import compile_spec
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.writer import to_xml
from tests.mjcf.messages import error


def test_cdata_text():
    spec = parse_string("<mujoco><custom><text name='a'><![CDATA[x < y]]></text></custom></mujoco>")
    assert spec.sections["custom"][0].get("data") == "x < y"


def test_what_tinyxml_lets_through():
    xml = "\ufeff<mujoco xmlns:x='http://a' x:y='1'><!-- a -- b\n -->\n<option timestep='1'/>text</mujoco>"
    assert parse_string(xml).option["timestep"] == 1


def test_line_numbers_survive_comments_and_long_tags():
    message = error("<mujoco>\n<!-- a\n b -->\n<worldbody>\n<geom\n size='1'\n bad='1'/>\n</worldbody></mujoco>")
    assert message.startswith(("<string>:5:", "<string>:7:"))


BALL = '<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>'
SLIPS = {
    "version 0": '<?xml version="0.0" ?>' + BALL,
    "no version": '<?xml encoding="utf-8"?>' + BALL,
    "no quotes": "<?xml version=1.0?>" + BALL,
    "line before": '\n<?xml version="1.0"?>\n' + BALL,
    "two declarations": '<?xml version="1.0"?>\n<?xml version="1.0"?>' + BALL,
    "a byte 0": BALL + "\0<",
    "half a comment": BALL.replace("<body ", "<! no comment ><body "),
    "no space between attributes": BALL.replace('name="a"', "name=\"a\"pos='1 2 3'"),
    "space before a name": BALL.replace("<body", "< body"),
    "ampersand": BALL.replace('"a"', '"a&b &d;"'),
    "less": BALL.replace('"a"', '"a<b"'),
    "text": BALL.replace("<geom", "a & b ]]> c &lt; <geom"),
}


@pytest.mark.parametrize("case", SLIPS)
def test_slips_that_mujoco_takes(case):
    theirs = mujoco.MjModel.from_xml_string(SLIPS[case])
    name = parse_string(SLIPS[case]).worldbody.children[0].attrib["name"]
    assert [name] == [theirs.body(i).name for i in range(1, theirs.nbody)]


def test_errors_after_a_slip_name_their_line():
    assert error(SLIPS["version 0"].replace("</body>", "\n</boddy>")).startswith("<string>:2: malformed XML: Opening")
    assert error(SLIPS["ampersand"].replace("<geom", "\n<gem")).startswith("<string>:2: element <gem>: unknown")


@pytest.mark.parametrize("start", ["<!--", "<![CDATA[", "<!", "<?", "<a b='", "<a"])
def test_many_starts_without_an_end_are_refused_in_time(start):
    begun = time.perf_counter()
    assert error(start * 50_000).startswith("<string>:1: malformed XML")
    assert time.perf_counter() - begun < 10


def test_deep_nesting_ends_in_an_error():
    assert "malformed XML" in error("<mujoco><worldbody>" + "<body>" * 5000)
    deep = "<mujoco><worldbody>" + "<body>" * 498 + "</body>" * 498 + "</worldbody></mujoco>"
    with pytest.raises(ValueError, match="DEPTH"):
        mujoco.MjSpec.from_string(deep)
    assert error(deep) == "<string>:1: malformed XML: elements within 499 others"


def test_a_long_chain_is_read_compiled_and_written():
    chain = "<mujoco><worldbody>" + "<body><geom size='1'/>" * 496 + "</body>" * 496 + "</worldbody></mujoco>"
    spec = parse_string(chain)
    assert len(list(spec.worldbody.iter("body"))) == 496
    assert to_xml(parse_string(to_xml(spec))) == to_xml(spec)
    assert compile_spec(spec).fields["nbody"] == mujoco.MjModel.from_xml_string(chain).nbody == 497
