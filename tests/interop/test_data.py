"""put_data, get_data and get_data_into: MjData there and back."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.interop.convert import put_data
from mjx_like.interop.to_mujoco import get_data, get_data_into
from tests.support.oracle import GYM
from tests.support.tolerances import EXACT

CAPACITY = {"nconmax": 32, "njmax": 128}
# What MuJoCo recomputes on its own, or scratch space of its solver, arena and islands.
NOT_STATE = (
    "iacc",
    "iefc_",
    "ifrc_",
    "maxuse_",
    "solver_nnz",
    "map_",
    "parena",
    "pstack",
    "pbase",
    "signature",
    "timer",
)

ZOO = """
<mujoco>
  <option cone="CONE" jacobian="JACOBIAN" impratio="3"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <site name="world" pos="1 0 1"/>
    <body name="box" pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1"/><site name="box"/>
      <body pos=".2 0 0"><joint name="hinge" axis="0 1 0" range="-1 1" frictionloss=".1"/><geom size=".05"/></body>
      <body pos="-.2 0 0"><joint name="ball" type="ball" range="0 .01"/><geom size=".06" pos="0 0 -.07"/></body>
    </body>
    <body name="cap" pos="0 0 .33"><freejoint/><geom type="capsule" size=".1 .1"/></body>
    <body name="hand" mocap="true" pos="0 0 1"/>
  </worldbody>
  <tendon>
    <fixed name="fixed" frictionloss=".1" limited="true" range="-1 -.001"><joint joint="hinge" coef="1"/></fixed>
    <spatial name="spatial"><site site="box"/><site site="world"/></spatial>
  </tendon>
  <equality><weld body1="cap" body2="hand" active="false"/><connect body1="cap" body2="box" anchor="0 0 0"/></equality>
  <actuator>
    <motor joint="hinge"/><motor joint="ball" gear="1 0 2"/><position tendon="fixed"/>
    <general joint="hinge" dyntype="integrator"/>
  </actuator>
  <sensor><jointpos joint="hinge"/><framequat objtype="body" objname="box"/></sensor>
</mujoco>
"""


def moving(mj: mujoco.MjModel, steps: int) -> mujoco.MjData:
    data, rng = mujoco.MjData(mj), np.random.default_rng(0)
    for _ in range(steps):
        data.ctrl[:] = rng.normal(size=mj.nu)
        mujoco.mj_step(mj, data)
    while steps and not data.ncon:
        mujoco.mj_step(mj, data)
    mujoco.mj_forward(mj, data)
    return data


def zoo(cone: str, jacobian: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ZOO.replace("CONE", cone).replace("JACOBIAN", jacobian))


def differences(ours: mujoco.MjData, theirs: mujoco.MjData, skip: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the fields of two MjData, contacts included, that differ by more than EXACT."""
    found = {}
    for prefix, a, b in (("", ours, theirs), ("contact.", ours.contact, theirs.contact)):
        for name in dir(b):
            if name.startswith(("_", *NOT_STATE, *skip)):
                continue
            x, y = getattr(a, name), getattr(b, name)
            if isinstance(y, int | float | np.ndarray):
                x, y = np.asarray(x, float), np.asarray(y, float)
                worst = np.inf if x.shape != y.shape else np.abs(x - y).max(initial=0)
                if not worst <= EXACT:
                    found[prefix + name] = worst
    return found


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_round_trip_in_contact(cone, jacobian):
    mj = zoo(cone, jacobian)
    data = moving(mj, 60)
    assert data.ncon >= 2 and data.ne and data.nf and data.nl
    skip = (
        ("H",) if jacobian == "sparse" else ("H", "efc_J_")
    )  # the cone Hessian; layout that a dense solve leaves unset
    assert differences(get_data(mj, put_data(mj, data, **CAPACITY)), data, skip) == {}


@pytest.mark.parametrize("file", ["ant.xml", "hopper.xml", "humanoid.xml"])
def test_round_trip_of_real_models(file):
    mj = mujoco.MjModel.from_xml_path(str(GYM / file))
    data = moving(mj, 200)
    assert data.ncon > 0
    assert differences(get_data(mj, put_data(mj, data, **CAPACITY)), data, ("H", "efc_J_")) == {}


def test_values_are_mujocos_own():
    mj = zoo("elliptic", "sparse")
    data = moving(mj, 60)
    d = put_data(mj, data, **CAPACITY)
    mass, jacobian, moment, ten = (
        np.zeros(s) for s in ((mj.nv, mj.nv), (data.nefc, mj.nv), (mj.nu, mj.nv), (2, mj.nv))
    )
    mujoco.mj_fullM(mj, data, mass)
    mujoco.mju_sparse2dense(jacobian, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    mujoco.mju_sparse2dense(moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    mujoco.mju_sparse2dense(ten, data.ten_J, mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind)
    np.testing.assert_allclose(d.M, mass, atol=EXACT)
    np.testing.assert_allclose(d.qLD @ d.qLD.T, mass, atol=1e-10)
    np.testing.assert_allclose(d.efc_J[: data.nefc], jacobian, atol=EXACT)
    np.testing.assert_allclose(d.actuator_moment, moment, atol=EXACT)
    np.testing.assert_allclose(d.ten_J, ten, atol=EXACT)
    np.testing.assert_array_equal(d.contact.dist[: data.ncon], data.contact.dist)
    np.testing.assert_array_equal(d.contact.frame[: data.ncon].reshape(-1, 9), data.contact.frame)
    assert int(d.ncon) == data.ncon and int(d.nefc) == data.nefc and int(d.solver_niter) == data.solver_niter.max()


def test_put_data_shares_no_memory():
    mj = zoo("pyramidal", "dense")
    data = moving(mj, 60)
    d, before = put_data(mj, data, **CAPACITY), {n: np.array(getattr(data, n)) for n in ("qpos", "xpos", "efc_force")}
    mujoco.mj_step(mj, data)
    mujoco.mj_resetData(mj, data)
    np.testing.assert_array_equal(d.qpos, before["qpos"])
    np.testing.assert_array_equal(d.xpos, before["xpos"])
    np.testing.assert_array_equal(d.efc_force[: len(before["efc_force"])], before["efc_force"])


def test_unused_rows_are_neutral():
    mj = zoo("elliptic", "dense")
    data = moving(mj, 60)
    d = put_data(mj, data, **CAPACITY)
    assert d.contact.dist.shape == (32,) and d.efc_J.shape == (128, mj.nv)
    assert np.all(d.contact.dist[data.ncon :] > d.contact.includemargin[data.ncon :])
    assert np.all(d.contact.geom[data.ncon :] == -1) and np.all(d.contact.efc_address[data.ncon :] == -1)
    assert not np.any(d.efc_J[data.nefc :])


def test_get_data_into_makes_buffers_anew():
    """A MjData with no contact takes one with many, and the other way round."""
    mj = zoo("pyramidal", "sparse")
    flying, landed = mujoco.MjData(mj), moving(mj, 60)
    flying.qpos[2], flying.qpos[19 - 5] = 3.0, 4.0
    mujoco.mj_forward(mj, flying)
    assert flying.ncon != landed.ncon
    for source, target in ((flying, moving(mj, 60)), (landed, mujoco.MjData(mj))):
        d = put_data(mj, source, **CAPACITY)
        d = d.replace(qpos=jnp.asarray(target.qpos))  # so that MuJoCo's own rows are those of another place
        get_data_into(target, mj, d)
        assert target.ncon == source.ncon and target.nefc == source.nefc
        np.testing.assert_allclose(put_data(mj, target, **CAPACITY).efc_J, d.efc_J, atol=EXACT)
        np.testing.assert_array_equal(target.contact.dist, source.contact.dist)
        np.testing.assert_array_equal(target.efc_force, source.efc_force)


def test_batches():
    mj = zoo("pyramidal", "dense")
    sources = [moving(mj, n) for n in (3, 60)]
    batch = jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, s, **CAPACITY) for s in sources))
    for ours, theirs in zip(get_data(mj, batch), sources, strict=True):
        assert differences(ours, theirs, ("H", "efc_J_")) == {}
    with pytest.raises(InputError, match="result is one MjData, but d holds 2 worlds"):
        get_data_into(mujoco.MjData(mj), mj, batch)
    with pytest.raises(InputError, match="result is a list of 3, but d holds 2 worlds"):
        get_data_into([mujoco.MjData(mj)] * 3, mj, batch)


def test_too_small_capacity_says_what_is_needed():
    mj = zoo("pyramidal", "dense")
    data = moving(mj, 60)
    with pytest.raises(
        InputError, match=f"nconmax=1, but the MjData uses {data.ncon}; give nconmax={data.ncon} or more"
    ):
        put_data(mj, data, nconmax=1)
    with pytest.raises(InputError, match=f"njmax=2, but the MjData uses {data.nefc}"):
        put_data(mj, data, nconmax=32, njmax=2)


def test_float32():
    mj = zoo("pyramidal", "dense")
    d = put_data(mj, moving(mj, 60), dtype=jnp.float32, **CAPACITY)
    assert {x.dtype.name for x in jax.tree.leaves(d)} == {"float32", "int32", "bool"}
