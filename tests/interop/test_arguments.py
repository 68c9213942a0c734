"""What put_model, put_data, get_data and get_data_into say of objects that do not fit."""

import jax
import jax.numpy as jnp
import mujoco
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError
from tests.support.two_arms import LONG, SHORT

M, OTHER = mjx.put_model(SHORT), mjx.put_model(LONG)
D = mjx.make_data(M)
MANY = jax.tree.map(lambda x: jnp.stack([x] * 3), D)
GIVE = "give the mujoco.MjModel that the Model was put from"
PUT = [
    (lambda: mjx.put_model("a.xml"), "put_model: m is a str: give a mujoco.MjModel; Model.from_xml_path loads a file"),
    (lambda: mjx.put_model(M), "put_model: m is a Model already"),
    (lambda: mjx.put_model(None), "put_model: m is None: give a mujoco.MjModel"),
    (lambda: mjx.put_data(M, mujoco.MjData(SHORT)), f"put_data: m is a Model: {GIVE}"),
    (lambda: mjx.put_data(SHORT, D), "put_data: d is a Data already"),
    (lambda: mjx.put_data(SHORT, None), "put_data: d is None: give a mujoco.MjData"),
    (
        lambda: mjx.put_data(LONG, mujoco.MjData(SHORT)),
        "put_data: d is the MjData of another MjModel: d.qpos has shape (1,), m needs (nq,) = (2,)",
    ),
]
GET = [
    (lambda: (M, D), f"m is a Model: {GIVE}"),
    (lambda: (SHORT, mujoco.MjData(SHORT)), "d is a mujoco.MjData: give a Data"),
    (lambda: (SHORT, None), "d is None: give a Data"),
    (
        lambda: (LONG, D),
        f"d is the Data of another model: d.qpos has shape (1,), this one needs (nq,) = (2,); {GIVE}",
    ),
    (
        lambda: (SHORT, mjx.make_data(OTHER)),
        f"d is the Data of another model: d.qpos has shape (2,), this one needs (nq,) = (1,); {GIVE}",
    ),
    (lambda: (SHORT, D.replace(qpos=jnp.zeros(3))), "d.qpos has shape (3,), the model needs (nq,) = (1,)"),
    (
        lambda: (SHORT, D.replace(xfrc_applied=jnp.zeros((2, 5)))),
        "d.xfrc_applied has shape (2, 5), the model needs (nbody, 6) = (2, 6)",
    ),
    (lambda: (SHORT, D.replace(ctrl=0.5)), "d.ctrl=0.5: must be an array of shape (nu,) = (1,)"),
    (
        lambda: (SHORT, D.replace(qpos=MANY.qpos)),
        "d.qpos has shape (3, 1), but d.time has shape (): all arrays of d need the same leading world axis, or none",
    ),
    (
        lambda: (SHORT, jax.tree.map(lambda x: x[None], MANY)),
        "d.qpos has shape (1, 3, 1), two world axes or more: give it one, or none",
    ),
]


def said(call) -> str:
    with pytest.raises(InputError) as mistake:
        call()
    assert "\n" not in str(mistake.value)
    return str(mistake.value)


@pytest.mark.parametrize("call, message", PUT, ids=[message for _, message in PUT])
def test_put(call, message):
    assert said(call) == message


@pytest.mark.parametrize("arguments, message", GET, ids=[message for _, message in GET])
def test_get(arguments, message):
    assert said(lambda: mjx.get_data(*arguments())) == f"get_data: {message}"
    assert said(lambda: mjx.get_data_into(mujoco.MjData(SHORT), *arguments())) == f"get_data_into: {message}"


def test_get_data_is_for_values():
    message = said(lambda: jax.jit(lambda d: mjx.get_data(SHORT, d))(D))
    assert message == "get_data: d is traced: call it outside jit, vmap and grad"


def test_results_to_write_into():
    data = mujoco.MjData(SHORT)
    cases = [
        (D, D, "result is a Data: give a mujoco.MjData, or a list of them for a batch"),
        ([data, None, data], MANY, "result[1] is None: give a mujoco.MjData"),
        (data, MANY, "result is one MjData, but d holds 3 worlds"),
        ([data] * 2, MANY, "result is a list of 2, but d holds 3 worlds"),
        ([data], D, "result is a list of 1, but d holds one world"),
        (
            mujoco.MjData(LONG),
            D,
            "result is the MjData of another MjModel: result.qpos has shape (2,), m needs (nq,) = (1,)",
        ),
        (
            [data, mujoco.MjData(LONG), data],
            MANY,
            "result[1] is the MjData of another MjModel: result[1].qpos has shape (2,), m needs (nq,) = (1,)",
        ),
    ]
    for result, d, message in cases:
        assert said(lambda: mjx.get_data_into(result, SHORT, d)) == f"get_data_into: {message}"  # noqa: B023


def test_a_batch_is_a_list():
    """As in mujoco.mjx."""
    d = MANY.replace(qpos=jnp.array([[0.1], [0.2], [0.3]]))
    found = mjx.get_data(SHORT, d)
    assert isinstance(found, list) and [x.qpos[0] for x in found] == [0.1, 0.2, 0.3]
    assert isinstance(mjx.get_data(SHORT, D), mujoco.MjData)
    assert len(mjx.get_data(SHORT, jax.tree.map(lambda x: x[:1], MANY))) == 1
