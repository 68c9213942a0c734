"""MJX's face on this engine: arguments, records, subclasses and what it refuses."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from mujoco.mjx._src import math as mjx_math

import mjx_like
from mjx_like.compat import install, mjx, native
from mjx_like.compat.mjx._src import math
from mjx_like.errors import InputError
from tests.support.oracle import TIGHT, error

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 .09"><freejoint name="root"/><geom name="g" size=".1"/>
      <body name="arm" pos=".1 0 0"><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".2 0 .1"/></body></body>
    <body name="hand" mocap="true"/>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
  <sensor><jointpos joint="hinge"/><framepos objtype="body" objname="arm"/></sensor>
</mujoco>
"""


@pytest.fixture(scope="module")
def case():
    spec = mujoco.MjSpec.from_string(XML)
    mj = spec.compile()
    m = mjx.put_model(mj, impl="warp")
    return spec, mj, m, jax.jit(mjx.step)(m, mjx.make_data(mj, impl="JAX", naconmax=9, naccdmax=9, njmax=99, nvmax=9))


def test_a_step_is_that_of_mujoco(case):
    _, mj, m, d = case
    theirs = mujoco.MjData(mj)
    mujoco.mj_step(mj, theirs)
    for name in ("qpos", "qvel", "qacc", "xpos", "sensordata"):
        assert error(getattr(d, name), getattr(theirs, name)) < 1e-9, name
    assert error(mjx.get_data(mj, d).qpos, d.qpos) == 0
    assert error(mjx.put_data(mj, theirs).qvel, theirs.qvel) < TIGHT


def test_records_have_mjx_faces(case):
    _, mj, m, d = case
    assert m.impl.value == "jax" and d.impl is mjx.Impl.JAX and m._impl is m
    assert isinstance(d.ncon, int) and d.ncon == d.contact.dist.shape[0] and int(d._impl.ncon) == theirs_ncon(mj)
    assert d.contact.geom1.shape == d._impl.contact.geom2.shape == (d.ncon,)
    assert d.tree_replace({"_impl.contact.dist": 2 * d.contact.dist}).contact.dist[0] == 2 * d.contact.dist[0]
    assert float(m.tree_replace({"opt.timestep": 1e-3}).opt.timestep) == 1e-3
    assert mjx.name2id(m, typ=mjx.ObjType.BODY, name="arm") == mjx.name2id(mj, mujoco.mjtObj.mjOBJ_BODY, "arm") == 2
    assert mjx.id2name(m, mjx.ObjType.BODY, i=2) == "arm" and not mjx.is_sparse(m)
    assert error(mjx.mul_m(m, d, vec=d.qvel), mjx.full_m(m, d) @ d.qvel) < TIGHT
    assert type(native(d)) is mjx_like.Data and type(native(m)) is mjx_like.Model


def theirs_ncon(mj):
    theirs = mujoco.MjData(mj)
    mujoco.mj_forward(mj, theirs)
    return theirs.ncon


def test_worlds(case):
    _, _, m, d = case
    worlds = jax.tree.map(lambda x: jnp.stack([x, x + x]), d)
    assert error(worlds[1].qpos, 2 * d.qpos) == 0 and worlds[:1].qpos.shape == (1, m.nq)
    chosen = worlds.where(jnp.array([False, True]), worlds[::-1])
    assert error(chosen.qvel, jnp.stack([d.qvel, d.qvel])) == 0
    with pytest.raises(InputError, match="this Data is one world"):
        d[0]


@pytest.mark.slow
def test_axes_of_a_randomised_model(case):
    _, _, m, d = case
    axes = jax.tree.map(lambda x: None, m).tree_replace({"dof_frictionloss": 0, "geom_friction": 0, "opt.gravity": 0})
    many = m.tree_replace({
        "dof_frictionloss": jnp.zeros((2, m.nv)),
        "geom_friction": jnp.stack([m.geom_friction] * 2),
        "opt.gravity": jnp.array([[0, 0, 0], [0, 0, -1.0]]),
    })  # fmt: skip
    ends = jax.vmap(mjx.forward, in_axes=(axes, None))(many, d)
    assert ends.qacc.shape == (2, m.nv) and float(jnp.abs(ends.qacc[0] - ends.qacc[1]).max()) > 0.1


def test_a_subclass_keeps_its_fields(case):
    _, _, m, d = case

    class State(mjx.Data):
        reward: jax.Array
        name: str

    state = State(**vars(d), reward=jnp.ones(()), name="a")
    new = jax.jit(mjx.step)(m, state)
    assert (
        type(new) is State
        and new.name == "a"
        and float(new.reward) == 1
        and error(new.qpos, jax.jit(mjx.step)(m, d).qpos) < TIGHT
    )


def test_bind(case):
    spec, mj, m, d = case
    assert float(m.bind(spec.body("arm")).mass) == mj.body("arm").mass[0]
    assert error(d.bind(m, spec.joint("root")).qpos, d.qpos[:7]) == 0
    assert float(d.bind(m, spec.joint("hinge")).qvel) == float(d.qvel[6])
    assert error(d.bind(m, spec.sensors).sensordata, d.sensordata) == 0
    assert float(d.bind(m, spec.actuator("motor")).set("ctrl", 3).ctrl[0]) == 3
    assert error(d.bind(m, spec.body("hand")).set("mocap_pos", [1, 2, 3]).mocap_pos[0], np.array([1, 2, 3])) == 0
    with pytest.raises(AttributeError, match="ctrl is not available"):
        d.bind(m, spec.body("arm")).ctrl  # noqa: B018


def test_math_is_mjx_math():
    rng = np.random.default_rng(0)
    v, w, x, y, six, seven, inertia = (rng.normal(size=n) for n in (3, 3, 3, 3, 6, 6, 10))
    p, q = (z / np.linalg.norm(z) for z in rng.normal(size=(2, 4)))
    calls = {
        "rotate": (v, q), "quat_inv": (q,), "quat_sub": (p, q), "quat_mul": (p, q), "quat_mul_axis": (q, v),
        "quat_to_mat": (q,), "quat_to_axis_angle": (q,), "axis_angle_to_quat": (v / np.linalg.norm(v), 0.3),
        "quat_integrate": (q, v, 0.2), "inert_mul": (inertia, six), "motion_cross": (six, seven), "sign": (v,),
        "motion_cross_force": (six, seven), "transform_motion": (six, v, np.eye(3)), "norm": (v,), "normalize": (v,),
        "make_frame": (v,), "orthogonals": (v / np.linalg.norm(v),), "safe_div": (v, w),
        "matmul_unroll": (np.outer(v, w), np.outer(x, y)),
    }  # fmt: skip
    for name, arguments in calls.items():
        arguments = [jnp.asarray(a) for a in arguments]
        ours, theirs = getattr(math, name)(*arguments), getattr(mjx_math, name)(*arguments)
        for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            assert error(one, other) < 1e-12, name
    for name, arguments in (("closest_segment_point", (v, w, x)), ("closest_segment_to_segment_points", (v, w, x, y))):
        for one, other in zip(getattr(math, name)(*arguments), getattr(mjx_math, name)(*arguments), strict=True):
            assert error(one, other) < 1e-5, name  # MJX adds 1e-6 to denominators
    x, z = np.eye(3)[[0, 2]]
    for shift in (0, 0.5, 3):  # of parallel segments: they overlap in part, or not at all
        ends = [jnp.asarray(a) for a in (-z, z, x + (shift - 1) * z, x + (shift + 1) * z)]
        for one, other in zip(*(f.closest_segment_to_segment_points(*ends) for f in (math, mjx_math)), strict=True):
            assert error(one, other) < 1e-5, shift
    assert not jnp.any(jax.jacobian(math.normalize)(jnp.zeros(3)))


def test_what_it_refuses(case):
    _, mj, *_ = case
    with pytest.raises(ValueError, match="nonesuch"):
        mjx.put_model(mj, impl="nonesuch")
    with pytest.raises(AttributeError, match="no 'get_rgb': of the renderer in Warp; mjx_like.render makes images"):
        mjx.get_rgb  # noqa: B018
    with pytest.raises(AttributeError, match="a Data has no field 'nonesuch'"):
        mjx.make_data(mj).nonesuch  # noqa: B018
    with pytest.raises(InputError, match="mujoco.mjx is imported already"):
        install()  # by this test's own imports


def test_install_in_a_process_of_its_own():
    code = "import mjx_like.compat as c; c.install(); c.install(); from mujoco import mjx; import mujoco.mjx; "
    code += "from mujoco.mjx._src import math; print(mjx is c.mjx, mujoco.mjx is mjx, math.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "mjx_like.compat.mjx._src.math"], done.stderr
