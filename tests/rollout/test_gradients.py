"""Gradients of a 20-step rollout at default options, against central differences of a converged one."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop import put_data, put_model
from mjx_like.rollout import rollout
from mjx_like.types.enums import DisableBit
from tests.oracle import GYM

STEPS, EPSILON, LIMIT = 20, 1e-6, 1e-5
PENDULUM = """
<mujoco><worldbody><body><joint name="j" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 0 -.5"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>
"""
BOX = """
<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .0995"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>
"""
CASES = {
    "pendulum": (PENDULUM, 10),
    "box": (BOX, 20),
    "hopper": (str(GYM / "hopper.xml"), 120),
    "ant": (str(GYM / "ant.xml"), 120),
}


def start(source: str, warm_up: int):
    """Return MjModel and MjData some random-action steps into motion; the box slides."""
    mj = mujoco.MjModel.from_xml_string(source) if source.lstrip()[0] == "<" else mujoco.MjModel.from_xml_path(source)
    data, rng = mujoco.MjData(mj), np.random.default_rng(1)
    for i in range(warm_up):
        if i % 5 == 0:
            data.ctrl[:] = 0.3 * rng.uniform(-1, 1, mj.nu)
        mujoco.mj_step(mj, data)
    if source == BOX:
        data.qvel[:] = [1.0, 0.3, 0, 0, 0, 0.5]
    mujoco.mj_forward(mj, data)
    return mj, data


def losses(m, d, weights):
    """Return the loss as a function of (initial velocity, controls, masses)."""

    def loss(x):
        end, _ = rollout(m.replace(body_mass=x["mass"]), d.replace(qvel=x["qvel"]), x["ctrl"])
        return end.qpos @ weights[: m.nq] + 0.1 * end.qvel @ weights[m.nq :]

    return loss


@pytest.mark.parametrize("case", CASES)
def test_twenty_steps(case):
    mj, data = start(*CASES[case])
    m, d = put_model(mj), put_data(mj, data)
    exact = m.replace(opt=m.opt.replace(tolerance=0.0, iterations=100))
    free = m.replace(opt=m.opt.replace(disableflags=m.opt.disableflags | DisableBit.CONTACT))
    rng = np.random.default_rng(0)
    weights = rng.normal(size=mj.nq + mj.nv)
    x = {
        "qvel": d.qvel,
        "ctrl": jnp.asarray(0.3 * rng.uniform(-1, 1, (STEPS, mj.nu))),
        "mass": m.body_mass,
    }
    scale = {"qvel": 1.0, "ctrl": 1.0, "mass": np.asarray(m.body_mass)}
    directions = [{k: jnp.asarray(rng.normal(size=v.shape)) * scale[k] for k, v in x.items()} for _ in range(3)]

    reverse = jax.jit(jax.grad(losses(m, d, weights)))(x)
    forward = jax.jit(lambda v: jax.jvp(losses(m, d, weights), (x,), (v,))[1])
    moved = [{k: x[k] + s * EPSILON * v[k] for k in x} for v in directions for s in (1, -1)]
    values = jax.jit(jax.vmap(losses(exact, d, weights)))(jax.tree.map(lambda *a: jnp.stack(a), *moved))
    for i, v in enumerate(directions):
        difference = float(values[2 * i] - values[2 * i + 1]) / (2 * EPSILON)
        by_reverse = sum(float(jnp.vdot(reverse[k], v[k])) for k in x)
        assert abs(by_reverse - difference) <= LIMIT * (1 + abs(difference))
        assert abs(float(forward(v)) - by_reverse) <= 1e-9 * (1 + abs(difference))
    if case != "pendulum":
        assert data.ncon > 0
        flying = jax.jit(jax.grad(losses(free, d, weights)))(x)
        change = np.linalg.norm(flying["qvel"] - reverse["qvel"]) / np.linalg.norm(reverse["qvel"])
        assert change > 0.01
