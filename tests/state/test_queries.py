"""Support functions against MuJoCo's, and the messages of `check`."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.forward import forward
from mjx_like.interop.convert import put_data
from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint
from mjx_like.types.enums import ObjType, WarningType
from tests.support.oracle import TIGHT, error, load, reference, states

XML = """<mujoco><worldbody><geom type="plane" size="5 5 .1" pos="0 0 -.3"/>
  <body name="a" euler="10 20 30"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/><camera pos="1 0 0"/>
    <body name="b" pos=".3 .1 0" euler="0 40 0"><joint type="ball" pos=".1 0 .2"/>
      <geom type="capsule" size=".05 .2" pos="0 .1 0" euler="0 0 30"/><site pos=".1 .2 .3" euler="30 20 0"/>
      <body name="c" pos="0 .2 .1" euler="5 6 7"><joint axis="0 1 1"/><geom size=".1"/></body></body></body>
  </worldbody>
  <sensor><jointpos joint="h" noise=".1"/><touch site="s" noise=".1"/><rangefinder site="down" noise=".1"/>
    <framexaxis objtype="body" objname="a" noise=".1"/><framequat objtype="body" objname="b" noise=".1"/>
    <jointvel joint="h"/></sensor></mujoco>"""
XML = XML.replace('axis="0 1 1"', 'name="h" axis="0 1 1"').replace("<site ", '<site name="s" ', 1)
XML = XML.replace('<camera pos="1 0 0"/>', '<camera pos="1 0 0"/><site name="down" pos="0 0 5"/>')
BODY, GEOM, SITE = 3, 2, 1
POINT, AXIS = np.array([0.3, -0.2, 0.5]), np.array([0.6, 0, 0.8])


@pytest.fixture(scope="module")
def world():
    mj, m = load(XML)
    ref = reference(mj, states(mj, 2, steps=10)[1])
    return mj, m, ref, put_data(mj, ref)


def _jacobian(mj, ref, function, *args):
    jacp, jacr = np.zeros((3, mj.nv)), np.zeros((3, mj.nv))
    function(mj, ref, jacp, jacr, *args)
    return jacp.T, jacr.T


def test_jacobians(world):
    mj, m, ref, d = world
    cases = {
        "jac_body": (mujoco.mj_jacBody, BODY),
        "jac_body_com": (mujoco.mj_jacBodyCom, BODY),
        "jac_geom": (mujoco.mj_jacGeom, GEOM),
        "jac_site": (mujoco.mj_jacSite, SITE),
    }
    for name, (function, index) in cases.items():
        for ours, theirs in zip(getattr(mjx, name)(m, d, index), _jacobian(mj, ref, function, index), strict=True):
            assert error(ours, theirs) < TIGHT, name
    expected = _jacobian(mj, ref, mujoco.mj_jacPointAxis, POINT, AXIS, BODY)
    assert all(error(a, b) < TIGHT for a, b in zip(mjx.jac_point_axis(m, d, POINT, AXIS, BODY), expected, strict=True))
    whole = np.zeros((3, mj.nv))
    mujoco.mj_jacSubtreeCom(mj, ref, whole, 2)
    assert error(mjx.jac_subtree_com(m, d, 2), whole.T) < TIGHT
    mujoco.mj_angmomMat(mj, ref, whole, 2)
    assert error(mjx.angmom_mat(m, d, 2), whole) < TIGHT


@pytest.mark.parametrize("local", [False, True])
def test_motion_of_objects(world, local):
    mj, m, ref, d = world
    d, out = rne_postconstraint(m, d), np.zeros(6)
    for kind, index in (
        (ObjType.BODY, 2),
        (ObjType.XBODY, 3),
        (ObjType.GEOM, 1),
        (ObjType.SITE, 1),
        (ObjType.CAMERA, 0),
    ):
        mujoco.mj_objectVelocity(mj, ref, int(kind), index, out, local)
        assert error(mjx.object_velocity(m, d, kind, index, local), out) < TIGHT, kind
        mujoco.mj_objectAcceleration(mj, ref, int(kind), index, out, local)
        assert error(mjx.object_acceleration(m, d, kind, index, local), out) < TIGHT, kind


def test_products(world):
    mj, m, ref, d = world
    vec = np.random.default_rng(0).normal(size=mj.nv)
    out = np.zeros(mj.nv)
    mujoco.mj_mulM2(mj, ref, out, vec)
    assert error(mjx.mul_m2(m, d, vec), out) < TIGHT
    inverse = np.zeros((1, mj.nv))
    mujoco.mj_solveM2(mj, ref, inverse, vec[None], np.sqrt(1 / ref.qLDiagInv) ** -1)
    assert error(mjx.solve_m2(m, d, vec), inverse[0]) < TIGHT
    jv, jtf = np.zeros(ref.nefc), np.zeros(mj.nv)
    mujoco.mj_mulJacVec(mj, ref, jv, vec)
    assert error(mjx.mul_jac_vec(m, d, vec)[: ref.nefc], jv) < TIGHT
    mujoco.mj_mulJacTVec(mj, ref, jtf, jv)
    assert error(mjx.mul_jac_t_vec(m, d, mjx.mul_jac_vec(m, d, vec)), jtf) < TIGHT


def test_frames_and_masses(world):
    mj, m, ref, d = world
    pos, mat, quat = np.zeros(3), np.zeros(9), np.array([0.5, 0.1, -0.7, 0.2])
    unit = quat / np.linalg.norm(quat)
    mujoco.mj_local2Global(ref, pos, mat, POINT, unit, BODY, 0)
    at, rotation = mjx.local2global(d, POINT, quat, BODY)
    assert error(at, pos) < TIGHT and error(rotation, mat) < TIGHT
    assert error(mjx.get_totalmass(m), mujoco.mj_getTotalmass(mj)) < TIGHT
    scaled = mjx.set_totalmass(m, 3.0)
    mujoco.mj_setTotalmass(mj, 3.0)
    assert error(scaled.body_mass, mj.body_mass) < TIGHT and error(scaled.body_inertia, mj.body_inertia) < TIGHT
    qpos = np.random.default_rng(0).normal(size=mj.nq)
    ours = mjx.normalize_quat(m, jnp.asarray(qpos))
    mujoco.mj_normalizeQuat(mj, qpos)
    assert error(ours, qpos) < TIGHT


def test_contact_force():
    mj, m = load(XML.replace('euler="10 20 30"', 'pos="0 0 -.05"'))
    ref = reference(mj, states(mj, 1)[0])
    d, out = jax.jit(forward)(m, put_data(mj, ref)), np.zeros(6)
    assert ref.ncon > 1
    for i in range(ref.ncon):
        mujoco.mj_contactForce(mj, ref, i, out)
        assert error(mjx.contact_force(m, d, i), out) < 1e-7
        frame = ref.contact.frame[i].reshape(3, 3)
        turned = np.concatenate([out[:3] @ frame, out[3:] @ frame])
        assert error(mjx.contact_force(m, d, i, to_world_frame=True), turned) < 1e-7


def test_sensor_noise(world):
    _, m, _, d = world
    keys = jax.random.split(jax.random.key(0), 4000)
    noisy = np.asarray(jax.jit(jax.vmap(lambda key: mjx.sensor_noise(m, d, key).sensordata))(keys))
    clean = np.asarray(d.sensordata)
    assert abs((noisy[:, 0] - clean[0]).std() - 0.1) < 0.01 and abs((noisy[:, 0] - clean[0]).mean()) < 0.01
    assert (noisy[:, 1] >= 0).all() and (noisy[:, 1] > 0).any()
    assert clean[2] == -1 and (noisy[:, 2] == -1).all()
    for cells in (slice(3, 6), slice(6, 10)):
        assert np.allclose(np.linalg.norm(noisy[:, cells], axis=1), 1)
    angle = 2 * np.arccos(np.clip(np.abs(noisy[:, 6:10] @ clean[6:10]), 0, 1))
    assert abs(np.sqrt((angle**2).mean()) - 0.1 * np.sqrt(3)) < 0.01
    assert (noisy[:, 10] == clean[10]).all()


def test_check_says_what_happened(world):
    _, m, _, d = world
    d = d.replace(warning=jnp.zeros_like(d.warning), unconverged=jnp.zeros_like(d.unconverged))
    assert mjx.check(m, d) == ()
    many = jax.tree.map(lambda x: jnp.stack([x, x]), d)
    warning = many.warning.at[1, int(WarningType.BADQACC)].set(3)
    many = many.replace(warning=warning, maxuse_con=jnp.array([0, m.nconmax + 1]), unconverged=jnp.array([0, 2]))
    bad, full, short = mjx.check(m, many)
    assert bad.startswith("BADQACC: qacc was not finite") and bad.endswith("(3 times, in 1 of 2 worlds)")
    assert full == f"nconmax: {m.nconmax + 1} were needed and there is room for {m.nconmax}; " + (
        f"load the model with nconmax={m.nconmax + 1}"
    )
    assert short.startswith("solver: 2 solves ended before the tolerance")
