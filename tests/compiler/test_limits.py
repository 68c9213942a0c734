"""What is too deep, too large, too long or not finite ends in one line, soon and without much memory."""

import resource
import time

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision import candidate_pairs
from mjx_like.compiler import limits
from mjx_like.errors import ModelError
from mjx_like.mjcf.asset import obj
from mjx_like.mjcf.reading import file as reading

LOAD = mjx.Model.from_xml_string


pytestmark = pytest.mark.filterwarnings("ignore:.*has a NaN")


def error_of(xml: str, assets=None) -> str:
    """Return the message of a model that is refused, one line within ten seconds of processor time."""
    begin = time.process_time()
    with pytest.raises(ModelError) as found:
        LOAD(xml, assets)
    assert "\n" not in str(found.value) and time.process_time() - begin < 10
    return str(found.value)


def bodies(count: int, inside: str) -> str:
    return f"<mujoco><worldbody>{f'<body>{inside}</body>' * count}</worldbody></mujoco>"


def test_bodies_and_degrees_of_freedom_are_counted(monkeypatch):
    monkeypatch.setattr("mjx_like.compiler.tree.MAX_BODIES", 20)
    monkeypatch.setattr("mjx_like.compiler.tree.MAX_DOFS", 30)
    geom = '<geom size=".1"/>'
    assert error_of(bodies(20, geom)) == "<string>:1: element <body>: is one of 21 bodies; 20 are the most"
    free = "<freejoint/>" + geom
    assert "element <freejoint>: is of a model with 36 degrees of freedom; 30 are the most" in error_of(bodies(6, free))
    assert LOAD(bodies(5, free)).nv == 30


def test_a_hundred_thousand_bodies_are_refused():
    assert f"{limits.MAX_BODIES} are the most" in error_of(bodies(100_000, ""))


def test_twenty_thousand_free_bodies_are_refused():
    assert f"{limits.MAX_DOFS} are the most" in error_of(bodies(8_000, '<freejoint/><geom size=".1"/>'))


def test_geoms_that_cannot_touch_cost_no_memory():
    """Of 20,000 geoms that rest there are 200 million pairs, and none that can touch."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    m = LOAD("<mujoco><worldbody>" + '<geom size=".1"/>' * 20_000 + "</worldbody></mujoco>")
    assert m.ngeom == 20_000 and m.plans.collision.geom.size == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kB


def test_pairs_of_geoms_are_counted(monkeypatch):
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>{}</worldbody></mujoco>"""
    xml = xml.format('<body><freejoint/><geom size=".1"/></body>' * 5)
    monkeypatch.setattr(candidate_pairs, "MAX_PAIRS", 14)
    assert error_of(xml).startswith("15 pairs of geoms may touch, most of them with geom ")
    monkeypatch.setattr(candidate_pairs, "_MOST_EXAMINED", 14)
    assert error_of(xml).startswith("15 pairs of geoms may touch")
    monkeypatch.undo()
    assert len(LOAD(xml).plans.collision.geom) == 15


def test_blocks_of_bodies_give_the_pairs_of_all(monkeypatch):
    xml = bodies(9, '<freejoint/><geom size=".1"/><geom size=".2"/>').replace(
        "<worldbody>", '<worldbody><geom size="1"/>'
    )
    whole = LOAD(xml).plans.collision.geom
    monkeypatch.setattr(candidate_pairs, "_BLOCK", 7)
    np.testing.assert_array_equal(LOAD(xml).plans.collision.geom, whole)


def nested(depth: int, inside: str) -> str:
    return "".join(f'<body name="b{i}"><geom size=".1"/>' for i in range(depth)) + inside + "</body>" * depth


def test_models_attached_within_models_are_not_too_deep():
    part = f'<mujoco model="m"><worldbody>{nested(400, "")}</worldbody></mujoco>'.encode()
    top = '<mujoco><asset><model name="m" file="m.xml"/></asset><worldbody>{}</worldbody></mujoco>'
    attach = '<attach model="m" prefix="p"/>'
    assert "is within 501 others; 500 are the most" in error_of(top.format(nested(400, attach)), {"m.xml": part})
    assert LOAD(top.format(nested(50, attach)), {"m.xml": part}).nbody == 451


def test_a_tree_that_is_built_too_deep():
    spec = mjx.Spec()
    body = spec.worldbody
    for _ in range(1500):
        body = body.add_body()
        body.add_geom(size=[0.1, 0, 0])
    for done in (spec.compile, spec.to_xml):
        with pytest.raises(ModelError, match="is within 501 others; 500 are the most"):
            done()


@pytest.mark.parametrize("name", ["gravity", "wind", "magnetic"])
@pytest.mark.parametrize("value", ["nan 0 0", "0 inf 0"])
def test_options_are_finite(name, value):
    found = error_of(f'<mujoco><option {name}="{value}"/></mujoco>')
    assert found == f"<string>:1: element <option>: attribute '{name}' has a number that is not finite"


@pytest.mark.parametrize("name", ["timestep", "density", "viscosity", "tolerance", "impratio", "o_margin", "o_solref"])
def test_numbers_of_options_are_finite(name):
    assert f"'{name}' has a number that is not finite" in error_of(f'<mujoco><option {name}="nan"/></mujoco>')


@pytest.mark.parametrize("value", ["nan 0 0", "0 inf 0", "0 0 -inf"])
def test_angles_of_urdf_are_finite(value):
    inside = f'<collision><origin rpy="{value}"/><geometry><sphere radius="1"/></geometry></collision>'
    found = error_of(f'<robot name="r"><link name="a">{inside}</link></robot>')
    assert "element <origin>: attribute 'rpy' has a number that is not finite" in found


@pytest.mark.parametrize("size", [1 << 29, 5 << 30])
def test_a_file_of_gigabytes_is_not_read(tmp_path, size):
    path = tmp_path / "m.obj"
    with open(path, "wb") as file:
        file.truncate(size + 1)  # sparse: it takes no room
    found = error_of(f'<mujoco><asset><mesh name="m" file="{path}"/></asset></mujoco>')
    assert f"has {size + 1} bytes; {reading.MAX_BYTES} are the most" in found


def test_vertices_of_text_are_counted_first(monkeypatch):
    monkeypatch.setattr(obj, "MAX_VERTICES", 10)
    mesh = '<mujoco><asset><mesh name="m" file="{}"/></asset></mujoco>'
    assert "has 11 vertices; 10 are the most" in error_of(mesh.format("m.obj"), {"m.obj": b"\nv 1 2 3" * 11})
    assert "has a byte 0; is it an OBJ file?" in error_of(mesh.format("m.obj"), {"m.obj": bytes(100)})
    text = b"solid x facet " + b"vertex 1 2 3 " * 600_001
    assert "has 600001 vertices in its text" in error_of(mesh.format("m.stl"), {"m.stl": text})


def test_a_message_quotes_little_and_on_one_line():
    long = "x" * 5000
    for xml in (
        f'<mujoco><worldbody><geom type="{long}"/></worldbody></mujoco>',
        f'<mujoco><worldbody><geom name="{long}" size="-1"/></worldbody></mujoco>',
        f"<mujoco><worldbody><{long}/></worldbody></mujoco>",
        f'<mujoco><worldbody><geom {long}="1"/></worldbody></mujoco>',
        f'<mujoco><worldbody><geom size="1" material="a&#10;b{long}"/></worldbody></mujoco>',
    ):
        found = error_of(xml)
        assert "x" * 85 not in found and len(found) < 900, found
    assert str(ModelError("a\tb\nc \x07'" + "d" * 81 + "'")) == "a b c \\x07'" + "d" * 80 + "...'"


@pytest.mark.parametrize(
    ("capacity", "text"),
    [("nconmax", "nconmax is 0: contacts are not looked for"), ("njmax", "njmax is 0: there are no constraints")],
)
def test_a_capacity_of_0_is_told(capacity, text):
    geom = '<geom size=".1"/>'
    with pytest.warns(UserWarning, match=text):
        LOAD(bodies(2, f"<freejoint/>{geom}"), **{capacity: 0})
    assert getattr(LOAD(f"<mujoco><worldbody>{geom}</worldbody></mujoco>", **{capacity: 0}), capacity) == 0
