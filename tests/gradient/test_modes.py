"""Reverse mode equals forward mode, batches equal loops, remat and sharding change nothing, and float32 is enough."""

import functools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.rollout.rollout import rollout
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.support.oracle import GYM, error

BALL = """
<mujoco><option timestep="0.005" {}/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .099"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0" name="x"/>
<joint type="hinge" axis="0 1 0"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>
"""
KINDS = {
    "Newton": '{} solver="Newton"',
    "CG": '{} solver="CG"',
    "PGS": '{} solver="PGS"',
}


@functools.cache
def _ball(option=""):
    return put_model(mujoco.MjModel.from_xml_string(BALL.format(option)))


def _pushed(m, x, remat=True, **settings):
    """Return a number that the end of a rollout in contact has, by starting velocities and controls."""
    qvel, ctrl = x[..., : m.nv], x[..., m.nv :, None]
    d = make_data(m)
    if qvel.ndim > 1:
        d = jax.vmap(lambda v: make_data(m).replace(qvel=v))(qvel)
    else:
        d = d.replace(qvel=qvel)
    end = rollout(m, d, ctrl, record=lambda d: d.qvel, remat=remat, **settings)
    return jnp.sum(jnp.sin(end[..., -1, :]))


def _starts(m, batch, steps):
    return jnp.asarray(0.3 * np.random.default_rng(0).normal(size=(batch, m.nv + steps)))


@pytest.mark.slow
def test_batches_loops_and_remat():
    """`vmap(grad)` equals a loop of gradients and the gradient of a batch; remat changes nothing."""
    m, steps = _ball(), 8
    x = _starts(m, 3, steps)
    one = jax.grad(functools.partial(_pushed, m))
    mapped = jax.jit(jax.vmap(one))(x)
    alone = jax.jit(one)
    assert error(np.stack([alone(row) for row in x]), mapped) < 1e-10
    assert np.abs(mapped).max() > 0.1
    kept = jax.jit(jax.vmap(jax.grad(functools.partial(_pushed, m, remat=False))))(x)
    assert error(kept, mapped) < 1e-12


@pytest.mark.slow
def test_sharded_and_in_blocks():
    """The gradient of a batch in blocks, or over devices, equals that of each world."""
    m, steps = _ball(), 8
    x = _starts(m, 4, steps)
    mapped = jax.jit(jax.vmap(jax.grad(functools.partial(_pushed, m))))(x)
    for settings in ({"block": 2}, {"devices": jax.devices()[:1]}, {"unroll": 2}):
        whole = jax.jit(jax.grad(lambda x, s=settings: _pushed(m, x, **s)))(x)
        assert error(whole, mapped) < 1e-10, settings


@pytest.mark.slow
def test_two_devices_give_the_same_gradient():
    """By starting velocities and controls, which are spread, and by masses, which all worlds of both devices share."""
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 2); jax.config.update('jax_enable_x64', True)\n"
        "import jax.numpy as jnp\n"
        "from tests.gradient.test_modes import _ball, _pushed, _starts\n"
        "from tests.support.oracle import error\n"
        "m, x = _ball(), _starts(_ball(), 3, 8)\n"
        "def loss(mass, x, **settings):\n"
        "    return _pushed(m.replace(body_mass=mass), x, **settings)\n"
        "one, two = (jax.jit(jax.grad(lambda *a: loss(*a, devices=jax.devices()[:n]), (0, 1)))(m.body_mass, x)"
        " for n in (1, 2))\n"
        "assert len(jax.devices()) == 2\n"
        "assert max(error(a, b) for a, b in zip(two, one, strict=True)) < 1e-12\n"
        "assert min(float(abs(g).max()) for g in two) > 1e-3\n"
    )
    # NPROC: more worker threads than devices, or those of XLA can wait for each other for ever
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=500, env=os.environ | {"NPROC": "16"}
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cone", ("pyramidal", "elliptic"))
@pytest.mark.parametrize("solver", KINDS)
def test_starts_and_iterations_leave_the_gradient(solver, cone):
    """The gradient of a step in contact by state and controls does not depend on where and how long it searches."""
    option = KINDS[solver].format(f'cone="{cone}" tolerance="0"') + ' iterations="{}"'
    m = _ball(option.format(200))
    rng = np.random.default_rng(1)
    d = make_data(m).replace(qvel=jnp.asarray([-0.1, 0.3, 0.2]), ctrl=jnp.asarray([0.5]))
    weight = jnp.asarray(rng.normal(size=m.nv))

    def loss(x, m, warm):
        own = d.replace(qpos=d.qpos + x[:3], qvel=d.qvel + x[3:6], ctrl=d.ctrl + x[6:], qacc_warmstart=warm)
        end = step(m, own)
        return jnp.sum(weight * end.qvel), end.qacc

    gradient = jax.jit(jax.grad(loss, has_aux=True))
    first, at = gradient(jnp.zeros(7), m, jnp.zeros(3))
    assert np.abs(first[:3]).max() > 1
    for model, warm in ((m, jnp.asarray([3.0, -5.0, 8.0])), (_ball(option.format(400)), jnp.zeros(3))):
        other, end = gradient(jnp.zeros(7), model, warm)
        # CG ends where no step lowers the cost by a rounding, which leaves accelerations off by some 1e-10
        off = error(end, at) if solver == "CG" else 0
        assert off < 1e-8 and error(other, first) < 1e-10 + 10 * off


@pytest.mark.slow
@pytest.mark.parametrize("steps", (1, 100))
def test_reverse_equals_forward(steps):
    """On hopper, standing and falling, by all velocities and controls."""
    mj = mujoco.MjModel.from_xml_path(str(GYM / "hopper.xml"))
    m, data = put_model(mj), mujoco.MjData(mj)
    for _ in range(300):
        mujoco.mj_step(mj, data)
    d = make_data(m).replace(qpos=jnp.asarray(data.qpos), qvel=jnp.asarray(data.qvel))
    rng = np.random.default_rng(2)
    ctrl, weight = jnp.asarray(0.3 * rng.normal(size=(steps, m.nu))), jnp.asarray(rng.normal(size=m.nv))

    def loss(v, ctrl):
        rows, end = rollout(m, d.replace(qvel=d.qvel + v), ctrl, record=lambda d: d.nefc, return_data=True)
        return jnp.sum(weight * end.qvel), rows

    (by_velocity, by_ctrl), rows = jax.jit(jax.grad(loss, (0, 1), has_aux=True))(jnp.zeros(m.nv), ctrl)
    assert rows.max() > 0
    push = jax.jit(lambda dv, du: jax.jvp(lambda v, u: loss(v, u)[0], (jnp.zeros(m.nv), ctrl), (dv, du))[1])
    for _ in range(4):
        dv, du = jnp.asarray(rng.normal(size=m.nv)), jnp.asarray(rng.normal(size=ctrl.shape))
        along = jnp.sum(by_velocity * dv) + jnp.sum(by_ctrl * du)
        assert abs(push(dv, du) - along) < 1e-10 * (1 + abs(along))


@pytest.mark.slow
def test_single_precision():
    """The gradient of 32 steps of a standing hopper in float32 points where that in float64 does."""
    mj = mujoco.MjModel.from_xml_path(str(GYM / "hopper.xml"))
    data = mujoco.MjData(mj)
    for _ in range(300):
        mujoco.mj_step(mj, data)
    rng, found = np.random.default_rng(3), []
    ctrl = 0.3 * rng.normal(size=(32, mj.nu))
    for dtype in (jnp.float64, jnp.float32):
        m = put_model(mj, dtype=dtype)
        d = make_data(m).replace(qpos=jnp.asarray(data.qpos, dtype), qvel=jnp.asarray(data.qvel, dtype))
        loss = lambda u, m=m, d=d: rollout(m, d, u, record=lambda d: d.qpos)[-1, 0]  # noqa: E731
        found.append(np.asarray(jax.jit(jax.grad(loss))(jnp.asarray(ctrl, dtype)), float))
    exact, single = found
    cosine = np.sum(exact * single) / np.linalg.norm(exact) / np.linalg.norm(single)
    assert cosine > 0.9999
    assert np.linalg.norm(exact - single) < 1e-4 * np.linalg.norm(exact)


@pytest.mark.slow
def test_memory_is_linear_in_steps():
    """The gradient of a longer rollout needs the state of more steps, and no more."""
    m = _ball()

    def memory(steps):
        gradient = jax.jit(jax.grad(functools.partial(_pushed, m)))
        return gradient.lower(_starts(m, 1, steps)[0]).compile().memory_analysis().temp_size_in_bytes

    short, middle, long = (memory(steps) for steps in (1000, 2000, 4000))
    assert long - middle == pytest.approx(2 * (middle - short), rel=0.01)
    assert middle - short < 1000 * 8 * 100
