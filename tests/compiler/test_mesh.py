"""Mesh assets and the geoms that use them, field by field against mjModel."""

import numpy as np
import pytest

import mjx_like as mjx
from tests.compiler.compare import OURS, compile_source, differences, oracle
from tests.compiler.meshes import BLOCK, BLOCK_FACES, ascii_stl, blob, model, msh, notched, obj, stl, text

NOTCHED, NOTCHED_FACES = notched()
CLOUD = f'vertex="{text(blob())}"'
SOLID = f'vertex="{text(BLOCK)}" face="{text(BLOCK_FACES)}"'
DENT = f'vertex="{text(NOTCHED)}" face="{text(NOTCHED_FACES)}"'
QUIET = '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'


def geom(kind: str, more: str = "") -> str:
    return f'<geom type="{kind}" mesh="m" pos=".1 .2 .3" euler="10 20 30" {more}/>'


MODELS = {
    "cloud": model(CLOUD),
    "solid": model(SOLID),
    "not colliding": model(SOLID, QUIET),
    "dent legacy": model(DENT),
    "dent exact": model(DENT + ' inertia="exact"', QUIET),
    "dent convex": model(DENT + ' inertia="convex"', QUIET),
    "dent shell": model(DENT + ' inertia="shell"'),
    "cloud convex": model(CLOUD + ' inertia="convex"'),
    "scale": model(CLOUD + ' scale=".1 2 3"'),
    "mirrored": model(DENT + ' scale="-1 2 .5" inertia="exact"'),
    "mirrored cloud": model(CLOUD + ' scale="1 -1 1"'),
    "turned over": model(SOLID + ' scale="-1 -1 1"'),
    "tiny": model(CLOUD + ' scale="1e-3 1e-3 1e-3"', '<geom type="mesh" mesh="m" mass="1"/>'),
    "refpos": model(CLOUD + ' refpos=".3 -.2 .5"'),
    "refquat": model(DENT + ' refquat="1 .2 -.3 .5" refpos="1 2 3" scale="1 2 3"'),
    "few hull vertices": model(CLOUD + ' maxhullvert="7"'),
    "smooth": model(SOLID + ' smoothnormal="true"'),
    "normals": model(SOLID + f' normal="{text(BLOCK - 0.3)}"'),
    "texcoord": model(SOLID + f' texcoord="{text(BLOCK[:, :2])}"'),
    "geom pose": model(CLOUD, geom("mesh")),
    "mass": model(CLOUD, geom("mesh", 'mass="2.5"')),
    "density": model(CLOUD, geom("mesh", 'density="20"')),
    "material": model(CLOUD + ' material="red"'),
    "fluid": model(CLOUD, geom("mesh", 'fluidshape="ellipsoid"')),
    "sdf": model(CLOUD, geom("sdf")),
    "two geoms": model(CLOUD, geom("mesh") + '<geom size=".1" pos="1 0 0"/>'),
    "free": model(CLOUD, geom("mesh")).replace('<joint axis="1 2 3"/>', '<freejoint align="true"/>'),
    "site": model(SOLID, '<geom size=".1"/><site type="mesh" mesh="m" pos="1 2 3" euler="10 0 0"/>'),
    "unused": model(SOLID, '<geom size=".1"/>'),
    "pair": model(
        SOLID,
        '<geom name="g" type="mesh" mesh="m" contype="0" conaffinity="0"/></body><body><joint/>'
        '<geom name="h" size=".1"/>',
        rest='<contact><pair geom1="g" geom2="h"/></contact>',
    ),
    "default scale": model(CLOUD).replace("<asset>", '<default><mesh scale="2 2 2"/></default><asset>'),
}
for _kind in ("sphere", "capsule", "cylinder", "ellipsoid", "box"):
    MODELS[f"fitted {_kind}"] = model(DENT, geom(_kind, 'fitscale="1.3" size="1 2 3"'))
    MODELS[f"around {_kind}"] = model(DENT + ' inertia="shell"', geom(_kind), 'fitaabb="true"')


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    assert differences(MODELS[name], skip=OURS) == {}


BUILTIN = {
    "sphere": ("0", "2"), "hemisphere": ("0", "3"), "cone": ("3 0", "5 .3", "4 1"),
    "supersphere": ("4 1 1", "9 .3 1.7"), "supertorus": ("4 .5 1 1", "9 .2 .4 2.3"),
    "wedge": ("4 5 60 40 .3",), "plate": ("3 4", "2 2"),
    "grid": ("2 3 4 1 2 3", "3 4 1 1 1 1 2"), "square": ("3 4 1 1 2 1",), "disc": ("5 4 1 1 2 1",),
    "box": ("3 3 3 1 1 2", "2 3 4 1 2 3 2"), "cylinder": ("3 4 5 .1 .2 .3", "4 4 3 1 1 1 2"),
    "ellipsoid": ("3 4 5 1 2 3", "3 3 3 1 1 1 2"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "params"), [(k, p) for k, cases in BUILTIN.items() for p in cases])
def test_builtin(kind, params):
    source = model(
        f'builtin="{kind}" params="{params}" scale="1 1.5 2"',
        '<geom type="mesh" mesh="m" contype="0" conaffinity="0" mass="1"/>',
    )
    assert differences(source, skip=OURS) == {}


FILES = {
    "a.stl": stl(NOTCHED, NOTCHED_FACES),
    "A.STL": stl(blob(40), np.random.default_rng(1).integers(0, 40, (60, 3))),
    "a.msh": msh(NOTCHED, NOTCHED_FACES),
    "cloud.msh": msh(blob()),
    "full.msh": msh(BLOCK, BLOCK_FACES, BLOCK - 0.3, BLOCK[:, :2]),
    "a.obj": obj(NOTCHED, NOTCHED_FACES),
    "quads.obj": obj(BLOCK, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]),
    "cloud.obj": obj(blob()),
    "shapes.obj": obj(NOTCHED, (), "o one\nf 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\no two\nf 1 5 6\nf 1 6 2"),
    "corners.obj": obj(
        BLOCK[[0, 1, 2, 4]], (), "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nvn 0 1 0\nf 1/1/1 3/2/1 4/3/1\nf 1/1/2 4/2/2 2/3/2"
        "\nf -4/1/1 -3/2/1 -2/3/1\nf 2/1/1 4/2/1 3/3/1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("more", ["", ' scale="2 -1 1"'])
def test_file(name, more):
    assets = {name: FILES[name]}
    assert differences(model(f'file="{name}"' + more, QUIET), assets, skip=OURS) == {}


def test_text_stl():
    """MuJoCo takes binary STL only; the text form gives the same model."""
    source = model('file="a.stl"')
    ours = compile_source(source, {"a.stl": ascii_stl(NOTCHED, NOTCHED_FACES)}).fields
    theirs = oracle(source, {"a.stl": stl(NOTCHED, NOTCHED_FACES)}).fields
    for name in ("mesh_vert", "mesh_face", "geom_pos", "geom_quat", "body_mass"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-9)


def test_content_type_goes_before_the_ending():
    ours = compile_source(model('file="a.bin" content_type="model/stl"'), {"a.bin": FILES["a.stl"]}).fields
    np.testing.assert_array_equal(
        ours["mesh_vert"], compile_source(model('file="a.stl"'), {"a.stl": FILES["a.stl"]}).fields["mesh_vert"]
    )


@pytest.mark.parametrize(
    ("compiler", "file"),
    [('meshdir="sub"', "x.msh"), ('assetdir="sub"', "x.msh"), ('meshdir="sub" strippath="true"', "/other/x.msh")],
)
def test_directories(tmp_path, compiler, file):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.msh").write_bytes(FILES["a.msh"])
    path = tmp_path / "model.xml"
    path.write_text(model(f'file="{file}"', compiler=compiler).replace('<mesh name="m"', "<mesh").replace('"m"', '"x"'))
    assert differences(str(path), skip=OURS) == {}


@pytest.mark.parametrize("name", ["solid", "smooth", "normals", "mirrored", "refquat", "cloud"])
def test_normals(name):
    ours, theirs = compile_source(MODELS[name]).fields, oracle(MODELS[name]).fields
    np.testing.assert_allclose(ours["mesh_normal"], theirs["mesh_normal"], atol=2e-6)


@pytest.mark.parametrize("name", ["solid", "dent convex", "cloud", "few hull vertices", "mirrored"])
def test_hull(name):
    """The hull has MuJoCo's faces; its polygons are flat, close it, and name their corners."""
    ours, theirs = compile_source(MODELS[name]).fields, oracle(MODELS[name]).fields
    assert ours["nmeshgraph"] == theirs["nmeshgraph"]
    nvert, nface = ours["mesh_graph"][:2]
    assert (nvert, nface) == tuple(theirs["mesh_graph"][:2])
    assert set(ours["mesh_graph"][2 + nvert : 2 + 2 * nvert]) == set(theirs["mesh_graph"][2 + nvert : 2 + 2 * nvert])
    assert ours["nmeshpoly"] == theirs["nmeshpoly"]
    vert, volume, corners = np.asarray(ours["mesh_vert"], float), 0.0, 0
    for number, address, normal in zip(
        ours["mesh_polyvertnum"], ours["mesh_polyvertadr"], ours["mesh_polynormal"], strict=True
    ):
        points = vert[ours["mesh_polyvert"][address : address + number]]
        assert np.abs((points - points[0]) @ normal).max() < 1e-6
        assert ((vert - points[0]) @ normal).max() < 1e-6 or name in ("few hull vertices", "mirrored")
        fan = np.cross(points[1:-1] - points[0], points[2:] - points[0])
        volume += float(np.sum(fan @ points[0])) / 6
        corners += number
    assert corners == ours["nmeshpolymap"] == ours["mesh_polymapnum"].sum()
    hull = theirs["mesh_graph"][2 + 3 * nvert + 3 * nface :].reshape(-1, 3)
    a, b, c = (np.asarray(theirs["mesh_vert"], float)[hull[:, k]] for k in range(3))
    assert volume == pytest.approx(float(np.sum(np.cross(a, b) * c)) / 6, rel=1e-6)


def test_vertices_are_leaves_and_a_mesh_is_supported():
    source = model(SOLID, '<geom name="block" type="mesh" mesh="m"/>').replace(
        "</worldbody>", '<geom name="floor" type="plane" size="1 1 1"/></worldbody>'
    )
    m = mjx.Model.from_xml_string(source)
    assert m.mesh_vert.shape == (8, 3) and m.replace(mesh_vert=2 * m.mesh_vert).mesh_vert[7, 0] == 2 * m.mesh_vert[7, 0]
    assert not m.unsupported and mjx.make_data(m).contact.dist.size > 0
