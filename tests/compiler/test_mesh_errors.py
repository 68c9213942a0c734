"""Damaged, missing, cut off and oversized mesh data: one line that says what is wrong."""

import struct

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source
from tests.compiler.meshes import BLOCK, BLOCK_FACES, model, msh, obj, stl

STL, OBJ, NAN = stl(BLOCK, BLOCK_FACES), obj(BLOCK, BLOCK_FACES), np.array([np.nan], "<f4").tobytes()
MSH = msh(BLOCK, BLOCK_FACES, BLOCK, BLOCK[:, :2])
TETRA = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'


def patched(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + struct.pack("<i", value) + data[at + 4 :]


FILES = {
    "empty.stl": (b"", "is empty"),
    "short.stl": (STL[:50], "too short for the header"),
    "cut.stl": (STL[:-7], "677 bytes, not the 684"),
    "many.stl": (patched(STL, 80, 10**9), "1000000000 faces in its STL header"),
    "none.stl": (patched(STL, 80, 0), "0 faces in its STL header"),
    "nan.stl": (STL[:96] + NAN + STL[100:], "not finite"),
    "far.stl": (STL[:96] + np.array([1e38], "<f4").tobytes() + STL[100:], "beyond 2"),
    "text.stl": (b"solid\nfacet normal 0 0 1\nvertex 1 2\nendfacet", "1 vertices in its text"),
    "words.stl": (b"solid\nfacet\n" + 3 * b"vertex 1 2 x\n", "that is not three numbers"),
    "short.msh": (MSH[:10], "too short for the header"),
    "cut.msh": (MSH[:-3], "413 bytes, not the 416"),
    "negative.msh": (patched(MSH, 0, -4), "-4 vertices"),
    "large.msh": (patched(MSH, 12, 2**31 - 1), "416 bytes, not the"),
    "face.msh": (patched(MSH, len(MSH) - 4, 99), "vertex that does not exist; there are 8"),
    "nan.msh": (MSH[:16] + NAN + MSH[20:], "not finite"),
    "empty.obj": (b"", "0 vertices; 4 are the least"),
    "junk.obj": (bytes(range(1, 256)) * 10, "0 vertices"),
    "nan.obj": (OBJ.replace(b"v 0 0 0", b"v nan 0 0"), "not finite"),
    "far.obj": (OBJ.replace(b"v 0 0 0", b"v 1e400 0 0"), "not finite"),
    "face.obj": (OBJ + b"\nf 1 2 99", "vertex that does not exist"),
    "zero.obj": (OBJ + b"\nf 0 1 2", "index 0 in line"),
    "back.obj": (OBJ + b"\nf -99 1 2", "vertex that does not exist"),
    "normals.obj": (OBJ + b"\nvn 0 0 1\nf 1//1 2//1 3//1", "normals, but a face without them"),
    "mesh.ply": (b"ply", "of no known kind; allowed: .stl, .obj, .msh"),
}
# What MuJoCo takes in another way or passes over.
STRICTER = {
    "word.obj": (OBJ.replace(b"v 0 0 0", b"v a b c"), "coordinate that is no number"),
    "index.obj": (OBJ + b"\nf 1/x/2 1 2", "'x' in line 22"),
    "long.obj": (OBJ + b"\nf 99999999999999999999999 1 2", "too large"),
    "polygon.obj": (obj(np.ones((3000, 3)), [list(range(3000))]), "up to 3000 corners"),
}
INLINE = {
    "flat": ('vertex="0 0 0 1 0 0 0 1 0 1 1 0"', "lie in a plane"),
    "few": ('vertex="0 0 0 1 0 0 0 1 0"', "3 vertices; 4 are the least"),
    "none": ("", "0 vertices"),
    "nan": ('vertex="nan 0 0 0 1 0 0 0 1 1 1 1"', "not finite"),
    "too large": (TETRA + ' scale="1e300 1e300 1e300"', "vertex beyond 1e+40"),
    "point": (TETRA + ' scale="0 0 0"', "surface that is too small"),
    "sheet": (TETRA + ' scale="1 1 0"', "volume that is too small; inertia='shell'"),
    "two corners": (TETRA + ' face="0 1"', "no multiple of 3"),
    "corner": (TETRA + ' face="0 1 2 1 2 9"', "vertex that does not exist; there are 4"),
    "negative corner": (TETRA + ' face="0 1 -1"', "vertex that does not exist"),
    "normal": (TETRA + ' normal="1 2"', "2 numbers in normal"),
    "texcoord": (TETRA + ' texcoord="1 2"', "1 texture coordinates, not one for each of its 4"),
    "inward": (TETRA + ' face="0 1 2 0 3 1 0 2 3 1 3 2" inertia="exact"', "triangles face inward"),
    "orientation": (TETRA + ' face="0 2 1 0 3 1 0 3 2 1 2 3" inertia="exact"', "inconsistent orientation at the edge"),
    "hull": (TETRA + ' maxhullvert="2"', "must be -1 or at least 4"),
    "sphere": ('builtin="sphere" params="9"', "subdivision 9 in params of builtin sphere; it must be from 0 to 4"),
    "cone": ('builtin="cone" params="3"', "takes 2: nvert, radius"),
    "grid": ('builtin="grid" params="1 2 2 1 1 1"', "needs 2 or more"),
    "wedge": ('builtin="wedge" params="1 1 30 30 0"', "1 vertices"),
    "missing": ('file="nothere.stl"', "nothere.stl"),
}
GEOMS = {
    "no mesh": ('<geom type="mesh"/>', "must name a mesh"),
    "unknown": ('<geom type="mesh" mesh="x"/>', "names mesh 'x', which does not exist"),
    "plane": ('<geom type="plane" mesh="m"/>', "plane"),
    "fromto": ('<geom type="box" size=".1" mesh="m" fromto="0 0 0 1 1 1"/>', "fromto cannot be given with a mesh"),
    "shell": ('<geom type="mesh" mesh="m" shellinertia="true"/>', "give the mesh asset inertia='shell'"),
    "site": ('<geom size=".1"/><site type="box" mesh="m"/>', "allowed: mesh"),
}


def refusal(source: str, assets: dict[str, bytes] | None = None) -> str:
    """Return the message of the one error that ours raises."""
    with pytest.raises(ModelError) as caught:
        compile_source(source, assets)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_file(name):
    data, words = FILES[name]
    source, assets = model(f'file="{name}"'), {name: data}
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(source, assets)
    message = refusal(source, assets)
    assert words in message and "element <mesh name='m'>" in message and name in message


@pytest.mark.parametrize("name", STRICTER)
def test_stricter(name):
    data, words = STRICTER[name]
    assert words in refusal(model(f'file="{name}"'), {name: data})


@pytest.mark.parametrize("name", INLINE)
def test_inline(name):
    attributes, words = INLINE[name]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(model(attributes))
    assert words in refusal(model(attributes))


@pytest.mark.parametrize("params", ["1e9 1e9 1e9 1 1 1", "1e300 1e300 1e300 1 1 1", "nan 2 2 1 1 1"])
def test_oversized_grid(params):
    """Refused before any memory is taken."""
    assert "in params" in refusal(model(f'builtin="grid" params="{params}"'))


@pytest.mark.parametrize("name", GEOMS)
def test_geom(name):
    geom, words = GEOMS[name]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(model(TETRA, geom))
    assert words in refusal(model(TETRA, geom))


def test_file_outside(tmp_path):
    """A folder given where a file is meant is an error, not a traceback."""
    (tmp_path / "x.stl").mkdir()
    path = tmp_path / "model.xml"
    path.write_text(model('file="x.stl"'))
    assert "x.stl" in refusal(str(path))
