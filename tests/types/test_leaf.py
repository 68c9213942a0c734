"""What leaf() declares: unit and role of every leaf, and the lists that follow, held against MuJoCo."""

import dataclasses
import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.rk4 import COUNTERS
from mjx_like.interop.convert import STORED_OTHERWISE, put_data, put_model
from mjx_like.rollout.recording import Trajectory
from mjx_like.rollout.rollout import CARRIED, rollout
from mjx_like.set_const import set_const
from mjx_like.state.initial import STATE
from mjx_like.state.vector import FIELDS
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import State
from mjx_like.types.hard import HardContact
from mjx_like.types.model import TERMS, Model
from mjx_like.types.option import OPTION_TERMS, OptionFloats, Statistic
from mjx_like.types.pytree import Role, leaves, shape_in
from mjx_like.types.smoothing import Smoothing
from mjx_like.types.topology import Topology

ROOT = pathlib.Path(__file__).parents[2]

OF_MODEL = {Role.PARAMETER, Role.DERIVED, Role.VISUAL, Role.USER, Role.KEYFRAME}
RECORDS = {
    Model: OF_MODEL,
    OptionFloats: {Role.PARAMETER},
    Statistic: {Role.DERIVED},
    Smoothing: {Role.PARAMETER},
    HardContact: {Role.PARAMETER},
    Data: set(Role) - OF_MODEL,
    Contact: {Role.RESULT},
    Trajectory: {Role.STATE, Role.RESULT},
}


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_leaf_has_a_unit_a_role_and_a_type(kind):
    declared = {f.name: f.metadata for f in leaves(kind)}
    assert not [n for n, x in declared.items() if not x["unit"]], "leaf(..., unit=...): 1 where there is none"
    assert not [n for n, x in declared.items() if x["role"] not in RECORDS[kind]], "leaf(..., role=...)"
    assert {x["dtype"] for x in declared.values()} <= {float, int, bool}
    arrays = {f.name for f in dataclasses.fields(kind) if f.type in ("Array", jax.Array)}
    assert arrays == set(declared), "leaf(...)"


FLEX = """
<mujoco>
  <size nuserdata="3" nuser_body="2"/>
  <worldbody>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" mass="1" radius=".01" dim="2">
      <elasticity young="1e4" poisson=".1" thickness=".01" elastic2d="both"/>
    </flexcomp>
    <body mocap="true"><geom size=".1"/></body>
  </worldbody>
  <keyframe><key time="1"/><key/></keyframe>
</mujoco>
"""
MODELS = {
    "every_geom": ROOT / "benchmarks/models/every_geom.xml",
    "every_sensor": ROOT / "benchmarks/models/every_sensor.xml",
    "pulley": ROOT / "tests/models/features/wrap_pulley.xml",
    "delay": ROOT / "tests/models/features/delay.xml",
    "plastic": ROOT / "tests/models/features/springyield_tendon.xml",
    "flex": FLEX,
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    source = MODELS[request.param]
    load = mujoco.MjModel.from_xml_string if isinstance(source, str) else mujoco.MjModel.from_xml_path
    return load(str(source))


def test_leaves_of_a_model_are_those_of_mujoco(model):
    for field in leaves(Model):
        if hasattr(model, field.name):
            theirs, single = getattr(model, field.name), field.metadata["single"]
            assert theirs.shape == shape_in(model, field.metadata["shape"]), field.name
            assert theirs.dtype == (np.float32 if single else np.float64), field.name


def test_leaves_of_data_are_those_of_mujoco(model):
    d = mujoco.MjData(model)
    mujoco.mj_forward(model, d)
    for field in leaves(Data):
        if field.name in STORED_OTHERWISE:
            continue  # which MuJoCo stores in another way
        theirs, dims = np.asarray(getattr(d, field.name)), field.metadata["shape"]
        if "njmax" not in dims:
            assert theirs.size == np.prod(shape_in(model, dims), dtype=int), field.name
        assert theirs.dtype.kind == {float: "f", int: "i", bool: "b"}[field.metadata["dtype"]], field.name
    for field in leaves(Contact):
        theirs = np.asarray(getattr(d.contact, field.name))
        assert theirs.size == d.ncon * np.prod(field.metadata["shape"][1:], dtype=int), field.name
        assert theirs.dtype.kind == {float: "f", int: "i"}[field.metadata["dtype"]], field.name


def test_arrays_of_the_topology_are_those_of_mujoco(model):
    for field in leaves(Topology):
        if hasattr(model, field.name) and field.name != "text_data":
            assert getattr(model, field.name).shape == shape_in(model, field.metadata["shape"]), field.name


def test_state_vectors_have_the_order_of_mujoco():
    bits = [x for x in mujoco.mjtState.__members__.values() if bin(int(x)).count("1") == 1]
    names = [x.name.removeprefix("mjSTATE_") for x in sorted(bits, key=int)]
    assert [bit.name for bit in FIELDS] == [n for n in names if n != "PLUGIN"]
    assert all(name.endswith(State(bit).name.lower()) for bit, name in FIELDS.items())


def test_what_a_step_starts_from():
    """In this order, which traced programs have."""
    assert STATE == (
        "time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", "qfrc_applied", "xfrc_applied", "eq_active",
        "mocap_pos", "mocap_quat", "qacc", "userdata", "history", "plastic",
    )  # fmt: skip
    assert set(FIELDS.values()) == set(STATE) - {"qacc"}


def test_what_a_rollout_carries():
    """In this order, which traced programs have."""
    assert CARRIED == (
        "time", "qpos", "qvel", "act", "history", "plastic", "qacc_warmstart",
        "ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata",
        "warning", "unconverged", "maxuse_con", "maxuse_efc",
    )  # fmt: skip
    assert COUNTERS == CARRIED[-4:]


def test_terms_are_floats_that_a_user_may_change():
    kinds = {f.name: f.metadata for f in (*leaves(Model), *leaves(OptionFloats))}
    for name, trailing in (TERMS | dict.fromkeys(OPTION_TERMS, 0)).items():
        assert kinds[name]["role"] is Role.PARAMETER and trailing <= len(kinds[name]["shape"]), name


@pytest.mark.parametrize("name", ["equality_connect", "fluid_ellipsoid", "kinematics_tracking", "pair_hfield_box"])
def test_set_const_writes_derived_constants(name):
    m = put_model(mujoco.MjModel.from_xml_path(str(ROOT / f"tests/models/features/{name}.xml")))
    changed = set()

    def write(m):
        new = set_const(m)
        changed.update(f.name for f in leaves(Model) if getattr(new, f.name) is not getattr(m, f.name))

    jax.eval_shape(write, m)
    derived = {f.name for f in leaves(Model) if f.metadata["role"] is Role.DERIVED}
    in_part = {"geom_size", "geom_fluid", "eq_data"}  # parameters, some entries of which follow from others
    assert {"body_invweight0", "dof_M0", "geom_rbound"} <= changed <= derived | in_part


def test_a_state_in_another_precision_keeps_it_only_where_declared():
    """`wide`: a rollout refuses the others, whose type a step would change."""
    mj = mujoco.MjModel.from_xml_string(
        "<mujoco><size nuserdata='1'/><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>"
    )
    data = mujoco.MjData(mj)
    m, d = put_model(mj, dtype=jnp.float32), put_data(mj, data, dtype=jnp.float32)
    for field in leaves(Data):
        if field.name not in CARRIED or field.metadata["dtype"] is not float or field.name == "qpos":
            continue
        wide = d.replace(**{field.name: jnp.asarray(np.asarray(getattr(d, field.name)), jnp.float64)})
        if field.metadata["wide"]:
            assert getattr(rollout(m, wide, steps=1, return_data=True)[1], field.name).dtype == jnp.float64
        else:
            with pytest.raises(ValueError, match=field.name):
                rollout(m, wide, steps=1)
