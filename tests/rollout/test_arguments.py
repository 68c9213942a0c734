"""What rollout says of arguments that do not fit; nothing is traced or compiled for it."""

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError
from mjx_like.rollout.rollout import rollout
from tests.support.two_arms import LONG, SHORT

M, WORLDS = mjx.put_model(SHORT), 3
D = mjx.make_data(M)
MANY = jax.tree.map(lambda x: jnp.stack([x] * WORLDS), D)
DEVICE = jax.devices()[0]


@dataclasses.dataclass
class Recorder:
    """A callable that has no hash, as dataclasses with `eq` have none."""

    scale: float

    def __call__(self, d):
        return self.scale * d.qpos


def said(*args, **options) -> str:
    with pytest.raises(InputError) as mistake:
        rollout(*args, **options)
    assert "\n" not in str(mistake.value)
    return str(mistake.value)


NO_DEVICES = "must be a list of devices, each once, such as jax.devices()"
NO_RECORD = "must be a function of the Data after a step, such as lambda d: d.xpos"
OPTIONS = [
    ({"steps": 1.5}, "steps=1.5: must be a whole number of at least 0"),
    ({"steps": 4.0}, "steps=4.0: must be a whole number of at least 0"),
    ({"steps": "3"}, "steps='3': must be a whole number of at least 0"),
    ({"steps": True}, "steps=True: must be a whole number of at least 0"),
    ({"steps": -1}, "steps=-1: must be a whole number of at least 0"),
    ({"steps": None}, "steps=None: give the number of steps, or ctrl= of shape (steps, nu)"),
    ({"block": "a"}, "block='a': must be a whole number of at least 1"),
    ({"block": 1.5}, "block=1.5: must be a whole number of at least 1"),
    ({"block": True}, "block=True: must be a whole number of at least 1"),
    ({"block": 0}, "block=0: must be a whole number of at least 1"),
    ({"unroll": "a"}, "unroll='a': must be a whole number of at least 1"),
    ({"unroll": None}, "unroll=None: must be a whole number of at least 1"),
    ({"unroll": True}, "unroll=True: must be a whole number of at least 1"),
    ({"devices": []}, f"devices=[]: {NO_DEVICES}"),
    ({"devices": 2}, f"devices=2: {NO_DEVICES}"),
    ({"devices": "cpu"}, f"devices='cpu': {NO_DEVICES}"),
    ({"devices": DEVICE}, f"devices={DEVICE!r}: {NO_DEVICES}"),
    ({"devices": [0]}, f"devices=[0]: {NO_DEVICES}"),
    ({"devices": [DEVICE, DEVICE]}, f"devices=[{DEVICE!r}, {DEVICE!r}]: {NO_DEVICES}"),
    ({"record": "qpos"}, f"record='qpos': {NO_RECORD}"),
    ({"record": None}, f"record=None: {NO_RECORD}"),
    ({"record": Recorder(2.0)}, "record=Recorder(scale=2.0): has no hash, which compiling for it needs; take a"),
    ({"remat": "no"}, "remat='no': must be True or False"),
    ({"return_data": "no"}, "return_data='no': must be True or False"),
    ({"ctrl": "a"}, "ctrl='a': must be an array of numbers of shape (steps, nu) or (3, steps, nu), with nu=1"),
    ({"ctrl": [[1.0], [1.0, 2.0]]}, "ctrl=[[1.0], [1.0, 2.0]]: must be an array of numbers of shape (steps, nu)"),
    ({"ctrl": 4}, "ctrl=4: must have shape (steps, nu) or (3, steps, nu); the number of steps is steps=4"),
    ({"ctrl": np.zeros((4, 2))}, "ctrl has shape (4, 2); it must be (steps, nu) or (3, steps, nu), with nu=1"),
    ({"ctrl": np.zeros((2, 4, 1))}, "ctrl has shape (2, 4, 1); it must be (steps, nu) or (3, steps, nu), with nu=1"),
    ({"ctrl": np.zeros((4, 1)), "steps": 3}, "steps=3, but ctrl has 4 steps"),
    ({"ctrl": np.zeros((4, 1)), "steps": 4.0}, "steps=4.0: must be a whole number of at least 0"),
]  # fmt: skip


@pytest.mark.parametrize("options, message", OPTIONS, ids=[str(o) for o, _ in OPTIONS])
def test_options(options, message):
    assert said(M, MANY, **{"steps": None if "ctrl" in options else 2, **options}).startswith(message)


def test_steps_that_are_traced():
    with pytest.raises(InputError) as mistake:
        jax.jit(lambda n: rollout(M, D, steps=n))(3)
    assert str(mistake.value) == (
        "steps is traced, but must be known when the function is compiled: make it static, "
        "jax.jit(f, static_argnames='steps'), or give ctrl= of shape (steps, nu)"
    )


ONE, TWO = "d.qpos has shape", "all arrays of d need the same leading world axis, or none"
WRONG = [
    ((M, mjx.make_data(mjx.put_model(LONG))), f"rollout: d is the Data of another model: {ONE} (2,), this one needs"),
    ((D, M), "rollout: m is a Data and d is a Model: the order is (m, d)"),
    ((None, D), "rollout: m is None: give a Model, from Model.from_xml_path or put_model"),
    ((SHORT, D), "rollout: m is a mujoco.MjModel: give a Model, put_model(m)"),
    ((M, mujoco.MjData(SHORT)), "rollout: d is a mujoco.MjData: give a Data, put_data(mj_model, d)"),
    ((M, None), "rollout: d is None: give a Data, make_data(m)"),
    ((M, D.replace(qpos=MANY.qpos)), f"rollout: {ONE} (3, 1), but d.time has shape (): {TWO}"),
    ((M, D.replace(ctrl=MANY.ctrl)), f"rollout: {ONE} (1,), but d.ctrl has shape (3, 1): {TWO}"),
    ((M, MANY.replace(ctrl=jnp.zeros((5, 1)))), f"rollout: {ONE} (3, 1), but d.ctrl has shape (5, 1): {TWO}"),
    ((M, jax.tree.map(lambda x: x[None], MANY)), f"rollout: {ONE} (1, 3, 1), two world axes or more: give it one"),
    ((M, D.replace(qpos=jnp.zeros(3))), f"rollout: {ONE} (3,), the model needs (nq,) = (1,)"),
    ((M, MANY.replace(qvel=jnp.zeros((3, 2)))), "rollout: d.qvel has shape (3, 2), the model needs (nv,) = (1,)"),
    ((M, D.replace(ctrl=0.5)), "rollout: d.ctrl=0.5: must be an array of shape (nu,) = (1,)"),
    (
        (M.replace(body_mass=jnp.ones((5, 2))), MANY),
        "rollout: m.body_mass has shape (5, 2): its world axis must be that of the 3 worlds of d",
    ),
    (
        (M.replace(body_mass=jnp.ones((5, 2))), D),
        "rollout: m.body_mass has shape (5, 2): its world axis must be that of d, which has none: give its arrays one",
    ),
    ((M.replace(body_mass=jnp.ones(7)), MANY), "rollout: m.body_mass has shape (7,), the model needs (nbody,) = (2,)"),
    (
        (M, D.replace(qpos=jnp.array([1]))),
        "rollout: d.qpos has dtype int64, but a step makes it float64: d.replace(qpos=d.qpos.astype('float64'))",
    ),
    (
        (M, D.replace(ctrl=jnp.zeros(1, jnp.float32))),
        "rollout: d.ctrl has dtype float32, but a step makes it float64: d.replace(ctrl=d.ctrl.astype('float64'))",
    ),
]


@pytest.mark.parametrize("worlds, message", WRONG, ids=[message for _, message in WRONG])
def test_models_and_data(worlds, message):
    assert said(*worlds, steps=2).startswith(message)


def test_devices_want_worlds():
    assert said(M, D, steps=2, devices=[DEVICE]) == (
        "devices= shares worlds, but d holds one world: give its arrays a leading world axis"
    )


def test_numbers_of_numpy_and_a_block_of_one_world():
    def abstract(**options):
        return jax.eval_shape(lambda d: rollout(M, d, **options), D).qpos.shape

    assert abstract(steps=np.int64(2), unroll=np.int32(1)) == (2, 1)
    assert abstract(steps=2, block=4) == (2, 1)
    assert jax.eval_shape(lambda d: rollout(M, d, steps=2), D.replace(time=0.0)).qpos.shape == (2, 1)


@pytest.mark.parametrize("worlds", [0, 1])
def test_a_batch_may_be_empty(worlds):
    batch = jax.tree.map(lambda x: jnp.zeros((worlds, *x.shape), x.dtype) + x, D)
    assert rollout(M, batch, steps=2).qpos.shape == (worlds, 2, M.nq)
    assert jax.jit(jax.vmap(lambda d: mjx.step(M, d)))(batch).qpos.shape == (worlds, M.nq)
