"""The names of mjSpec: which there are, which are left out and why, and what those do that MJCF has otherwise."""

import io
import zipfile

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError

XML = """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><material name="a"/>
<hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/><texture name="t" type="2d" builtin="flat" width="2" height="2"/>
</asset><worldbody><body name="b"><joint name="j"/><frame name="f"><geom name="g" size="1"/></frame><site name="s"/>
<site name="s2" pos="1 0 0"/><camera name="c"/><light name="l"/><body name="in"/></body>
<body name="o"><freejoint/><geom name="k" size="1"/></body>
</worldbody><deformable><flex name="x" dim="1" body="b o" element="0 1"><edge stiffness="2"/></flex></deformable>
<contact><pair name="p" geom1="g" geom2="k"/><exclude name="e" body1="b" body2="o"/></contact>
<tendon><spatial name="n"><site site="s"/><site site="s2"/></spatial></tendon>
<equality><joint name="q" joint1="j"/><weld name="w" body1="b" body2="o"/></equality>
<actuator><general name="u" joint="j"/></actuator>
<sensor><jointpos name="i" joint="j"/>
<framepos name="d" objtype="site" objname="s" reftype="body" refname="b"/></sensor>
<custom><numeric name="y" data="1"/><text name="z" data="x"/>
<tuple name="v"><element objtype="body" objname="b"/></tuple>
</custom><keyframe><key name="r"/></keyframe></mujoco>"""

# Names of mjSpec that are left out, and the reason.
LEFT_OUT = {
    "of a compiled model, which has them by name": "id signature get_data_size needstage datatype dim".split(),
    "C plugins cannot be loaded": "plugin plugins add_plugin activate_plugin hasImplicitPluginElem".split(),
    "of the C compiler: memory, threads, caches, messages": "memory timer nemax authored parent comment".split(),
    "Spec.from_model writes a changed model": ["copy_back"],
    "to_xml, to_file, to_zip and mjx.save do it": ["encode"],
    "the attributes fusestatic, discardvisual of the compiler do it": ["fuse_static", "discard_visual"],
    "spec.compiler holds for all; what is attached keeps its own": ["compiler"],
    "not built": "adopt_inertial dedup_assets override_assets make_flex".split(),
    "MJCF's names do it": "align intrinsic order elastic3d size ctrlspec intprm data default cubefiles".split(),
    "no MJCF attribute": "needsdf octree_maxdepth userfacenormal userfacetexcoord usernode usertet".split(),
    "bones and elements are a list that add() extends": "bindpos bindquat bodyname vertid vertweight objprm".split(),
}
KINDS = {
    "body": "b", "joint": "j", "geom": "g", "site": "s", "camera": "c", "light": "l", "frame": "f", "mesh": "m",
    "hfield": "h", "texture": "t", "material": "a", "flex": "x", "pair": "p", "tendon": "n", "equality": "q",
    "actuator": "u", "sensor": "i", "numeric": "y", "text": "z", "key": "r",
}  # fmt: skip


@pytest.fixture
def spec():
    return mjx.Spec.from_string(XML)


def test_names(spec):
    left_out = {name for names in LEFT_OUT.values() for name in names}
    theirs = mujoco.MjSpec.from_string(XML)
    pairs = [(theirs, spec), *((getattr(theirs, k)(n), getattr(spec, k)(n)) for k, n in KINDS.items())]
    missing = {
        (type(reference).__name__, name)
        for reference, own in pairs
        for name in dir(reference)
        if not name.startswith("_") and not hasattr(own, name) and name not in left_out
    }
    assert missing == set()


def test_going_through(spec):
    body = spec.body("b")
    assert body.first_geom() == spec.geom("g") and body.next_geom(spec.geom("g")) is None
    assert spec.worldbody.first_body() == body and spec.worldbody.next_body(body) == spec.body("o")
    assert body.first_camera().name == "c" and body.first_joint().name == "j" and body.first_frame().name == "f"
    assert spec.body("in").first_site() is None
    with pytest.raises(ModelError, match="is not directly in the body or frame"):
        spec.worldbody.next_geom(spec.geom("g"))
    assert spec.body("b").info.startswith("<string>:")


def test_objects_of_sensors_and_equalities(spec):
    place = spec.sensor("d")
    assert (place.objtype, place.objname, place.reftype, place.refname) == ("site", "s", "body", "b")
    assert (spec.sensor("i").objtype, spec.sensor("i").objname) == ("joint", "j")
    place.refname = "o"
    joint = spec.body("in").add_joint(name="new")
    spec.sensor("i").objname = joint
    spec.body("in").add_geom(size=[0.1])
    assert spec.compile().sensor_objid.tolist() == [1, 0]
    assert (spec.equality("q").name1, spec.equality("q").name2, spec.equality("w").objtype) == ("j", "", "body")
    spec.equality("w").name2 = "in"
    assert spec.compile().eq_obj2id.tolist() == [-1, 2]


def test_orientations(spec):
    spec.compiler.degree = False
    spec.geom("g").alt.euler = [0.1, 0.2, 0.3]
    spec.body("in").mass, spec.body("in").inertia = 1, [1, 2, 3]
    spec.body("in").ialt.axisangle = [0, 0, 1, 0.5]
    m = spec.compile()
    quat = mjx.Spec.resolve_orientation(False, "xyz", spec.geom("g").alt)
    assert np.allclose(m.geom_quat[0], quat, atol=1e-6)
    theirs = mujoco.MjModel.from_xml_string(spec.to_xml())
    assert np.allclose(theirs.geom_quat[0], quat, atol=1e-12) and np.allclose(
        m.body_iquat, theirs.body_iquat, atol=1e-6
    )
    with pytest.raises(AttributeError, match="orientation has no 'roll'"):
        spec.geom("g").alt.roll = 1


def test_body_becomes_frame(spec):
    inner = spec.body("in")
    inner.pos = [1, 0, 0]
    inner.add_geom(name="far", size=[0.1], pos=[0, 1, 0])
    frame = inner.to_frame()
    m = spec.compile()
    assert frame.name == "in" and m.nbody == 3 and np.allclose(m.geom("far").pos, [1, 1, 0])
    with pytest.raises(ModelError, match="has joints, an inertial or mocap; it cannot become a frame"):
        spec.body("b").to_frame()


def test_flex_has_its_parts_attributes(spec):
    flex = spec.flex("x")
    assert flex.edgestiffness == 2 and flex.edgedamping == 0 and flex.condim == 3
    flex.edgedamping, flex.margin, flex.elem = 3, 0.1, [1, 0]
    m = spec.compile()
    assert m.flex_edgedamping[0] == 3 and np.isclose(m.flex_margin[0], 0.1) and m.flex_elem.tolist() == [1, 0]


MADE = {
    "sphere": (2,), "hemisphere": (3,), "cone": (5, 0.5), "supersphere": (5, 0.5, 0.6),
    "supertorus": (5, 0.5, 0.6, 0.7), "wedge": ([5, 6], [30, 40], 0.5), "plate": ([2, 3],),
    "grid": ([3, 2, 2], [1, 2, 1]), "box": ([3, 2, 2], [0.1, 0.2, 0.3], 2), "cylinder": ([3, 3, 3], [1, 1, 1]),
    "ellipsoid": ([3, 3, 3], [1, 2, 1], 2), "square": ([3, 3], [1, 1]), "disc": ([3, 3], [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("kind", MADE)
def test_made_meshes(kind):
    models = []
    for spec in (mjx.Spec(), mujoco.MjSpec()):
        getattr(spec.add_mesh(name="m"), f"make_{kind}")(*MADE[kind])
        models.append(spec.compile())
    own, theirs = models
    assert np.allclose(own.mesh_vert, theirs.mesh_vert, atol=1e-6)
    assert np.array_equal(own.mesh_face, theirs.mesh_face)


def test_settings(spec):
    spec.nuser_geom, spec.meshdir = 2, "meshes"
    assert spec.size.nuser_geom == 2 and spec.compiler.meshdir == "meshes" and spec.modelfiledir == ""
    assert spec.compile().geom_user.shape == (2, 2)
    with pytest.raises(ModelError, match="copy_during_attach cannot be False"):
        spec.copy_during_attach = False


def test_zip(tmp_path):
    cube = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.obj").write_bytes(cube)
    (tmp_path / "m.xml").write_text(
        """<mujoco model="pair"><compiler meshdir="meshes"/><asset><mesh file="a.obj"/>
<mesh name="k" file="b.obj"/></asset>
<worldbody><geom type="mesh" mesh="a"/><geom type="mesh" mesh="k"/></worldbody></mujoco>"""
    )
    spec = mjx.Spec.from_file(tmp_path / "m.xml", assets={"b.obj": cube})
    file = io.BytesIO()
    spec.to_zip(file)
    assert sorted(zipfile.ZipFile(file).namelist()) == ["b.obj", "meshes/a.obj", "pair.xml"]
    assert mjx.Spec.from_zip(file).compile().nmesh == 2
    spec.to_zip(tmp_path / "m.zip")
    assert mujoco.MjSpec.from_zip(str(tmp_path / "m.zip")).compile().nmesh == 2
    (tmp_path / "no.zip").write_bytes(b"no")
    with pytest.raises(ModelError, match="is no zip archive that can be read"):
        mjx.Spec.from_zip(tmp_path / "no.zip")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.xml", "<mujoco/>")
        archive.writestr("b.xml", "<mujoco/>")
    with pytest.raises(ModelError, match="holds 2 models at its top"):
        mjx.Spec.from_zip(tmp_path / "two.zip")
