"""make_data, keyframes and state vectors against MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.integrator.position import differentiate_pos, integrate_pos, normalize_quat
from mjx_like.interop.convert import put_model
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data, reset_to_key
from mjx_like.state.vector import get_state, set_state, state_size
from mjx_like.types.enums import State

XML = """
<mujoco>
  <worldbody>
    <body name="hand" mocap="true" pos="1 2 3" quat="1 2 0 0"/>
    <body><freejoint/><geom size=".1"/><body><joint name="j"/><geom size=".1" pos="1 0 0"/></body></body>
  </worldbody>
  <equality><joint joint1="j"/></equality>
  <actuator><general joint="j" dyntype="filter"/><motor joint="j" nsample="3" delay=".004"/></actuator>
  <keyframe><key name="up" time="2" qpos="0 0 1 1 0 0 0 .5" qvel="1 2 3 4 5 6 7" act=".1" ctrl=".2 .3"
    mpos="3 2 1" mquat="0 0 1 0"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def models():
    mj = mujoco.MjModel.from_xml_string(XML)
    return mj, put_model(mj)


def _reference(mj, key):
    data = mujoco.MjData(mj)
    if key is not None:
        mujoco.mj_resetDataKeyframe(mj, data, key)
    return data


@pytest.mark.parametrize("key", [None, 0])
def test_make_data_equals_reset(models, key):
    mj, m = models
    theirs, ours = _reference(mj, key), make_data(m, key)
    for name in ("time", "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "eq_active"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-15, err_msg=name)


def test_keyframe_resets_all_that_a_step_starts_from(models):
    mj, m = models
    theirs, start = _reference(mj, 0), make_data(m)
    names = ("qpos", "history", "qfrc_applied", "xfrc_applied", "eq_active", "qacc_warmstart", "ctrl")
    moved = start.replace(**{name: jnp.ones_like(getattr(start, name)) for name in names})
    ours = reset_to_key(m, moved.replace(eq_active=~start.eq_active), "up")
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-15, err_msg=name)


@pytest.mark.parametrize("spec", [State.PHYSICS, State.FULLPHYSICS, State.USER, State.INTEGRATION, State.QVEL])
def test_state_vector_equals_oracle_and_returns(models, spec):
    mj, m = models
    theirs, ours = _reference(mj, 0), make_data(m, "up")
    expected = np.zeros(mujoco.mj_stateSize(mj, int(spec)))
    mujoco.mj_getState(mj, theirs, expected, int(spec))
    assert state_size(m, spec) == expected.size
    np.testing.assert_allclose(get_state(m, ours, spec), expected, atol=1e-15)
    moved = set_state(m, make_data(m), jnp.asarray(expected), spec)
    np.testing.assert_array_equal(get_state(m, moved, spec), get_state(m, ours, spec))
    assert jax.tree.structure(moved) == jax.tree.structure(ours)


def test_errors_say_what_is_allowed(models):
    _, m = models
    with pytest.raises(InputError, match="no keyframe 'down'; the model has: up"):
        make_data(m, "down")
    with pytest.raises(InputError, match="load it with nconmax=7"):
        make_data(m, nconmax=7)
    with pytest.raises(InputError, match=r"needs \(7,\)"):
        set_state(m, make_data(m), jnp.zeros(3), State.QVEL)


def test_absent_term_refuses_a_value(models):
    _, m = models
    with pytest.raises(ValueError, match=r'dof_frictionloss\[0\] was zero.*active=\("dof_frictionloss",\)'):
        m.replace(dof_frictionloss=jnp.ones(m.nv))
    kept = put_model(models[0], active=("dof_frictionloss",)).replace(dof_frictionloss=jnp.ones(m.nv))
    assert kept.dof_frictionloss[0] == 1


def test_option_view_keeps_or_makes_a_topology(models):
    _, m = models
    assert m.replace(opt=m.opt.replace(timestep=0.1)).topology is m.topology
    changed = m.replace(opt=m.opt.replace(iterations=7))
    assert changed.opt.iterations == 7 and changed.topology != m.topology
    assert changed.replace(opt=m.opt).topology == m.topology


def test_names(models):
    _, m = models
    assert m.joint("j").id == 1 and m.body("hand").mocapid == 0
    with pytest.raises(KeyError, match="no joint named 'k'; known: j"):
        m.joint("k")


def test_numpy_arrays_become_arrays_of_the_fields_dtype(models):
    _, m = models
    d = make_data(m)
    moved = d.replace(qpos=np.asarray(d.qpos, np.float32), eq_active=np.zeros(m.neq))
    assert isinstance(moved.qpos, jax.Array) and moved.qpos.dtype == d.qpos.dtype
    assert moved.eq_active.dtype == d.eq_active.dtype
    np.testing.assert_array_equal(*(jax.jit(kinematics)(m, x).xpos for x in (moved, d)))
    way = differentiate_pos(m, np.asarray(d.qpos), integrate_pos(m, np.asarray(d.qpos), np.ones(m.nv), 0.1))
    np.testing.assert_allclose(way, 0.1 * np.ones(m.nv), atol=1e-12)
    np.testing.assert_allclose(normalize_quat(m, 2 * np.asarray(d.qpos)), normalize_quat(m, 2 * d.qpos), atol=0)
