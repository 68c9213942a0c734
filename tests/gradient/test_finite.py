"""No NaN in the gradient of a step: every model of models/, at rest, touching, aligned, and in random states."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.position import integrate_pos
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.gradient.resting import resting_and_touching
from tests.models import FEATURES, MAIN

FILES = sorted([*MAIN, *FEATURES], key=lambda path: path.stem)
QUICK = {"pair_sphere_sphere"}
STATES, LARGE = 10_000, 200  # of models with at most `SMALL` dofs, and of others
SMALL = 14
WORLDS = 200  # at a time


def _states(mj, m, count):
    """Return qpos, qvel and ctrl of many states.

    The first rests as the model begins, the next have come to rest, the next two just touch and just do not. Of the
    others, a fifth is aligned exactly (quarter turns, steps of 5 cm), the rest random, near and far; some of them rest.
    """
    rng = np.random.default_rng(0)
    size = np.resize([1e-9, 1e-3, 0.1, 1.0], count)
    moved = size[:, None] * rng.normal(size=(count, m.nv))
    turns = mj.dof_jntid >= 0
    for dof, joint in enumerate(mj.dof_jntid):
        kind, first = mj.jnt_type[joint], mj.jnt_dofadr[joint]
        turns[dof] = kind in (1, 3) or (kind == 0 and dof >= first + 3)
    steps = rng.integers(-2, 3, size=(count, m.nv))
    moved[4::5] = (steps * np.where(turns, np.pi / 2, 0.05))[4::5]
    moved[0] = 0
    qpos = jax.vmap(lambda v: integrate_pos(m, m.qpos0, v, 1.0))(jnp.asarray(moved))
    qvel, ctrl = (rng.normal(size=(count, n)) for n in (m.nv, m.nu))
    for x in (qvel, ctrl):
        x[:4], x[4::10] = 0, 0
    settled, *touching = resting_and_touching(mj)
    qpos = qpos.at[1:4].set(jnp.asarray(np.stack([settled, *touching])))
    return qpos, jnp.asarray(qvel), jnp.asarray(ctrl)


@pytest.mark.parametrize(
    "file", [pytest.param(f, id=f.stem, marks=() if f.stem in QUICK else pytest.mark.slow) for f in FILES]
)
def test_gradient_is_finite(file):
    mj = mujoco.MjModel.from_xml_path(str(file))
    m = put_model(mj)
    d = make_data(m)
    count = WORLDS if file.stem in QUICK else STATES if m.nv <= SMALL else LARGE
    qpos, qvel, ctrl = _states(mj, m, count)

    def loss(qpos, qvel, act, ctrl):
        end = step(m, d.replace(qpos=qpos, qvel=qvel, act=act, ctrl=ctrl))
        return jnp.sum(end.qpos) + jnp.sum(end.qvel) + jnp.sum(end.act) + 1e-3 * jnp.sum(end.sensordata), end.qvel

    gradient = jax.jit(jax.vmap(jax.grad(loss, (0, 1, 2, 3), has_aux=True), (0, 0, None, 0)))
    for k in range(0, len(qpos), WORLDS):
        own = slice(k, k + WORLDS)
        slopes, value = gradient(qpos[own], qvel[own], d.act, ctrl[own])
        for x in (*slopes, value):
            bad = ~np.isfinite(x).reshape(len(x), -1).all(axis=1)
            assert not bad.any(), (k + np.flatnonzero(bad), qpos[own][bad][0], qvel[own][bad][0])
        assert not m.nv or np.abs(slopes[1]).max() > 0
