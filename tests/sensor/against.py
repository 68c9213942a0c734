"""Sensors of both engines on the same MjData."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from mjx_like.interop.convert import put_data, put_model
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.types.enums import SensorType
from tests.support.oracle import STATE, error, load, reference, states

CAPACITY = dict(nconmax=32, njmax=150)
BODY_FIELDS = ("cacc", "cfrc_ext", "cfrc_int")


def evaluate(m, d):
    """Return Data after all three sensor stages."""
    return sensor_acc(m, sensor_vel(m, sensor_pos(m, d)))


def motion(mj: mujoco.MjModel, count: int, steps: int) -> list[dict[str, np.ndarray]]:
    """Return states of one motion from the initial pose, with a push, each `steps` steps after the one before."""
    data, out = mujoco.MjData(mj), []
    data.qvel[:] = 0.3 * np.random.default_rng(0).normal(size=mj.nv)
    for _ in range(count):
        for _ in range(steps):
            mujoco.mj_step(mj, data)
        out.append({name: np.array(getattr(data, name)) for name in STATE})
    return out


def compare(xml: str, count: int = 4, steps: int = 30, rolled: bool = False):
    """Return names, ours and theirs for every sensor over several states, and the worst error of the body forces.

    rolled: take states from one motion, `steps` apart, instead of random ones.
    """
    mj, _ = load(xml)
    m = put_model(mj, **CAPACITY)
    chosen = motion(mj, count, steps) if rolled else states(mj, count, seed=1, steps=steps)
    theirs = [reference(mj, state) for state in chosen]
    data = jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t, **CAPACITY) for t in theirs))
    cleared = {name: jnp.zeros_like(getattr(data, name)) for name in ("sensordata", *BODY_FIELDS)}
    ours = jax.jit(jax.vmap(evaluate, in_axes=(None, 0)))(m, data.replace(**cleared))
    expected = np.stack([t.sensordata for t in theirs])
    worst = max(
        error(getattr(ours, n), np.stack([getattr(t, n) for t in theirs])) for n in ("cacc", "cfrc_ext", "cfrc_int")
    )
    rows = []
    for i in range(mj.nsensor):
        span = slice(mj.sensor_adr[i], mj.sensor_adr[i] + mj.sensor_dim[i])
        rows.append((SensorType(mj.sensor_type[i]), np.asarray(ours.sensordata[:, span]), expected[:, span]))
    return rows, worst
