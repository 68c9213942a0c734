"""Damage done to model files and to the files that they name, and what the loader makes of them."""

import contextlib
import copy
import functools
import io
import json
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import warnings

import dm_control
import gymnasium
import numpy as np
from lxml import etree
from PIL import Image

from mjx_like.compiler.compile import compile_spec
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.schema import ELEMENTS, Kind
from tests.mjcf.minimal import ROWS, model
from tests.models import HERE

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = (
    ROOT / "models",
    HERE,
    pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets",
    pathlib.Path(dm_control.__file__).parent / "suite",
)
LARGEST = 9000  # bytes of a file that is damaged; larger ones only take longer
SECONDS = 60  # for one example, of which most take 20 ms
NUMBERS = "0|1|-1|2|0.5|1e10|-1e-10|1e300|nan|inf|-inf|3|100|0 0|1 0 0|0 0 0|1 2 3|-1 1|1 -1|0 0 0 0||x".split("|")
TAGS = sorted({tag for row in ELEMENTS.values() for tag in row.children})


@functools.cache
def documents() -> tuple[bytes, ...]:
    """Real files that stand alone, and a small model for each element of the table."""
    real = [path.read_bytes() for folder in FOLDERS for path in sorted(folder.rglob("*.xml"))]
    small = [model(kind, {}).encode() for kind in ROWS]
    alone = [text for text in real + small if b"<include" not in text and b"file=" not in text]
    return tuple(text for text in alone if len(text) < LARGEST)


def numbers(rng: random.Random, row) -> str:
    """Text of as many numbers as an attribute takes, small ones."""
    count = rng.randint(max(1, row.least), row.most or max(4, row.least))
    return " ".join(rng.choice(["0", "1", "-1", "2", ".3"]) for _ in range(count))


def text_for(rng: random.Random, row, nodes: list) -> str:
    """Text that an attribute could have: a keyword, a name that occurs, numbers."""
    if row.kind in (Kind.KEYWORD, Kind.KEYWORDS):
        return rng.choice(list(row.keywords))
    if row.kind is Kind.STRING:
        fitting = [node.get("name") for node in nodes if node.get("name") and node.tag == row.refers]
        anything = [node.get("name") for node in nodes if node.get("name")]
        return rng.choice((fitting if rng.random() < 0.9 else anything) or ["a"])
    return rng.choice(NUMBERS) if rng.random() < 0.4 else numbers(rng, row)


def change_value(rng: random.Random, node, nodes: list) -> None:
    """Put other numbers into an attribute."""
    if node.attrib:
        name = rng.choice(sorted(node.attrib))
        words = node.attrib[name].split()
        if words and rng.random() < 0.5:
            place = rng.randrange(len(words))
            words[place] = rng.choice([*NUMBERS[:13], words[place] * 2, "-" + words[place]])
            node.attrib[name] = " ".join(words)
        else:
            node.attrib[name] = rng.choice(NUMBERS)


def drop_attribute(rng: random.Random, node, nodes: list) -> None:
    if node.attrib:
        del node.attrib[rng.choice(sorted(node.attrib))]


def add_attribute(rng: random.Random, node, nodes: list) -> None:
    row = ELEMENTS.get(node.tag)
    if row is not None and row.attributes:
        name = rng.choice(sorted(row.attributes))
        node.attrib[name] = text_for(rng, row.attributes[name], nodes)


def drop_element(rng: random.Random, node, nodes: list) -> None:
    if node.getparent() is not None:
        node.getparent().remove(node)


def add_element(rng: random.Random, node, nodes: list) -> None:
    """Add a child that the table allows, with what it must have and some more."""
    row = ELEMENTS.get(node.tag)
    if row is None or not row.children:
        return
    tag = rng.choice(sorted(row.children))
    child = etree.SubElement(node, tag)
    for name, attribute in ELEMENTS[row.children[tag].type].attributes.items():
        if attribute.required or rng.random() < 0.15:
            child.set(name, f"n{rng.randrange(1000)}" if name == "name" else text_for(rng, attribute, nodes))


def move_element(rng: random.Random, node, nodes: list) -> None:
    """Copy an element into another one."""
    place = rng.choice(nodes)
    if node.getparent() is not None and place not in list(node.iter()):
        place.append(copy.deepcopy(node))


def rename_element(rng: random.Random, node, nodes: list) -> None:
    node.tag = rng.choice(TAGS)


CHANGES = (change_value, change_value, drop_attribute, add_attribute, add_attribute, drop_element, add_element)
RARE = (move_element, rename_element)


def damaged_model(rng: random.Random) -> str:
    """A model file after one to three changes of its elements; no length range is simulated, which takes seconds."""
    root = etree.fromstring(rng.choice(documents()))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        nodes = [node for node in root.iter() if isinstance(node.tag, str)]
        change = rng.choice(CHANGES) if rng.random() < 0.85 else rng.choice(RARE)
        change(rng, rng.choice(nodes), nodes)
    etree.SubElement(etree.SubElement(root, "compiler"), "lengthrange").set("mode", "none")
    return etree.tostring(root).decode()


def damaged_text(rng: random.Random) -> bytes:
    """A model file with damaged bytes; not of a model with muscles, whose length ranges would be simulated."""
    return damaged_bytes(rng, rng.choice([text for text in documents() if b"muscle" not in text]))


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """Bytes after one to four changes: some replaced, cut, repeated, or four of them made an extreme number."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(found) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            found[place : place + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del found[place : place + rng.choice([1, 4, 20, len(found)])]
        elif kind == 2:
            found[place:place] = found[: rng.choice([1, 4, 100])]
        elif kind == 3:
            extreme = rng.choice([-1, 0, 1, 2**31 - 1, -(2**31), 2**20])
            found[place : place + 4] = struct.pack("<i", extreme)
        elif kind == 4:
            found[place : place + 4] = struct.pack("<f", rng.choice([float("nan"), float("inf"), 1e38, -1e-38, 0.0]))
        else:
            found[place:place] = rng.choice([b"<", b"&", b"\xff\xfe", b"\0", b'"', b"<!--", b"]]>", b"\n", b"9" * 400])
    return bytes(found)


def picture() -> bytes:
    out = io.BytesIO()
    Image.fromarray((np.arange(192) % 251).astype(np.uint8).reshape(8, 8, 3)).save(out, "PNG")
    return out.getvalue()


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2.0]])
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
TRIANGLES = b"".join(
    struct.pack("<12f", 0, 0, 0, *CORNERS[side].ravel()) + struct.pack("<H", 0) for side in SIDES
)  # fmt: skip
FACETS = b"".join(
    b"facet normal 0 0 0\nouter loop\n"
    + b"".join(b"vertex %g %g %g\n" % tuple(corner) for corner in CORNERS[side])
    + b"endloop\nendfacet\n"
    for side in SIDES
)
ELEMENTS_22 = b"".join(b"%d 2 2 0 1 %d %d %d\n" % (i + 1, *(side + 1)) for i, side in enumerate(SIDES))
FILES = {
    "a.stl": b"\0" * 80 + struct.pack("<I", 4) + TRIANGLES,
    "b.stl": b"solid x\n" + FACETS + b"endsolid\n",
    "a.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\nvt 0 0\nvn 0 0 1\n"
    b"f 1/1/1 3/1/1 2/1/1\nf 1/1/1 2/1/1 4/1/1\nf 1/1/1 4/1/1 3/1/1\nf -3/-1/-1 -2/-1/-1 -1/-1/-1\n",
    "a.msh": struct.pack("<4i", 4, 0, 0, 4) + CORNERS.astype("<f4").tobytes() + SIDES.astype("<i4").tobytes(),
    "a.png": picture(),
    "a.bin": struct.pack("<2i", 2, 3) + np.arange(6, dtype="<f4").tobytes(),
    "a.skn": struct.pack("<4i", 3, 0, 1, 1)
    + np.arange(9, dtype="<f4").tobytes()
    + struct.pack("<3i", 0, 1, 2)
    + b"b".ljust(40, b"\0")
    + struct.pack("<7fi", 0, 0, 0, 1, 0, 0, 0, 3)
    + struct.pack("<3i3f", 0, 1, 2, 1, 1, 1),
    "g.msh": b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    b"$Elements\n4\n" + ELEMENTS_22 + b"$EndElements\n",
    "a.xml": b'<mujoco><worldbody><geom size="1"/><body name="c"><geom size="1"/></body></worldbody></mujoco>',
}
USES = {
    "stl obj msh": ('<mesh name="m" file="{}"/>', '<geom type="mesh" mesh="m"/>'),
    "png": ('<texture name="t" type="2d" file="{}"/><hfield name="h" file="{}" size="1 1 1 1"/>', ""),
    "bin": ('<hfield name="h" file="{}" size="1 1 1 1"/>', '<geom type="hfield" hfield="h"/>'),
    "skn": ('<skin name="s" file="{}"/>', ""),
    "xml": ('<model name="m" file="{}"/>', '<attach model="m" body="c" prefix="p-"/>'),
}


def model_with(file: str) -> str:
    """Model that reads a file of FILES."""
    if file.startswith("g."):
        return (
            f'<mujoco><worldbody><flexcomp name="f" type="gmsh" file="{file}" dim="2" mass="1"/></worldbody></mujoco>'
        )
    asset, geom = next(use for endings, use in USES.items() if file.split(".")[1] in endings.split())
    tree = f'<body name="b"><geom size=".1"/></body>{geom}'
    return f"<mujoco><asset>{asset.replace('{}', file)}</asset><worldbody>{tree}</worldbody></mujoco>"


class TooLong(BaseException):
    """An example that took more than SECONDS."""


@contextlib.contextmanager
def time_limit(seconds: int):
    """Raise TooLong in what takes longer."""

    def stop(*_):
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def loaded(xml: str | bytes, assets: dict[str, bytes] | None = None) -> str | None:
    """None for a model that compiles, else what is said against it; anything but a ModelError of one line is raised."""
    with warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("ignore")
        try:
            compile_spec(parse_string(xml, assets=assets))
        except ModelError as error:
            message = str(error)
            assert message.strip() and "\n" not in message, f"not one line: {message!r}"
            return message
    return None


SERVER = """
import json, sys, warnings
import mujoco
warnings.simplefilter("ignore")
for line in sys.stdin:
    try:
        mujoco.MjModel.from_xml_string(json.loads(line))
        answer = None
    except ValueError as error:
        answer = " ".join(str(error).split())
    print(json.dumps(answer), flush=True)
"""


class Oracle:
    """MuJoCo's loader in a process of its own, because damaged files can end it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def error(self, xml: str) -> str | None:
        """What MuJoCo says against a file, None if it loads it, "ended" where its process ended."""
        if self.process is None or self.process.poll() is not None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        try:
            self.process.stdin.write(json.dumps(xml) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else "ended"

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(10)


# Where we refuse what MuJoCo takes, and why.
STRICTER = {
    "not built yet": "the rest of the language, on its way",
    "negative gain": "MuJoCo makes a damping that is not a number",
    "finite": "MuJoCo makes a model whose first step is not a number",
    "unknown in <": "MuJoCo passes over children of geoms within frames, and over bodies outside worldbody",
    "may not stand in worldbody": "the same outside worldbody",
    "more than memory holds": "MuJoCo fails when its data are made",
    "already taken by a body": "MuJoCo lets the bodies of two flexcomps of one name have one name",
    "must name a": "MuJoCo takes the first object that has no name",
    "has a blank in it": "MuJoCo gives a flex bodies that no file can name",
    "at most": "MuJoCo works on sizes that no machine finishes",
    "are the most": "the same",
}
BLANK_ANCHOR = re.compile(r'anchor="\s*"')  # makes MuJoCo 4.0.0 throw within a lock and hang afterwards
