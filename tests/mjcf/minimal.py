"""For each element of the table a minimal model that has it: `model("geom", {"size": "1"})`."""

import io
import pathlib

import numpy as np
from PIL import Image

from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.actuator import SHORTCUTS
from mjx_like.types.enums import SensorType

Attributes = dict[str, str]

# Elements that others refer to. MARK is where the element in question goes.
MARK = "@"
TREE = """<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0" range="-20 30"/><geom name="g" size=".1"/>
<site name="s" pos=".1 0 0"/><camera name="cam"/>@
<body name="c" pos=".3 0 0"><joint name="k" type="slide" range="-1 1"/><geom name="h" size=".1 .2 .3" type="box"/>
<site name="r"/></body></body>"""
MESH = '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 2"/>'
TEXTURE = '<texture name="tex" type="2d" builtin="flat" width="2" height="2"/>'
MATERIAL = '<material name="mat" rgba="1 0 0 1"/>'
TENDON = '<fixed name="t" range="-1 1"><joint joint="k" coef="1"/></fixed>'
FLEX = '<flex name="f" dim="2" body="p0 p1 p2 p3" vertex="0 0 0 0 0 0 0 0 0 0 0 0" element="0 1 2 1 2 3" {0}>{1}</flex>'
CORNERS = "".join(
    f'<body name="p{i}" pos="{x} {y} 2"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    '<joint type="slide" axis="0 0 1"/><geom size=".01" mass=".1"/></body>'
    for i, (x, y) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1)))
)
FLEXCOMP = '<flexcomp name="f" {0}>{1}</flexcomp>'
SPATIAL_PATH = '<site site="s"/><site site="r"/>'


def document(tree: str = TREE, root: str = "", **sections: str) -> str:
    """A model file with a tree and other sections."""
    rest = "".join(f"<{name}>{text}</{name}>" for name, text in sections.items())
    return f"<mujoco {root}>{rest}<worldbody>{tree}</worldbody></mujoco>"


def in_tree(text: str, **sections: str) -> str:
    return document(TREE.replace(MARK, text), **sections)


def section(name: str, text: str, **others: str) -> str:
    return document(TREE.replace(MARK, ""), **{name: text, **others})


def of_flex(attributes: str = "", inner: str = "") -> str:
    return document(CORNERS, deformable=FLEX.format(attributes, inner))


def of_flexcomp(attributes: str = "", inner: str = "", needed: str = 'mass="1"') -> str:
    return document(FLEXCOMP.format(f"{needed} {attributes}", inner))


# Element -> (document with "{}" where its attributes go, attributes that it has unless told otherwise).
ROWS: dict[str, tuple[str, Attributes]] = {
    "mujoco": (document(TREE.replace(MARK, ""), "{}"), {}),
    "compiler": (
        in_tree(
            '<geom type="box" mesh="m" euler="10 20 30" contype="0" conaffinity="0"/>'
            '<body><joint/><inertial pos="0 0 0" mass=".01" diaginertia="1 1 1"/>'
            '<body><geom size=".2" pos="1 0 0"/></body></body>',
            asset=MESH,
        ).replace("<asset>", "<compiler {}/><asset>"),
        {},
    ),
    "lengthrange": (
        section("actuator", '<muscle joint="j"/><motor tendon="t" lengthrange="-9 9"/>', tendon=TENDON).replace(
            "<actuator>", "<compiler><lengthrange {}/></compiler><actuator>"
        ),
        {"mode": "all"},
    ),
    "option": (section("option", "").replace("<option>", "<option {}>"), {}),
    "flag": (section("option", "<flag {}/>"), {}),
    "size": (section("size", "").replace("<size>", "<size {}>"), {}),
    "statistic": (section("statistic", "").replace("<statistic>", "<statistic {}>"), {}),
    **{group: (section("visual", f"<{group} {{}}/>"), {}) for group in ELEMENTS["visual"].children},
    "body": (in_tree('<body {}><geom size=".1"/></body>'), {}),
    "frame": (in_tree('<frame {}><geom size=".1" adhesion="1"/></frame>'), {}),
    "replicate": (in_tree('<replicate {}><geom name="x" size=".1"/></replicate>'), {"count": "2"}),
    "inertial": (in_tree("<body><joint/><inertial {}/></body>"), {"pos": "0 0 0", "mass": "1", "diaginertia": "1 1 1"}),
    "joint": (in_tree('<body pos=".1 0 0"><joint {}/><geom size=".1"/></body>'), {}),
    "freejoint": (document('<body><freejoint {}/><geom size=".1" pos=".1 0 0"/></body>'), {}),
    "geom": (in_tree("<geom {}/>", asset=MATERIAL + MESH), {"size": ".1 .2 .3"}),
    "site": (in_tree("<site {}/>", asset=MATERIAL), {}),
    "camera": (in_tree("<camera {}/>"), {}),
    "light": (in_tree("<light {}/>"), {}),
    "mesh": (
        in_tree('<geom type="mesh" mesh="m"/>', asset="<mesh {}/>"),
        {"name": "m", "vertex": "0 0 0 1 0 0 0 1 0 0 0 2 .1 .1 .1 .5 .5 1"},
    ),
    "hfield": (
        in_tree('<geom type="hfield" hfield="x"/>', asset="<hfield {}/>").replace(
            '<body name="b"', '<body name="a"', 0
        ),
        {"name": "x", "size": "1 1 1 1", "nrow": "2", "ncol": "2"},
    ),
    "skin": (
        section(
            "deformable",
            '<skin {}><bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin>',
        ),
        {"vertex": "0 0 0 1 0 0 0 1 0", "face": "0 1 2"},
    ),
    "texture": (section("asset", "<texture {}/>"), {"name": "x", "builtin": "checker", "width": "4", "height": "4"}),
    "material": (section("asset", f"{TEXTURE}<material {{}}/>"), {"name": "x"}),
    "element": (section("custom", '<tuple name="x"><element {}/></tuple>'), {"objtype": "body", "objname": "b"}),
    "key": (section("keyframe", "<key {}/>"), {}),
    "flex": (
        document(CORNERS, deformable=FLEX.replace('dim="2" ', "").replace("{0}", "{{}}").format("", "")),
        {},
    ),
    "flex_edge": (of_flex(inner="<edge {}/>"), {}),
    "elasticity": (of_flex(inner="<elasticity {}/>"), {"thickness": ".1", "elastic2d": "both", "young": "1000"}),
    "flex_contact": (of_flex(inner="<contact {}/>"), {}),
    "flexcomp": (document("<flexcomp {}/>"), {"name": "f", "count": "4 3 1", "mass": "1"}),
    "flexcomp_edge": (of_flexcomp('count="3 3 1"', "<edge {}/>"), {"equality": "true"}),
    "pair": (section("contact", "<pair {}/>"), {"geom1": "g", "geom2": "h"}),
    "spatial": (section("tendon", f"<spatial {{}}>{SPATIAL_PATH}</spatial>"), {}),
    "fixed": (section("tendon", '<fixed {}><joint joint="j" coef="1"/></fixed>'), {}),
    "connect": (section("equality", "<connect {}/>"), {"body1": "b", "anchor": "0 0 0"}),
    "weld": (section("equality", "<weld {}/>"), {"body1": "b"}),
    "equality_joint": (section("equality", "<joint {}/>"), {"joint1": "j"}),
    "equality_tendon": (section("equality", "<tendon {}/>", tendon=TENDON), {"tendon1": "t"}),
    "equality_flex": (
        document(CORNERS, deformable=FLEX.format("", ""), equality="<flex {}/>"),
        {"flex": "f"},
    ),
    "flexstrain": (
        document(
            '<flexcomp name="f" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" dof="trilinear" mass="1"/>',
            equality="<flexstrain {}/>",
        ),
        {"flex": "f", "cell": "0 0 0"},
    ),
    "sensor_plugin": (section("sensor", "<plugin {}/>"), {}),
    "actuator_plugin": (section("actuator", "<plugin {}/>"), {"joint": "j"}),
}

DRIVEN = {"joint": "j"}
MUSCLE = {"joint": "j", "lengthrange": "0 1"}
ACTUATORS = {
    "general": DRIVEN,
    **dict.fromkeys(SHORTCUTS, DRIVEN),
    "muscle": MUSCLE,
    "orientation": {"joint": "ball"},
    "adhesion": {"body": "b", "ctrlrange": "0 1"},
    "damper": DRIVEN | {"ctrlrange": "0 1"},
    "dcmotor": DRIVEN | {"resistance": "1", "motorconst": "1"},
}
BALL = '<body name="d"><joint name="ball" type="ball"/><geom size=".1"/></body>'
for _tag, _attributes in ACTUATORS.items():
    ROWS[_tag] = (in_tree(BALL, actuator=f"<{_tag} {{}}/>"), _attributes)

OBJECTS = {"site": "s", "joint": "j", "tendon": "t", "actuator": "a", "body": "b"}
PAIRED = {"geom1": "g", "geom2": "h"}
SENSED = {
    kind.tag: {kind.attachment.attribute: OBJECTS[kind.attachment.attribute]}
    for kind in SensorType
    if kind.attachment.attribute
} | {
    **{f"ball{what}": {"joint": "ball"} for what in ("quat", "angvel")},
    **{
        f"frame{what}": {"objtype": "site", "objname": "s"}
        for what in "pos quat xaxis yaxis zaxis linvel angvel linacc angacc".split()
    },
    **dict.fromkeys(("distance", "normal", "fromto"), PAIRED),
    **dict.fromkeys(("e_potential", "e_kinetic", "clock"), {}),
    "camprojection": {"site": "s", "camera": "cam"},
    "rangefinder": {"site": "s"},
    "insidesite": {"objtype": "body", "objname": "c", "site": "s"},
    "sensor_contact": PAIRED,
    "tactile": {"geom": "g", "mesh": "plate"},
    "user": {"dim": "2"},
}
PLATE = '<mesh name="plate" builtin="plate" params="2 2"/>'
for _tag, _attributes in SENSED.items():
    ROWS[_tag] = (
        in_tree(
            BALL,
            asset=PLATE if _tag == "tactile" else "",
            tendon=TENDON,
            actuator='<motor name="a" joint="j"/>',
            sensor=f"<{_tag.removeprefix('sensor_')} {{}}/>",
        ),
        _attributes,
    )


# What an attribute needs beside it so that it has a meaning; a None takes an attribute of the element away.
CRANK: dict[str, str | None] = {"joint": None, "cranksite": "s", "slidersite": "r"}
IMAGE: dict[str, str | None] = {"builtin": None, "width": None, "height": None, "file": "image.png"}
FITTED: dict[str, str | None] = {"type": "box", "mesh": "m", "size": None}
BESIDE: dict[tuple[str, str], dict[str, str | None]] = {
    ("flexcomp", "count"): {"dim": "3"},
    ("flexcomp", "cellcount"): {"dim": "3", "count": "4 4 4", "dof": "trilinear"},
    ("flexcomp", "scale"): {"type": "mesh", "file": "mesh.obj", "count": None},
    ("weld", "torquescale"): {"relpose": "0 0 0 1 0 0 0"},
    ("muscle", "scale"): {"force": "-1"},
    ("general", "actlimited"): {"dyntype": "integrator"},
    ("general", "actdim"): {"dyntype": "user"},
    ("general", "inheritrange"): {"biastype": "affine", "biasprm": "0 -1"},
    ("pid", "imax"): {"ki": "1"},
    ("geom", "fitscale"): FITTED,
    ("frame", "scaling"): {"scale": "2"},
    ("texture", "height"): {"type": "2d"},
    **{("texture", name): IMAGE for name in ("gridsize", "hflip", "vflip")},
}
VARIANTS: dict[tuple[str, str], str] = {
    ("compiler", "strippath"): section("asset", '<mesh file="no/mesh.obj"/>').replace(
        "<asset>", "<compiler {}/><asset>"
    ),
    ("compiler", "balanceinertia"): document(
        '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>', asset=""
    ).replace("<asset>", "<compiler {}/><asset>"),
}
RANGES = {
    "limited": {"range": "0.1 1"},
    "actuatorfrclimited": {"actuatorfrcrange": "-1 1"},
    "forcelimited": {"forcerange": "0 1"},
    "ctrllimited": {"ctrlrange": "0 1"},
    "actlimited": {"actrange": "0 1"},
    "cranklength": CRANK,
}
# Values to try where a small change of the default means nothing.
OTHERS: dict[tuple[str, str], str] = {
    ("compiler", "settotalmass"): "5",
    ("lengthrange", "interval"): "9.999",
    ("lengthrange", "tolrange"): "1e-12",
    ("muscle", "force"): "5",
    ("elasticity", "thickness"): "0.2",
    ("general", "actdim"): "2",
    **{("size", name): "3" for name in ELEMENTS["size"].attributes if name.startswith("nuser")},
}


def needs(kind: str, name: str) -> dict[str, str | None]:
    """What an attribute of an element needs beside it."""
    return RANGES.get(name, {}) | BESIDE.get((kind, name), {})


def model(kind: str, attributes: Attributes, name: str = "") -> str:
    """Model with an element of a kind that has these attributes, besides those that it needs.

    kind: "default_geom" for one in the class main, which an element without the attribute reads.
    name: attribute that is left away even if it is needed, unless it is given.
    """
    tag = kind.removeprefix("default_")
    base = {"equality": "weld", "tendon": "spatial"}.get(tag, tag) if kind.startswith("default_") else kind
    text, given = ROWS[base]
    text = VARIANTS.get((kind, name), text)
    given = {key: value for key, value in (given | needs(base, name)).items() if value is not None and key != name}
    if kind != base:
        row = ELEMENTS[kind].attributes
        kept = {key: value for key, value in given.items() if key not in row}
        text = text.replace("{}", written(kept)).replace("<worldbody>", f"<default><{tag} {{}}/></default><worldbody>")
        given = {key: value for key, value in given.items() if key in row}
    return text.replace("{}", written(given | attributes))


def written(attributes: Attributes) -> str:
    return " ".join(f'{name}="{value}"' for name, value in attributes.items())


def write_files(folder: pathlib.Path) -> None:
    """Write the image and the mesh that some models name."""
    picture = io.BytesIO()
    Image.fromarray((np.arange(192) % 251).astype(np.uint8).reshape(8, 8, 3)).save(picture, "PNG")
    (folder / "image.png").write_bytes(picture.getvalue())
    (folder / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
