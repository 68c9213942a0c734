"""A compiled model written as MJCF compiles to the same Model, also after its floats were changed."""

import dataclasses
import importlib.util
import pathlib
import warnings

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.decompile.model import decompile
from mjx_like.compiler.finalize import finalize
from mjx_like.errors import InputError, ModelError
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.writer import to_xml
from mjx_like.types.topology import Topology
from tests.compiler.compare import array_differences, oracle
from tests.compiler.features import FEATURES
from tests.compiler.test_flex import MODELS as FLEX_MODELS
from tests.mjcf.composite_cases import CABLES
from tests.models import ALL, HERE
from tests.support.oracle import GYM
from tests.support.tolerances import EXACT, SINGLE

PIXELS = ("tex_data",)  # MJCF has them in files alone
RESCALED = ("skin_bonevertweight",)
# What the compiler derives from the rest; a changed leaf of these cannot be written.
DERIVED = (
    "qpos0", "qpos_spring", "body_subtreemass", "body_invweight0", "body_margin", "dof_invweight0", "dof_M0",
    "dof_length", "geom_aabb", "geom_rbound", "geom_fluid", "cam_poscom0", "cam_pos0", "cam_mat0", "cam_intrinsic",
    "light_poscom0", "light_pos0", "light_dir0", "tendon_length0", "tendon_invweight0", "actuator_acc0",
    "actuator_length0", "eq_data", "body_quat", "body_iquat", "geom_quat", "site_quat", "cam_quat", "jnt_axis",
    "light_dir", "hfield_data", "key_qpos", "key_mquat", "mat_texrepeat", "skin_bonebindquat", "skin_bonevertweight",
    "body_pos", "cam_fovy", "wrap_prm", "key_plastic",
)  # fmt: skip


def files() -> list[pathlib.Path]:
    """Every model file of ours, of gymnasium, of dm_control and of mujoco-mjx."""
    packages = [importlib.util.find_spec(name).origin for name in ("gymnasium", "dm_control", "mujoco.mjx")]
    roots = [pathlib.Path(origin).parent for origin in packages]
    return ALL + [path for root in roots for path in sorted(root.rglob("*.xml"))]


def with_pixels_of(m: mjx.Model, other: mjx.Model) -> Topology:
    """Return the Topology of a model with the pixels of another, which MJCF cannot hold."""
    return dataclasses.replace(m.topology, **{name: getattr(other.topology, name) for name in PIXELS})


def assert_same(first, second, skip=(), limit=EXACT) -> None:
    """Assert that two compiled sets of arrays agree, fields aside whose names begin as in `skip`."""
    for part in ("fields", "options", "statistics"):
        for name, value in getattr(first, part).items():
            if name.startswith((*PIXELS, *skip)):
                continue
            value, other = np.asarray(value, float), np.asarray(getattr(second, part)[name], float)
            assert value.shape == other.shape, name
            if value.size:
                error = np.abs(value - other).max() / (1e-9 + np.abs(value).max())
                assert error < (SINGLE if name in RESCALED else limit), (name, error)
    assert first.names == second.names
    assert first.visual == second.visual
    assert first.unsupported == second.unsupported


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_features(name):
    first = compile_spec(parse_string(FEATURES[name]))
    text = to_xml(decompile(finalize(first, dtype=np.float64)))
    assert_same(first, compile_spec(parse_string(text)))
    mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("path", sorted(HERE.glob("features/sensor*.xml")), ids=lambda path: path.stem)
def test_every_sensor_is_written(path):
    first = compile_spec(parse_file(path))
    second = compile_spec(parse_string(to_xml(decompile(finalize(first, dtype=np.float64)))))
    for name in (name for name in first.fields if name.startswith("sensor_")):
        np.testing.assert_allclose(second.fields[name], first.fields[name], rtol=EXACT, err_msg=name)


# What single precision decides otherwise: which faces of a hull lie in one plane; a cube map of one repeated picture.
HULL = ("mesh_graph", "mesh_poly", "nmeshpoly", "tex_height", "tex_adr", "ntexdata", "mesh_pos")


@pytest.mark.slow
def test_every_file_at_hand():
    written = meshes = 0
    for path in files():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                first = compile_spec(parse_file(path))
                if first.fields["nmeshvert"] > 20_000 or first.fields["nflex"]:
                    continue
                text = to_xml(decompile(finalize(first, dtype=np.float64)))
            except ModelError:
                continue
            mesh = bool(first.fields["nmesh"])
            assert_same(first, compile_spec(parse_string(text)), HULL if mesh else (), 2e-6 if mesh else EXACT)
            mujoco.MjModel.from_xml_string(text)
            written, meshes = written + 1, meshes + mesh
    assert written >= 120 and meshes >= 5


MESHES = """<mujoco><asset>
  <mesh name="tet" vertex="0 0 0 1 0 0 0 2 0 .2 .3 3" scale="1 2 -.5"/>
  <mesh name="blob" builtin="supersphere" params="12 .7 .9" scale="1 2 3"/>
  <mesh name="shell" inertia="shell" vertex="0 0 0 1 0 0 0 2 0 .2 .3 3" normal="0 0 -1 1 0 0 0 1 0 0 0 1"
    texcoord="0 0 1 0 0 1 1 1" face="0 2 1 0 1 3 1 2 3 0 3 2"/>
  <mesh name="cut" builtin="supersphere" params="12 .5 .6" scale="2 1 3" maxhullvert="9"/></asset>
  <worldbody><geom type="mesh" mesh="cut" pos="5 0 0"/><body pos="1 2 3"><freejoint/>
    <geom name="g" type="mesh" mesh="tet" pos="1 0 0" euler="10 20 30"/><geom type="mesh" mesh="shell" mass="2"/>
    <geom type="box" mesh="blob"/><geom type="ellipsoid" mesh="tet"/></body></worldbody></mujoco>"""


def test_meshes():
    first = compile_spec(parse_string(MESHES))
    text = to_xml(decompile(finalize(first, dtype=np.float64)))
    second = compile_spec(parse_string(text))
    assert_same(first, second, ("mesh_graph", "mesh_poly"), 2e-6)
    assert first.fields["mesh_graph"].size == second.fields["mesh_graph"].size
    theirs = mujoco.MjModel.from_xml_string(text)
    for name in ("geom_pos", "geom_size", "body_mass", "mesh_pos", "geom_dataid", "mesh_scale"):
        np.testing.assert_allclose(second.fields[name], getattr(theirs, name), rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", ["humanoid.xml", "ant.xml"])
def test_model_of_mujoco_is_written_for_mujoco(name):
    first = mujoco.MjModel.from_xml_path(str(GYM / name))
    second = mujoco.MjModel.from_xml_string(mjx.Spec.from_model(mjx.put_model(first, dtype=np.float64)).to_xml())
    for field in ("body_mass", "body_inertia", "geom_size", "dof_damping", "jnt_range", "actuator_gear", "qpos0"):
        np.testing.assert_allclose(getattr(second, field), getattr(first, field), rtol=1e-12, atol=1e-14)


CHANGED = (
    "joints", "shapes", "tendons", "actuators", "servos", "sensors", "contact", "equality", "cameras_lights",
    "materials", "geom_attributes", "limits", "fluid", "user_sizes",
)  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_changed_floats_are_written(name):
    model = finalize(compile_spec(parse_string(FEATURES[name])), dtype=np.float64)
    leaves = {
        field: value * 1.01
        for field, value in vars(model).items()
        if isinstance(value, jax.Array) and field not in DERIVED and value.size
    }
    gravity = np.array([1.0, 2, 3])
    changed = model.replace(**leaves, opt=model.opt.replace(gravity=gravity, timestep=0.0123))
    again = finalize(compile_spec(decompile(changed)), dtype=np.float64)
    for field, value in leaves.items():
        np.testing.assert_allclose(getattr(again, field), value, rtol=1e-7, atol=1e-300, err_msg=field)
        assert (np.asarray(value) != np.asarray(getattr(model, field))).any() or not np.any(value)
    np.testing.assert_array_equal(again.opt.gravity, gravity)
    assert again.opt.timestep == 0.0123 and with_pixels_of(again, changed) == changed.topology


def test_single_precision_reads_well():
    model = finalize(compile_spec(parse_file(GYM / "humanoid.xml")), dtype=np.float32)
    text = to_xml(decompile(model))
    assert 'pos="0 0 1.4"' in text and 'size="0.07 0.07 0"' in text
    again = finalize(compile_spec(parse_string(text)), dtype=np.float32)
    assert with_pixels_of(again, model) == model.topology
    for first, second in zip(jax.tree.leaves(model), jax.tree.leaves(again), strict=True):
        np.testing.assert_allclose(first, second, rtol=2e-6, atol=1e-6)


def test_moments_of_a_flat_body_survive_rounding():
    xml = """<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".1 .2 .3"/></body>
      </worldbody></mujoco>"""
    model = finalize(compile_spec(parse_string(xml)), dtype=np.float64)
    model = model.replace(body_inertia=model.body_inertia.at[1, 2].set(0.3 * (1 + 1e-7)))
    again = compile_spec(parse_string(to_xml(decompile(model))))
    np.testing.assert_allclose(again.fields["body_inertia"][1], [0.1, 0.2, 0.3], rtol=1e-6)


SHAPE = """<mujoco>
  <extension><plugin plugin="mujoco.sdf.{}"><instance name="i"/></plugin></extension>
  <asset><mesh name="m"><plugin instance="i"/></mesh></asset>
  <worldbody><body euler="10 20 30"><geom type="sdf" mesh="m"><plugin instance="i"/></geom></body></worldbody></mujoco>
"""


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["nut", *CABLES])
def test_plugins_are_written(name, dtype):
    xml = CABLES[name] if name in CABLES else SHAPE.format(name)
    model = mjx.Model.from_xml_string(xml, dtype=dtype)
    again = mjx.Model.from_xml_string(to_xml(decompile(model)), dtype=dtype)
    assert model.topology.ncable or model.topology.nsdf
    assert with_pixels_of(again, model) == model.topology
    limit = 1e-9 if dtype == np.float64 else 3e-6
    for first, second in zip(jax.tree.leaves(model), jax.tree.leaves(again), strict=True):
        scale = np.abs(first).max() if first.size else 1
        np.testing.assert_allclose(first, second, rtol=limit, atol=limit * scale)


@pytest.mark.slow
def test_changed_cables_and_shapes_are_written():
    cable = mjx.Model.from_xml_string(CABLES["plugin"], dtype=np.float64)
    changed = cable.replace(cable_stiffness=cable.cable_stiffness * np.array([2.0, 3, 3]))
    again = mjx.Model.from_xml_string(to_xml(decompile(changed)), dtype=np.float64)
    np.testing.assert_allclose(again.cable_stiffness, changed.cable_stiffness, rtol=1e-12)
    nut = mjx.Model.from_xml_string(SHAPE.format("nut"), dtype=np.float64)
    changed = nut.replace(sdf_param=nut.sdf_param * 1.1)
    again = mjx.Model.from_xml_string(to_xml(decompile(changed)), dtype=np.float64)
    np.testing.assert_allclose(again.sdf_param, changed.sdf_param, rtol=1e-12)


def test_save_xml(tmp_path):
    model = mjx.Model.from_xml_path(str(GYM / "ant.xml"), dtype=np.float64)
    mjx.save_xml(tmp_path / "model.xml", model.replace(body_mass=model.body_mass * 2))
    mjx.save_xml(tmp_path / "spec.xml", mjx.Spec.from_file(GYM / "ant.xml"))
    from_model, from_spec = (
        mjx.Model.from_xml_path(str(tmp_path / name), dtype=np.float64) for name in ("model.xml", "spec.xml")
    )
    np.testing.assert_allclose(from_model.body_mass, 2 * model.body_mass, rtol=1e-13)
    assert from_spec.topology == model.topology
    for first, second in zip(jax.tree.leaves(model), jax.tree.leaves(from_spec), strict=True):
        np.testing.assert_array_equal(first, second)


TREE = '<body name="b"><joint name="j" type="ball"/><geom name="g" size=".1"/></body>'


def refused(change, body=TREE, rest=""):
    model = finalize(compile_spec(parse_string(f"<mujoco><worldbody>{body}</worldbody>{rest}</mujoco>")))
    return lambda: decompile(change(model))


def cable_refused(change):
    return lambda: decompile(change(mjx.Model.from_xml_string(CABLES["plugin"], dtype=np.float64)))


REFUSED = {
    "joint 'j': dof_armature differs between its degrees of freedom": refused(
        lambda m: m.replace(dof_armature=jnp.array([1.0, 2, 3])), TREE.replace('"ball"', '"ball" armature="1"')
    ),
    "joint 'j': qpos0 is not the identity": refused(lambda m: m.replace(qpos0=jnp.array([0.0, 1, 0, 0]))),
    "joint 'j': qpos0 is not body_pos and body_quat of its body": refused(
        lambda m: m.replace(qpos0=m.qpos0 + 1), TREE.replace("ball", "free")
    ),
    "actuator 0 refers to joint 0, which has no name": refused(
        lambda m: m.replace(topology=renamed(m, mjx.ObjType.JOINT)),
        TREE.replace("ball", "hinge"),
        '<actuator><motor joint="j"/></actuator>',
    ),
    "hfield 'h': hfield_data is not from 0 to 1": refused(
        lambda m: m.replace(hfield_data=m.hfield_data * 2),
        '<geom type="hfield" hfield="h"/>',
        '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 2 3"/></asset>',
    ),
    "no modulus gives the cable_stiffness of its cable": cable_refused(
        lambda m: m.replace(cable_stiffness=m.cable_stiffness.at[0].multiply(2))
    ),
    "cable_curvature is neither 0 nor that of body_quat": cable_refused(
        lambda m: m.replace(cable_curvature=m.cable_curvature + 0.1)
    ),
}


def renamed(m, kind):
    """Topology in which no object of a kind has a name."""
    names = m.topology.names | {kind: ("",) * len(m.topology.names[kind])}
    return type(m.topology)(**{**vars(m.topology), "names": names})


@pytest.mark.parametrize("message", sorted(REFUSED))
def test_what_no_file_says(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()


def test_batch_is_refused():
    model = finalize(compile_spec(parse_string(f"<mujoco><worldbody>{TREE}</worldbody></mujoco>")))
    with pytest.raises(InputError, match="take one model of the batch"):
        decompile(jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), model))


FLEXES = (
    "edges in body", "chain in world", "block in frame", "cloth in world", "ellipsoid in body", "rigid in body",
    "plastic block in world", "plastic cloth in body", "explicit", "planar in body",
)  # fmt: skip


@pytest.mark.parametrize("name", FLEXES)
def test_flexes(name):
    first = compile_spec(parse_string(FLEX_MODELS[name]))
    text = to_xml(decompile(finalize(first, dtype=np.float64)))
    assert_same(first, compile_spec(parse_string(text)), limit=1e-9)
    mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("kind", ["stretch", "bend", "both"])
def test_elasticity(kind):
    """Modulus, ratio and thickness come back where the stiffness tells them, and always the stiffness."""
    cloth = FLEX_MODELS["cloth in world"].replace('elastic2d="both"', f'elastic2d="{kind}"')
    first = compile_spec(parse_string(cloth))
    spec = decompile(finalize(first, dtype=np.float64))
    assert_same(first, compile_spec(spec), limit=1e-9)
    found = spec.sections["deformable"][0].find("elasticity").attrib
    assert found["elastic2d"] == kind
    if kind == "both":
        assert np.allclose([found[name] for name in ("young", "poisson", "thickness")], [1e4, 0.2, 0.01], rtol=1e-9)


def test_flexes_that_no_mjcf_says():
    m = finalize(compile_spec(parse_string(FLEX_MODELS["block in world"])), dtype=np.float64)
    doubled = m.replace(flex_stiffness=2 * m.flex_stiffness)
    young = decompile(doubled).sections["deformable"][0].find("elasticity").get("young")
    assert np.isclose(young, 2e4, rtol=1e-9)
    uneven = m.replace(flex_stiffness=m.flex_stiffness.at[0].multiply(3))
    with pytest.raises(ModelError, match="flex 'f': its flex_stiffness or flex_bending is that of no elasticity"):
        decompile(uneven)


@pytest.mark.parametrize("name", ["cloth in frame", "block in body", "trilinear", "rod in world", "explicit"])
def test_flexes_of_a_spec(name):
    """A Spec writes what its flexcomps stand for."""
    spec = parse_string(FLEX_MODELS[name])
    assert array_differences(compile_spec(spec), oracle(to_xml(spec))) == {}
