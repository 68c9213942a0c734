"""Finite gradients at states that long simulations end in, and of optimisation through contact; in float32."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from mjx_like.compiler.load import from_xml_path, from_xml_string
from mjx_like.rollout.rollout import rollout
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.models import ALL

PATHS = {path.stem: path for path in ALL}
BOXES = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .11"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos=".02 0 .32"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .3" euler="20 30 10"><freejoint/><geom type="box" size=".1 .05 .08"/></body>
<body pos="1 1 .2"><freejoint/><geom type="sphere" size=".1"/></body>
<body pos="-1 0 .3" euler="40 0 10"><freejoint/><geom type="capsule" size=".05 .1"/></body>
</worldbody></mujoco>"""
THROWN = """<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 .5" euler="20 30 10"><freejoint/><geom type="box" size=".1 .07 .05"/></body>
</worldbody><actuator><motor site="push" gear="1 0 0 0 0 0"/></actuator></mujoco>""".replace(
    "<freejoint/>", '<freejoint/><site name="push"/>'
)
SETTLED, SAMPLES = 2000, 64  # steps until rest, and states taken from the last half of them


def load(name):
    sources = {"boxes": BOXES, "thrown": THROWN}
    return from_xml_string(sources[name]) if name in sources else from_xml_path(str(PATHS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thrown", "boxes", "arm", "quadruped", "humanoid", "stack_boxes"])
def test_gradient_is_finite_at_rest(name):
    with jax.enable_x64(False):
        m = load(name)
        d = make_data(m)
        trajectory = jax.jit(lambda d: rollout(m, d, steps=SETTLED))(d)
        rows = np.linspace(SETTLED // 2, SETTLED - 1, SAMPLES).astype(int)
        qpos, qvel = trajectory.qpos[rows], trajectory.qvel[rows]
        assert np.isfinite(qpos).all()

        def derivatives(qpos, qvel):
            def function(*x):
                end = step(m, d.replace(qpos=x[0], qvel=x[1]))
                return jnp.concatenate([end.qpos, end.qvel, end.contact.dist, end.sensordata])

            value, pull = jax.vjp(function, qpos, qvel)
            slopes = jax.vmap(pull)(jnp.stack([jnp.zeros_like(value), jnp.ones_like(value)]))
            rate = jax.jvp(function, (qpos, qvel), (jnp.ones_like(qpos), jnp.ones_like(qvel)))[1]
            return *slopes, rate

        many = jax.jit(lambda *states: jax.lax.map(lambda s: derivatives(*s), states))
        for slope in many(qpos, qvel):
            bad = ~np.isfinite(slope).reshape(SAMPLES, -1).all(axis=1)
            assert not bad.any(), (rows[bad], qpos[bad][0].tolist(), qvel[bad][0].tolist())


def away(name, m, trajectory):
    """Return what is minimised: the way of a body from where it should be at the end."""
    target = {"arm": (8, (0.5, 0.1)), "hopper": (0, (0.5,)), "quadruped": (0, (0.5, 0.0)), "thrown": (0, (1.0, 0.2))}
    first, place = target[name]
    return 100 * jnp.sum((trajectory.qpos[-1, first : first + len(place)] - jnp.array(place)) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "hopper", "quadruped", "thrown"])
def test_optimisation_through_contact_stays_finite(name):
    knots, steps = 6, 250
    with jax.enable_x64(False):
        m = load(name)
        d = make_data(m, key="grasp" if name == "arm" else None)
        blend = np.abs(np.linspace(0, knots - 1, steps)[:, None] - np.arange(knots))
        blend = np.maximum(1 - blend, 0).astype(np.float32)

        def loss(points):
            trajectory = rollout(m, d, blend @ points)
            return away(name, m, trajectory), jnp.all(jnp.isfinite(trajectory.qpos))

        slope = jax.jit(jax.value_and_grad(loss, has_aux=True))
        points = 0.01 * jax.random.normal(jax.random.key(0), (knots, m.nu)) + d.ctrl
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(0.02))
        memory, values = optimizer.init(points), []
        for number in range(60):
            (value, finite), gradient = slope(points)
            assert finite, number
            assert np.isfinite(gradient).all(), (number, value)
            values.append(float(value))
            change, memory = optimizer.update(gradient, memory)
            points = optax.apply_updates(points, change)
        assert min(values) < values[0]
