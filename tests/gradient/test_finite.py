"""No NaN in the gradient of a step: every model of models/, at rest, touching, aligned, and in random states."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.position import integrate_pos
from mjx_like.interop import put_model
from mjx_like.state import make_data
from mjx_like.step import step

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
FILES = sorted([*MODELS.glob("*.xml"), *MODELS.glob("features/*.xml")])
QUICK = {"pair_sphere_sphere"}
STATES = 100
WORLDS = 20  # at a time


def _states(mj, m, count):
    """Return the place at rest, that place moving and commanded, and random ones, near and far."""
    rng = np.random.default_rng(0)
    size = np.concatenate([[0, 0], np.repeat([1e-9, 1e-3, 0.1, 1.0], count // 4 + 1)])[:count]
    moved = jnp.asarray(size[:, None] * rng.normal(size=(count, m.nv)))
    qpos = jax.vmap(lambda v: integrate_pos(m, m.qpos0, v, 1.0))(moved)
    qvel, ctrl = (rng.normal(size=(count, n)) for n in (m.nv, m.nu))
    for x in (qvel, ctrl):
        x[0], x[2::5] = 0, 0
    settled = mujoco.MjData(mj)
    for _ in range(300):
        mujoco.mj_step(mj, settled)
    qpos = qpos.at[-1].set(jnp.asarray(settled.qpos))
    return qpos, jnp.asarray(qvel), jnp.asarray(ctrl)


@pytest.mark.parametrize(
    "file", [pytest.param(f, id=f.stem, marks=() if f.stem in QUICK else pytest.mark.slow) for f in FILES]
)
def test_gradient_is_finite(file):
    mj = mujoco.MjModel.from_xml_path(str(file))
    m = put_model(mj)
    d = make_data(m)
    quick = file.stem in QUICK
    qpos, qvel, ctrl = _states(mj, m, WORLDS if quick else STATES)

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
