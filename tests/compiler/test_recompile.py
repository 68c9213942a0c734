"""The state stays with its joints, mocap bodies and actuators when a Spec is edited and compiled again."""

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError
from tests.mjcf.edit.test_change import XML

FIELDS = ("qpos", "qvel", "ctrl", "act", "mocap_pos", "mocap_quat", "qacc_warmstart", "qfrc_applied")


def add_in_the_middle(spec, freejoint):
    body = spec.body("a").add_body(pos=[0, 0, 1])
    body.add_joint(type=freejoint)
    body.add_geom(size=[0.1, 0, 0])
    spec.delete(spec.body("c"))


@pytest.mark.parametrize("edit", ["add_in_the_middle", "delete_first", "nothing"])
def test_as_mujoco(edit):
    theirs, ours = mujoco.MjSpec.from_string(XML), mjx.Spec.from_string(XML)
    mj, model = theirs.compile(), ours.compile(dtype=np.float64)
    state, data, rng = mujoco.MjData(mj), mjx.make_data(model), np.random.default_rng(0)
    values = {name: rng.normal(size=getattr(state, name).shape) for name in FIELDS}
    for name, value in values.items():
        getattr(state, name)[...] = value
    data = data.replace(time=jnp.asarray(3.0), **{name: jnp.asarray(value) for name, value in values.items()})
    if edit == "add_in_the_middle":
        add_in_the_middle(theirs, mujoco.mjtJoint.mjJNT_BALL)
        add_in_the_middle(ours, mjx.JointType.BALL)
    elif edit == "delete_first":
        theirs.delete(theirs.body("a"))
        ours.delete(ours.body("a"))
    model, data = ours.recompile(model, data)
    mj, state = theirs.recompile(mj, state)
    assert data.time == 3 and model.qpos0.dtype == np.float64
    for name in ("qpos", "qvel", "ctrl", "mocap_pos", "mocap_quat"):
        np.testing.assert_allclose(getattr(data, name), getattr(state, name), rtol=1e-14, err_msg=name)


def test_what_is_refused():
    spec = mjx.Spec.from_string(XML)
    other = mjx.Model.from_xml_string(XML)
    with pytest.raises(InputError, match="is not the Model that this Spec was last compiled to"):
        spec.recompile(other, mjx.make_data(other))
    model = spec.compile(nconmax=7)
    data = mjx.make_data(model)
    with pytest.raises(InputError, match="take one world of the batch"):
        spec.recompile(model, data.replace(qpos=jnp.stack([data.qpos] * 2)))
    assert spec.recompile(model, data)[0].nconmax == 7
