"""Leaves by name: what a name stands for, values set as in MuJoCo, derivatives, messages."""

import glob

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_path, from_xml_string
from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from mjx_like.leaves.change import leaf_value, with_leaves
from mjx_like.leaves.selection import select
from mjx_like.set_const import READ, set_const
from tests.support.oracle import error

XML = """
<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
<body name="trunk" pos="0 0 1"><freejoint name="root"/><geom name="trunk" size=".1" mass="2"/>
  <body name="left_leg" pos="0 .1 0"><joint name="left_hip" axis="0 1 0" damping=".3"/>
    <geom name="left_foot" type="capsule" size=".03" fromto="0 0 0 0 0 -.4"/></body>
  <body name="right_leg" pos="0 -.1 0"><joint name="right_hip" axis="0 1 0"/>
    <geom name="right_foot" type="capsule" size=".03" fromto="0 0 0 0 0 -.4"/></body></body>
</worldbody><actuator><motor name="kick" joint="left_hip" gear="5"/><position joint="right_hip" kp="3"/></actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def m():
    return from_xml_string(XML)


@pytest.mark.parametrize(
    "name, shape, where",
    [
        ("geom_friction", (4, 3), np.s_[:]),
        ("geom_friction[0]", (4,), np.s_[:, 0]),
        ("geom_friction@floor", (3,), np.s_[0]),
        ("geom_friction@floor[-1]", (), np.s_[0, 2]),
        ("geom_friction@*_foot[0]", (2,), np.s_[2:, 0]),
        ("geom_friction@right_foot, floor", (2, 3), np.s_[[0, 3]]),
        ("body_mass@trunk", (), np.s_[1]),
        ("dof_damping@left_hip", (), np.s_[6]),
        ("qpos0@root", (7,), np.s_[:7]),
        ("actuator_gear@kick[0]", (), np.s_[0, 0]),
        ("gravity", (3,), np.s_[:]),
        ("opt.gravity[2]", (), np.s_[2]),
        ("timestep", (), np.s_[()]),
    ],
)
def test_what_a_name_stands_for(m, name, shape, where):
    part = select(m, name)
    leaf = np.asarray(getattr(m.opt if part.field in ("gravity", "timestep") else m, part.field))
    assert part.shape == shape == leaf_value(m, name).shape
    assert np.array_equal(leaf_value(m, name), leaf[where])
    changed = leaf.copy()
    changed[where] = 0.25 + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    after = part.put(m, changed[where])
    assert np.array_equal(getattr(after.opt if part.field in ("gravity", "timestep") else after, part.field), changed)


def test_set_by_name_equals_mujoco_with_derived_constants():
    c = mujoco.MjModel.from_xml_string(XML)
    changes = {"body_mass@trunk": 5.0, "geom_friction[0]": 0.3, "actuator_gear@kick[0]": 7.0}
    m = jax.jit(lambda m: with_leaves(m, changes))(put_model(c))
    c.body("trunk").mass, c.geom_friction[:, 0] = 5.0, 0.3
    c.actuator("kick").gear[0] = 7.0
    mujoco.mj_setConst(c, mujoco.MjData(c))
    for name in ("body_mass", "body_subtreemass", "body_invweight0", "geom_friction", "actuator_gear", "actuator_acc0"):
        assert error(getattr(m, name), getattr(c, name)) < 1e-12, name


def test_only_what_set_const_reads_is_derived(m):
    plain = with_leaves(m, {"body_mass": 2.0}, derive=False)
    assert error(plain.body_invweight0, m.body_invweight0) == 0
    assert with_leaves(m, {"geom_friction": 0.5, "gravity": [0, 0, -1]}).body_invweight0 is m.body_invweight0


@pytest.mark.slow
def test_read_names_what_derived_constants_depend_on():
    """By the traced program of set_const of every small model."""
    used = set()
    for path in sorted(glob.glob("tests/models/features/*.xml")):
        model = from_xml_path(path)
        keys = [jax.tree_util.keystr(k).lstrip(".") for k, _ in jax.tree_util.tree_flatten_with_path(model)[0]]
        program = jax.make_jaxpr(set_const)(model).jaxpr
        names = dict(zip(program.invars, keys, strict=True))
        needed = {v for v in program.outvars if v not in names}
        for equation in reversed(program.eqns):
            if needed & set(equation.outvars):
                needed |= {v for v in equation.invars if not isinstance(v, jax.extend.core.Literal)}
        used |= {names[v] for v in needed & names.keys()}
    memory = {"opt_floats.timestep", "sensor_interval", "qpos_spring", "tendon_lengthspring"}  # of delays and springs
    outputs = {"geom_aabb", "actuator_acc0", "qpos0"}  # of meshes, of models without dofs
    assert used - memory - outputs <= READ
    assert READ - used <= {"flex_vert", "flex_node"}


@pytest.mark.slow
def test_derivative_by_a_part_equals_differences(m):
    def weight(mass):
        return jnp.sum(with_leaves(m, {"body_mass@trunk": mass, "geom_size@left_foot[0]": 0.01 * mass}).body_invweight0)

    eps = 1e-5
    differences = (weight(3 + eps) - weight(3 - eps)) / (2 * eps)
    assert abs(differences) > 1e-3
    assert error(jax.grad(weight)(3.0), differences) < 1e-7
    assert error(jax.vmap(weight)(jnp.array([1.0, 3.0]))[1], weight(3.0)) < 1e-12


@pytest.mark.parametrize(
    "name, message",
    [
        ("geom_frction", "no float parameter 'geom_frction'; did you mean 'geom_friction'?"),
        ("body_mass@trnk", "nothing is named 'trnk'; did you mean 'trunk'?; there are: world, trunk, left_leg"),
        ("body_mass[9]", "column 9, but its last axis has 4 entries"),
        ("geom_friction@floor[3]", "column 3, but its last axis has 3 entries"),
        ("body_invweight0", "it is a derived constant, and is not set"),
        ("gravity@trunk", "its rows have no names in this model: leave out '@trunk'"),
        ("body mass", "must be FIELD, FIELD@OBJECTS or FIELD@OBJECTS[COLUMN], such as 'body_mass@torso'"),
        ("dof_damping", "load the model with active=('dof_damping',)"),
        (3, "leaf 3: must be FIELD"),
    ],
)
def test_errors(m, name, message):
    with pytest.raises(InputError) as caught:
        with_leaves(m, {name: 1.0})
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_value_that_does_not_fit(m):
    with pytest.raises(InputError, match=r"leaf 'geom_friction@floor' has shape \(3,\), its value \(2,\)"):
        with_leaves(m, {"geom_friction@floor": [1.0, 2.0]})


def test_lengths_and_speeds_of_hard_contact(m):
    hard = m.replace(opt=m.opt.replace(contact="hard", gap=1e-3))
    after = with_leaves(hard, {"gap": 1e-4, "recovery": 2.0})
    np.testing.assert_allclose([after.opt.gap, after.opt.slip, after.opt.recovery], [1e-4, 1e-3, 2.0])
    after = with_leaves(hard, {"slip": 0.5, "gap": 1e-4})
    np.testing.assert_allclose([after.opt.gap, after.opt.slip], [1e-4, 0.5])
    with pytest.raises(InputError, match=r"leaf 'gap' belongs to hard contact: mjx.with_hard_contact\(m\) has it"):
        with_leaves(m, {"gap": 1e-4})
