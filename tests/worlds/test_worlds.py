"""What entry points say of a Model and a Data that do not fit them, before anything is traced."""

import dataclasses
import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from mujoco import mjx as peer

import mjx_like as mjx
from mjx_like.errors import InputError
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import Stage
from mjx_like.worlds import one_world
from tests.support.two_arms import LONG, SHORT

ONE_WORLD = {
    name: getattr(mjx, name)
    for name in (
        "step step1 step2 forward forward_skip fwd_position fwd_velocity fwd_acceleration fwd_constraint inverse"
        " inverse_skip compare_fwd_inv transition_jacobian inverse_jacobian slip solver_statistics"
    ).split()
}
ONE_WORLD["get_state"] = lambda m, d: mjx.get_state(m, d, mjx.State.PHYSICS)
ONE_WORLD["set_state"] = lambda m, d: mjx.set_state(m, d, jnp.zeros(1), mjx.State.QPOS)
OTHERS = "other arrays of d have no such axis"
FULLY_CHECKED = [name for name in ONE_WORLD if not name.startswith("fwd_")]


@pytest.fixture(scope="module")
def m():
    return mjx.put_model(SHORT)


@pytest.fixture(scope="module")
def d(m):
    return mjx.make_data(m)


def many(x, count=3):
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * count), x)


def said(call, *args) -> str:
    with pytest.raises(InputError) as mistake:
        call(*args)
    assert "\n" not in str(mistake.value)
    return str(mistake.value)


@pytest.mark.parametrize("name", ONE_WORLD)
def test_a_batch(m, d, name):
    assert said(ONE_WORLD[name], m, many(d)) == (
        f"{name} takes one world, but d holds 3: d.qpos has shape (3, 1), one world has (nq,) = (1,); "
        f"map it with jax.vmap(mjx.{name}, in_axes=(None, 0)), or step many worlds with rollout"
    )


@pytest.mark.parametrize("name", ONE_WORLD)
def test_the_data_of_another_model(m, name):
    message = said(ONE_WORLD[name], m, mjx.make_data(mjx.put_model(LONG)))
    assert message.startswith(f"{name}: d is the Data of another model: d.qpos has shape (2,), this one needs (nq,) = ")
    assert message.endswith("make one with make_data(m)")


@pytest.mark.parametrize("name", FULLY_CHECKED)
def test_a_batch_in_part(m, d, name):
    assert said(ONE_WORLD[name], m, d.replace(ctrl=jnp.zeros((3, 1)))) == (
        f"{name} takes one world, but d.ctrl has shape (3, 1), one world has (nu,) = (1,); {OTHERS}"
    )
    assert said(ONE_WORLD[name], m, many(d).replace(ctrl=d.ctrl)) == (
        f"{name} takes one world, but d.qpos has shape (3, 1), one world has (nq,) = (1,); {OTHERS}"
    )


@pytest.mark.parametrize("name", FULLY_CHECKED)
def test_fields_of_another_shape(m, d, name):
    cases = {
        "d.qpos has shape (3,), the model needs (nq,) = (1,)": d.replace(qpos=jnp.zeros(3)),
        "d.ctrl=0.5: must be an array of shape (nu,) = (1,)": d.replace(ctrl=0.5),
        "d.qvel=[0.0]: must be an array of shape (nv,) = (1,)": d.replace(qvel=[0.0]),
        "d.act=None: must be an array of shape (na,) = (0,)": d.replace(act=None),
        "d.energy has shape (3,), the model needs (2,)": d.replace(energy=jnp.zeros(3)),
        "d.xfrc_applied has shape (2, 5), the model needs (nbody, 6) = (2, 6)": d.replace(
            xfrc_applied=jnp.zeros((2, 5))
        ),
        "d.contact=None: must be a Contact": d.replace(contact=None),
        "d.contact.frame has shape (1, 9), the model needs (nconmax, 3, 3) = (1, 3, 3)": d.replace(
            contact=d.contact.replace(frame=jnp.zeros((1, 9)))
        ),
    }
    for message, wrong in cases.items():
        assert said(ONE_WORLD[name], m, wrong) == f"{name}: {message}"


@pytest.mark.parametrize("name", FULLY_CHECKED)
def test_models_of_another_shape(m, d, name):
    heavy = m.replace(body_mass=jnp.ones((3, m.nbody)))
    assert said(ONE_WORLD[name], heavy, d) == (
        f"{name} takes one model, but m.body_mass has shape (3, 2), one has (nbody,) = (2,); "
        "map over models with jax.vmap, or step many worlds with rollout"
    )
    assert said(ONE_WORLD[name], m.replace(opt=m.opt.replace(gravity=jnp.ones(2))), d) == (
        f"{name}: m.opt.gravity has shape (2,), the model needs (3,)"
    )
    assert said(ONE_WORLD[name], m.replace(body_mass=jnp.ones(7)), d) == (
        f"{name}: m.body_mass has shape (7,), the model needs (nbody,) = (2,)"
    )


@pytest.mark.parametrize("name", ONE_WORLD)
def test_what_is_no_model_and_no_data(m, d, name):
    call = ONE_WORLD[name]
    assert said(call, d, m) == f"{name}: m is a Data and d is a Model: the order is (m, d)"
    assert said(call, SHORT, d) == f"{name}: m is a mujoco.MjModel: give a Model, put_model(m)"
    assert said(call, "a.xml", d) == f"{name}: m is a str: give a Model, Model.from_xml_path(m)"
    assert said(call, pathlib.Path("a.xml"), d).endswith("m is a PosixPath: give a Model, Model.from_xml_path(m)")
    assert said(call, None, d) == f"{name}: m is None: give a Model, from Model.from_xml_path or put_model"
    peers = said(call, peer.put_model(SHORT), d)
    assert peers.startswith(f"{name}: m is a mujoco.mjx.Model: give a Model, from Model.")
    assert said(call, mjx.Spec(), d) == f"{name}: m is a Spec: give a Model, m.compile()"
    assert said(call, m, mujoco.MjData(SHORT)) == f"{name}: d is a mujoco.MjData: give a Data, put_data(mj_model, d)"
    assert said(call, m, None) == f"{name}: d is None: give a Data, make_data(m)"
    assert said(call, m, np.zeros(1)) == f"{name}: d is a numpy.ndarray: give a Data, make_data(m)"


@pytest.mark.parametrize("name", ["make_data", "set_const", "with_smoothing", "save", "save_xml"])
def test_functions_of_a_model(m, d, name):
    call = {"save": lambda x: mjx.save("a.npz", x), "save_xml": lambda x: mjx.save_xml("a.xml", x)}
    call = call.get(name) or getattr(mjx, name)
    for value, given in ((None, "None"), (d, "a Data"), (SHORT, "a mujoco.MjModel"), ("a.xml", "a str")):
        assert said(call, value).startswith(f"{name}: m is {given}: give a Model")


def test_set_const_takes_one_model(m):
    assert said(mjx.set_const, m.replace(body_mass=jnp.ones((3, m.nbody)))) == (
        "set_const takes one model, but m.body_mass has shape (3, 2), one has (nbody,) = (2,); "
        "map over models with jax.vmap"
    )


def test_rows_that_are_made_anew_may_be_others(m, d):
    """A model with other options has other capacities; what a step computes first may be missing rows or have more."""
    rows = {
        field.name: jnp.zeros((5, *getattr(d, field.name).shape[1:]))
        for field in dataclasses.fields(Data)
        if field.metadata["shape"][:1] == ("njmax",)
    }
    contact = {f.name: jnp.zeros((5, *getattr(d.contact, f.name).shape[1:])) for f in dataclasses.fields(Contact)}
    longer = d.replace(contact=d.contact.replace(**contact), **rows)
    for name in ("step", "inverse"):
        jax.eval_shape(getattr(mjx, name), m, longer)
    for name in ("step2", "slip", "solver_statistics", "compare_fwd_inv"):
        assert "has shape (5" in said(ONE_WORLD[name], m, longer)
    assert "has shape (5" in said(lambda: mjx.forward_skip(m, longer, Stage.POS))
    assert "has shape (5" in said(lambda: mjx.inverse_skip(m, longer, Stage.VEL))


def test_what_fits_passes_under_every_transform(m, d):
    batch, models = many(d), m.replace(body_mass=jnp.ones((3, m.nbody)))
    axes = jax.tree.map(lambda x: None, m).replace(body_mass=0)
    abstract = jax.eval_shape(mjx.step, m, d)
    assert abstract.qpos.shape == (1,)
    assert jax.eval_shape(jax.vmap(mjx.step, (axes, 0)), models, batch).qpos.shape == (3, 1)
    assert jax.eval_shape(jax.jit(mjx.step), m, d.replace(time=0.0, qpos=np.zeros(1))).qpos.shape == (1,)
    slope = jax.grad(lambda q: jnp.sum(mjx.step(m, d.replace(qpos=q)).qpos))
    assert jax.eval_shape(slope, d.qpos).shape == (1,)
    end, _ = jax.eval_shape(lambda d: jax.lax.scan(lambda x, _: (mjx.step(m, x), None), d, length=2), d)
    assert end.qvel.shape == (1,)


def test_nothing_of_the_check_is_traced(m, d):
    assert not jax.make_jaxpr(lambda m, d: one_world("step", m, d))(m, d).eqns
