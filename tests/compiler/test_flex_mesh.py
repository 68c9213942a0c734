"""Flexcomps whose points come from files and mesh assets, against MuJoCo."""

import struct

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.flexcomp.shapes import block
from tests.compiler.compare import compile_source, differences, oracle

OBJ = (
    b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nvt 1 0\nvt 1 1\n"
    b"f 1/1 3/2 2/3\nf 1/1 5/2 4/3\nf 2/1 3/2 4/3\nf 3/1 1/2 4/3\n"
)
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.5]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
TETS = np.array([[1, 2, 3, 4], [2, 3, 4, 5]])
BLOCK = block(np.array([3, 3, 3]), np.array([0.1, 0.2, 0.3]))
INLINE = f'vertex="{" ".join(map(str, CORNERS[:4].ravel()))}" face="{" ".join(map(str, FACES.ravel()))}"'


def stl() -> bytes:
    """Return the tetrahedron as a binary STL file."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[face].ravel(), 0) for face in FACES)
    return bytes(80) + struct.pack("<I", len(FACES)) + rows


def gmsh(version: str, binary: bool, elements: np.ndarray, point=CORNERS, tags=None) -> bytes:
    """Return a GMSH file with points, and triangles or tetrahedra of their tags."""
    tags = range(1, len(point) + 1) if tags is None else tags
    kind, number = (4 if elements.shape[1] == 4 else 2), len(elements)
    dim = elements.shape[1] - 1
    head = b"$MeshFormat\n" + f"{version} {int(binary)} 8\n".encode() + (struct.pack("<i", 1) + b"\n") * binary
    if version == "2.2" and binary:
        nodes = b"%d\n" % len(tags) + b"".join(struct.pack("<i3d", t, *x) for t, x in zip(tags, point, strict=True))
        rows = [struct.pack(f"<3i3i{dim + 1}i", kind, 1, 2, i + 1, 0, 1, *row) for i, row in enumerate(elements)]
        cells = b"%d\n" % number + b"".join(rows)
    elif version == "2.2":
        nodes = f"{len(tags)}\n" + "\n".join(f"{t} {x} {y} {z}" for t, (x, y, z) in zip(tags, point, strict=True))
        cells = f"{number}\n" + "\n".join(
            f"{i + 1} {kind} 2 0 1 " + " ".join(map(str, e)) for i, e in enumerate(elements)
        )
    elif binary:
        nodes = struct.pack("<4Q3iQ", 1, len(tags), 1, len(tags), dim, 1, 0, len(tags))
        nodes += np.array(tags, "<u8").tobytes() + point.astype("<f8").tobytes()
        cells = struct.pack("<4Q3iQ", 1, number, 1, number, dim, 1, kind, number)
        cells += np.column_stack([np.arange(1, number + 1), elements]).astype("<u8").tobytes()
    else:
        nodes = f"1 {len(tags)} 1 {len(tags)}\n{dim} 1 0 {len(tags)}\n" + "\n".join(map(str, tags)) + "\n"
        nodes += "\n".join(" ".join(map(str, row)) for row in point)
        cells = f"1 {number} 1 {number}\n{dim} 1 {kind} {number}\n"
        cells += "\n".join(f"{i + 1} " + " ".join(map(str, row)) for i, row in enumerate(elements))
    if version == "2.2" and binary:  # MuJoCo asks for a few bytes more than there are in such short sections
        nodes, cells = nodes + bytes(8), cells + bytes(8)
    parts = [part if isinstance(part, bytes) else part.encode() for part in (nodes, cells)]
    return (
        head + b"$EndMeshFormat\n$Nodes\n" + parts[0] + b"\n$EndNodes\n$Elements\n" + parts[1] + b"\n$EndElements\n"
    )  # fmt: skip


FILES = (
    {
        "a.obj": OBJ,
        "a.stl": stl(),
        "tri.msh": gmsh("2.2", False, FACES + 1),
    }
    | {
        f"{version}{'b' if binary else 'a'}.msh": gmsh(version, binary, TETS)
        for version, binary in (("2.2", False), ("4.1", False), ("4.1", True))
    }
    | {"2.2b.msh": gmsh("2.2", True, BLOCK.element + 1, BLOCK.point)}
)  # MuJoCo takes tags up to the number of elements


def model(attributes: str, asset: str = "", children: str = "") -> str:
    """Return a model with a flexcomp."""
    return (
        f"<mujoco><asset>{asset}</asset><worldbody><flexcomp name='f' radius='.01' {attributes}>{children}</flexcomp>"
        "</worldbody></mujoco>"
    )


ELASTIC = '<elasticity young="1e3" poisson=".2"/>'
MODELS = {
    "surface": model('type="mesh" file="a.obj" dim="2" rigid="true"'),
    "free": model('type="mesh" file="a.obj" dim="2" pos="0 0 1" euler="10 20 30" scale="1 2 3"'),
    "solid": model('type="mesh" file="a.obj" dim="3" origin=".2 .2 .2" scale="1 2 3"', "", ELASTIC),
    "lines": model('type="mesh" file="a.obj" dim="1"'),
    "stl": model('type="mesh" file="a.stl" dim="2"', "", '<pin id="0"/>'),
} | {f"gmsh {name}": model(f'type="gmsh" file="{name}"', "", ELASTIC * (name != "tri.msh"))
     for name in FILES if name.endswith("msh")}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_files(name):
    assert differences(MODELS[name], FILES) == {}


PLACED = 'scale="2 1 1" refpos=".1 0 0" refquat=".8 .6 0 0"'
ASSETS = {
    "inline": model('mesh="m" dim="2"', f'<mesh name="m" {INLINE}/>'),
    "placed": model('mesh="m" dim="2" scale="1 1 3"', f'<mesh name="m" {INLINE} {PLACED}/>'),
    "mirrored": model('mesh="m" dim="2" rigid="true"', f'<mesh name="m" {INLINE} scale="-1 1 1"/>'),
    "solid": model('mesh="m" dim="3" origin=".2 .2 .2"', f'<mesh name="m" {INLINE}/>'),
    "file": model('mesh="a" dim="2" rigid="true"', '<mesh file="a.obj" scale="2 1 1"/>'),
    "builtin": model('mesh="m" dim="2"', '<mesh name="m" builtin="sphere" params="1"/>'),
}


@pytest.mark.parametrize("name", ASSETS)
def test_assets(name):
    """MuJoCo takes the points back from the compiled mesh, which is in single precision."""
    ours, theirs = compile_source(ASSETS[name], FILES).fields, oracle(ASSETS[name], FILES).fields
    for field in ("flex_elem", "flex_edge", "flex_elemtexcoord", "flex_texcoord", "flex_dim", "flex_vertbodyid"):
        assert np.array_equal(ours[field], theirs[field]), field
    for field in ("flex_vert", "flexedge_length0", "body_pos", "body_mass"):
        assert np.allclose(ours[field], theirs[field], atol=2e-7), field


def test_one_block():
    """Binary elements that share one header, as the format has it and MuJoCo does not read it."""
    head = struct.pack("<3i", 4, len(BLOCK.element), 0)
    cells = head + b"".join(struct.pack("<5i", i + 1, *row) for i, row in enumerate(BLOCK.element + 1))
    start = FILES["2.2b.msh"].index(b"$Elements")
    file = FILES["2.2b.msh"][:start] + b"$Elements\n%d\n" % len(BLOCK.element) + cells + b"\n$EndElements\n"
    ours, plain = (compile_source(MODELS["gmsh 2.2b.msh"], {"2.2b.msh": f}).fields for f in (file, FILES["2.2b.msh"]))
    assert np.array_equal(ours["flex_elem"], plain["flex_elem"])


def test_gaps():
    """Tags of points in any order, which MuJoCo refuses."""
    tagged = gmsh("4.1", False, np.array([9, 2, 7, 4, 5])[TETS - 1], tags=(9, 2, 7, 4, 5))
    ours, plain = (compile_source(MODELS["gmsh 4.1a.msh"], {"4.1a.msh": f}).fields for f in (tagged, FILES["4.1a.msh"]))
    assert np.array_equal(ours["flex_elem"], plain["flex_elem"])
    assert np.array_equal(ours["flex_vert0"], plain["flex_vert0"])


ERRORS = {
    "no file": (model('type="mesh" dim="2"'), "type mesh needs attribute 'file' or 'mesh'"),
    "both": (model('mesh="m" file="a.obj" dim="2"', f'<mesh name="m" {INLINE}/>'), "'file' and 'mesh' exclude"),
    "unknown": (model('mesh="n" dim="2"'), "names mesh 'n', which does not exist"),
    "legacy": (model('type="mesh" file="2.2a.msh" dim="2"'), "legacy MSH files do not go with flexcomp"),
    "kind": (model('type="mesh" file="a.xyz" dim="2"'), "'a.xyz' is of no known kind; allowed: .stl, .obj"),
    "origin": (model('type="mesh" file="a.obj" dim="3"'), "a mesh of dim 3 needs attribute 'origin'"),
    "type": (model('mesh="m" type="grid"', f'<mesh name="m" {INLINE}/>'), "'mesh' goes with type mesh or gmsh"),
    "dim": (model('type="gmsh" file="2.2a.msh" dim="2"'), "dim 2 does not fit the file, which has elements of dim"),
    "damaged": (model('type="gmsh" file="cut.msh"'), "not a GMSH file that can be read"),
    "missing": (model('type="gmsh" file="none.msh"'), "none.msh"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    xml, message = ERRORS[name]
    files = FILES | {"a.xyz": OBJ, "cut.msh": FILES["4.1b.msh"][:150]}
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml, files)
    with pytest.raises(ModelError, match=message):
        compile_source(xml, files)
