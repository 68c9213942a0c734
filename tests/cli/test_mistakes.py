"""What a new user gets wrong in a model file: one line with file, line, element and remedy, and exit status 2."""

import re

import pytest

from mjx_like.cli import main

ARM = '<body name="arm"><joint name="elbow"/><geom name="fore" size=".1"/><site name="tip"/></body>'


def world(text: str, **sections: str) -> str:
    """Model whose third line is a section, or the tree where there is none."""
    rest = "".join(f"<{name}>\n{inner}\n</{name}>\n" for name, inner in sections.items())
    return f"<mujoco>\n{rest}<worldbody>\n{text}\n</worldbody>\n</mujoco>\n"


# Text of the file, and what the line says after "error: FILE".
MISTAKES = {
    "misspelt element": (world("<boddy/>"), ":3: element <boddy>: unknown in <worldbody>; did you mean 'body'?"),
    "capital letter": (world("<Geom/>"), ":3: element <Geom>: unknown in <worldbody>; did you mean 'geom'?"),
    "misspelt attribute": (
        world('<geom sise="1"/>'),
        ":3: element <geom>: unknown attribute 'sise'; did you mean 'size'?",
    ),
    "misspelt keyword": (
        world('<geom type="spere"/>'),
        ":3: element <geom>: .*'spere', needs one of: plane, .*'sphere'",
    ),
    "too few numbers": (world('<geom pos="1 2"/>'), ":3: element <geom>: attribute 'pos' has 2 numbers, needs 3"),
    "word for a number": (
        world('<geom size="one"/>'),
        ":3: element <geom>: attribute 'size' has 'one', needs a number",
    ),
    "unit": (world('<geom size="10cm"/>'), ":3: element <geom>: attribute 'size' has '10cm', needs a number"),
    "decimal comma": (world('<geom size="0,1"/>'), ":3: .* has '0,1', needs a number; numbers are separated by spaces"),
    "ending tag": (
        "<mujoco>\n<worldbody>\n<geom>\n</worldbody></mujoco>",
        ":4: malformed XML: .*geom line 3.*; each element",
    ),
    "missing end": ("<mujoco>\n<worldbody>\n", ":3: malformed XML: Premature end.*; an ending tag is missing"),
    "quote": ('<mujoco>\n<option a="1/>\n</mujoco>', ":3: malformed XML: Unescaped '<'.*; is a quote missing"),
    "end after a slip": ('<mujoco model="a & b">\n<worldbody>\n', ":3: malformed XML: Premature end"),
    "empty file": ("", ": empty file, needs an XML document"),
    "other format": ('{"a": 1}', ":1: malformed XML: .*; an XML file begins with '<' and is in UTF-8"),
    "other root": ('<sdf version="1.6"/>', ":1: element <sdf>: the root element must be <mujoco> or <robot>"),
    "misspelt name": (
        world(ARM, actuator='<motor joint="elbw"/>'),
        ":3: element <motor>: attribute 'joint' names joint 'elbw', which does not exist; did you mean 'elbow'?",
    ),
    "repeated name": (
        world(f"{ARM}\n{ARM}"),
        ":4: element <body name='arm'>: name 'arm' is already taken by a body at .*:3",
    ),
    "missing file": (
        world("", asset='<mesh name="hand" file="hand.stl"/>'),
        ":3: element <mesh name='hand'>: cannot read asset file '.*hand.stl': No such file or directory",
    ),
    "missing include": (
        '<mujoco>\n<include file="b.xml"/>\n</mujoco>',
        ":2: element <include file='b.xml'>: no such file in ",
    ),
    "including itself": (
        '<mujoco>\n<include file="a.xml"/>\n</mujoco>',
        ":2: element <include file='a.xml'>: already included",
    ),
    "missing mesh": (world('<geom type="mesh"/>'), ":3: element <geom>: attribute 'mesh' must name a mesh"),
    "other mesh format": (
        world("", asset='<mesh name="m" file="notes.dae"/>'),
        ":3: element <mesh name='m'>: file 'notes.dae' is of no known kind; allowed: .stl, .obj, .msh",
    ),
    "no STL": (
        world("", asset='<mesh name="m" file="notes.stl"/>'),
        ":3: element <mesh name='m'>: .*; is it an STL file",
    ),
    "no mass": (
        world('<body name="arm"><joint/></body>'),
        ":3: element <body name='arm'>: mass and .*; give it a geom",
    ),
    "impossible inertia": (
        world('<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/></body>'),
        r":3: element <body>: inertia \(1, 1, 5\) must satisfy A \+ B >= C; the compiler's balanceinertia mends it",
    ),
    "no size": (world("<geom/>"), ":3: element <geom>: size 0 of a sphere must be positive, not 0"),
    "limit without range": (
        world('<body><joint limited="true"/><geom size="1"/></body>'),
        r":3: element <joint>: range \(0, 0\): the first value must be smaller than the second",
    ),
    "joint of the world": (world("<joint/>"), ":3: element <joint>: may not stand in worldbody; .* put it in a <body>"),
    "free joint within": (
        world('<body><body name="c"><freejoint/><geom size="1"/></body></body>'),
        ":3: element <body name='c'>: has a free joint, which only a child of the world can have",
    ),
    "unknown class": (world('<geom class="no" size="1"/>'), ":3: element <geom>: .* unknown class 'no'; known: main"),
    "two orientations": (
        world('<geom size="1" quat="1 0 0 0" euler="0 0 0"/>'),
        ":3: element <geom>: attributes 'quat', 'euler' exclude one another",
    ),
    "length of a keyframe": (
        world(ARM, keyframe='<key name="home" qpos="1 2 3"/>'),
        ":3: element <key name='home'>: qpos has 3 values; the model has room for 1",
    ),
    "no target": (
        world(ARM, actuator='<motor name="m"/>'),
        ":3: element <motor name='m'>: has no .* target; give joint",
    ),
    "other actuator's attribute": (
        world(ARM, actuator='<motor joint="elbow" kp="1"/>'),
        ":3: element <motor>: unknown attribute 'kp'; allowed: name, ",
    ),
    "sensor of nothing": (world(ARM, sensor="<gyro/>"), ":3: element <gyro>: missing attribute 'site'"),
    "not a number": (world('<body pos="inf 0 0"/>'), ":3: element <body>: its pos .* not finite; give finite numbers"),
    "trees that sleep": (
        world(
            '<body sleep="allowed"><freejoint/><geom size=".1"/><site name="a"/></body>'
            '<body sleep="allowed"><freejoint/><geom size=".1"/><site name="b"/></body>',
            tendon='<spatial stiffness="1"><site site="a"/><site site="b"/></spatial>',
        ),
        ":1: element <mujoco>: tendon 0 joins trees .*: remove their sleep attribute",
    ),
    "dropped coordinates": (
        '<mujoco>\n<compiler coordinate="global"/>\n</mujoco>',
        ":2: element <compiler>: attribute 'coordinate' is 'global', which MuJoCo dropped in 2.3.4; save it in 2.3.3",
    ),
    "link that is no link": (
        '<robot name="r">\n<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        "\n</robot>",
        ":3: element <child>: attribute 'link' names link 'b', which does not exist",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_line_says_where_and_what_to_do(mistake, tmp_path, capsys):
    text, wanted = MISTAKES[mistake]
    path = tmp_path / "a.xml"
    path.write_text(text)
    (tmp_path / "notes.stl").write_text("this is no mesh, but a text about one; " * 5)
    (tmp_path / "notes.dae").write_text("<collada/>")
    assert main(["info", str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1
    pattern = wanted if ".*" in wanted or "\\" in wanted else re.escape(wanted)
    assert re.match(re.escape(f"error: {path}") + pattern, err), err


def test_warnings_are_one_line_each(tmp_path, capsys):
    path = tmp_path / "a.xml"
    path.write_text(world('<geom size="1" margin="nan"/>'))
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().err == f"warning: {path}:3: element <geom>: attribute 'margin' has a NaN\n"


def test_a_folder_and_no_name(tmp_path, capsys):
    for name, said in ((str(tmp_path), f"error: {tmp_path}: is no file\n"), ("", "error: '': is no file\n")):
        assert main(["info", name]) == 2
        assert capsys.readouterr().err == said
