"""step_worlds: what `vmap` of `step` gives, in values, records and derivatives, and in loops of users."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from mjx_like.rollout import step_worlds as module
from mjx_like.rollout.rollout import start_of
from tests.rollout.test_rollout import ARM, BATCH, world, worlds


@pytest.fixture(scope="module")
def model():
    return put_model(mujoco.MjModel.from_xml_string(ARM))


def mapped(m, d):
    return jax.vmap(mjx.step, (None, 0))(m, d)


@pytest.fixture(params=["last", "first"])
def layout(request, monkeypatch):
    """Worlds on the last axis inside, as with few dofs on a CPU, and on the first."""
    monkeypatch.setattr(module, "worlds_are_last", lambda m: request.param == "last")


def test_equals_vmap_of_step(model, layout):
    d = worlds(model)[0].replace(ctrl=worlds(model)[1][:, 0])

    @jax.jit
    def both(d):
        seen, end = mjx.step_worlds(model, d, record=lambda d: (d.qpos, d.xpos, d.M))
        assert end.xpos is d.xpos  # a loop neither writes nor carries what was derived
        whole = mapped(model, d)
        return (seen, start_of(end)), ((whole.qpos, whole.xpos, whole.M), start_of(whole))

    ours, theirs = both(d)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_loop_is_a_rollout(model):
    d, ctrl = worlds(model)

    @jax.jit
    def loop(d, ctrl):
        def one(d, u):
            seen, d = mjx.step_worlds(model, d.replace(ctrl=u))
            return d, seen

        return jax.lax.scan(one, d, ctrl.swapaxes(0, 1))

    end, seen = loop(d, ctrl)
    records, last = mjx.rollout(model, d, ctrl, return_data=True)
    for name in ("time", "qpos", "qvel", "act", "sensordata"):
        np.testing.assert_allclose(getattr(seen, name).swapaxes(0, 1), getattr(records, name), atol=1e-12)
    np.testing.assert_allclose(end.qpos, last.qpos, atol=1e-12)


def test_models_with_a_world_axis(model, layout):
    d = worlds(model)[0]
    mass = model.body_mass * jnp.linspace(0.5, 2, BATCH)[:, None]
    varied = model.replace(body_mass=mass)
    qvel = jax.jit(lambda m, d: mjx.step_worlds(m, d, block=2)[0].qvel)(varied, d)
    one = jax.jit(mjx.step)
    for i in (0, 3):
        np.testing.assert_allclose(qvel[i], one(model.replace(body_mass=mass[i]), world(d, i)).qvel, atol=1e-12)
    assert np.abs(qvel[0] - one(model, world(d, 0)).qvel).max() > 1e-4


@pytest.mark.parametrize("remat", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_derivatives(model, remat):
    """Forward and reverse mode in blocks, by controls and by a model's leaf, are those of vmap."""
    d, ctrl = worlds(model)

    def by_worlds(m, d):
        return mjx.step_worlds(m, d, record=lambda d: (), block=2, remat=remat)[1]

    def end(advance, u, mass):
        m = model.replace(body_mass=mass)
        return jnp.sum(jnp.sin(advance(m, d.replace(ctrl=u)).qvel))

    at = ctrl[:, 0], model.body_mass
    way = (jnp.ones_like(at[0]), jnp.ones_like(at[1]))

    @jax.jit
    def derivatives(*at):
        ours, theirs = (jax.grad(lambda *x, f=f: end(f, *x), (0, 1))(*at) for f in (by_worlds, mapped))
        return ours, theirs, jax.jvp(lambda *x: end(by_worlds, *x), at, way)[1]

    ours, theirs, tangent = derivatives(*at)
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(b).max() > 1e-6
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_allclose(tangent, sum(jnp.sum(x) for x in ours), atol=1e-10)


@pytest.mark.slow
def test_a_further_vmap(model):
    d = worlds(model)[0]
    both = jax.tree.map(lambda x: jnp.stack([x, x]), d).replace(qvel=jnp.stack([d.qvel, 2 * d.qvel]))
    seen = jax.jit(jax.vmap(lambda d: mjx.step_worlds(model, d, record=lambda d: d.qpos)[0]))(both)
    many = jax.jit(lambda d: mapped(model, d).qpos)
    np.testing.assert_allclose(seen[0], many(d), atol=1e-12)
    np.testing.assert_allclose(seen[1], many(d.replace(qvel=2 * d.qvel)), atol=1e-12)


def test_wrong_input(model):
    d = worlds(model)[0]
    with pytest.raises(InputError, match=r"step_worlds: d holds one world: take step\(m, d\)"):
        mjx.step_worlds(model, world(d, 0))
    with pytest.raises(InputError, match="record=3: must be a function"):
        mjx.step_worlds(model, d, record=3)
    with pytest.raises(InputError, match="block"):
        mjx.step_worlds(model, d, block=0)
    with pytest.raises(InputError, match="remat"):
        mjx.step_worlds(model, d, remat="yes")
    with pytest.raises(InputError, match=r"step_worlds: d.qvel has dtype float32, but a step makes it float64"):
        mjx.step_worlds(model, d.replace(qvel=d.qvel.astype("float32")))
