"""Each stage alone: first and second derivatives, in both modes, equal differences of what they are derivatives of."""

import dataclasses
import functools
import importlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.euler import euler
from mjx_like.integrator.implicitfast import implicitfast
from mjx_like.interop.convert import put_model
from mjx_like.inverse import inverse
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.subtree_vel import subtree_vel
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from tests.support.oracle import error
from tests.support.tolerances import SLOPE

pipeline = importlib.import_module("mjx_like.forward")

XML = """
<mujoco><option timestep="0.005" cone="elliptic" density="1.2" viscosity="1e-3" wind="1 0 0" tolerance="0"
 iterations="60"><flag energy="enable"/></option>
<worldbody><geom type="plane" size="5 5 .1"/><camera name="eye" mode="trackcom" pos="1 2 3"/>
<body name="free" pos="0 0 .19"><freejoint/><geom type="capsule" size=".1 .2" euler="0 80 0" condim="4"/>
 <site name="a" pos="0 0 .1"/>
 <body name="ball" pos=".3 0 .1" gravcomp=".1"><joint type="ball" damping=".1" stiffness="1"/>
  <geom size=".08" pos=".2 0 0"/>
  <body pos=".4 0 0"><joint name="j" axis="0 1 0" range="-10 10" damping=".2 .1" frictionloss=".1" stiffness="2"
   springref="5" armature=".01"/><geom type="ellipsoid" size=".05 .06 .07"
   fluidshape="ellipsoid" contype="0" conaffinity="0"/><site name="b" pos=".1 0 0"/></body></body></body>
<site name="w" pos="1.2 0 1.6"/></worldbody>
<tendon><spatial name="t" stiffness="3" damping=".1" range="0 1.2" limited="true" armature=".1">
 <site site="w"/><site site="b"/></spatial></tendon>
<actuator><motor joint="j" gear="2"/><muscle tendon="t" lengthrange=".1 2"/>
<general joint="j" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>
<sensor><accelerometer site="b"/><velocimeter site="b"/><gyro site="a"/>
<framepos objtype="site" objname="b" reftype="site" refname="a"/>
<framexaxis objtype="site" objname="b"/><subtreeangmom body="free"/><force site="b"/></sensor></mujoco>
"""
# Stages in the order of a step, as forward.py calls them.
STAGES = (
    pipeline.kinematics, pipeline.com_pos, pipeline.camlight, pipeline.tendon, pipeline.crb, pipeline.factor_m,
    pipeline.collision, pipeline.make_constraint, pipeline.transmission, sensor_pos, energy_pos,
    pipeline.tendon_velocity, pipeline.actuator_velocity, pipeline.com_vel, subtree_vel, pipeline.passive,
    pipeline.reference_constraint, pipeline.rne, pipeline.tendon_bias, sensor_vel, energy_vel,
    pipeline.fwd_actuation, pipeline.fwd_acceleration, pipeline.fwd_constraint, sensor_acc,
    euler, implicitfast, inverse,
)  # fmt: skip
QUICK = STAGES[:2]
SECOND = 1e-5  # of second derivatives: between those of a search and of its differences stands its tolerance


@functools.cache
def _scene(before):
    """Return the model and Data of a moving state in contact, after the stages `before`."""
    mj = mujoco.MjModel.from_xml_string(XML)
    m, data, rng = put_model(mj), mujoco.MjData(mj), np.random.default_rng(3)
    mujoco.mj_integratePos(mj, data.qpos, 0.2 * rng.normal(size=mj.nv) * (np.arange(mj.nv) > 2), 1)
    data.qvel[:], data.ctrl[:], data.act[:] = 0.3 * rng.normal(size=mj.nv), (0.3, 0.4, 0.2), 0.3
    while data.ncon == 0 and data.time < 1:
        mujoco.mj_step(mj, data)
    for _ in range(3):
        mujoco.mj_step(mj, data)
    data.ctrl[1] = 0.7  # the muscle's activation has reached its control, where its rate has a kink
    mujoco.mj_forward(mj, data)
    assert data.ncon > 0 and data.nefc > 5
    names = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart")
    d = make_data(m).replace(**{name: jnp.asarray(getattr(data, name).copy()) for name in names})
    return m, jax.jit(lambda d: functools.reduce(lambda d, stage: stage(m, d), before, d))(d)


def _floats(d: Data) -> dict[str, jax.Array]:
    own = {f.name: getattr(d, f.name) for f in dataclasses.fields(d)}
    return {k: x for k, x in own.items() if isinstance(x, jax.Array) and x.dtype == jnp.float64 and x.size}


def _along(stage):
    """Return what a stage makes of Data moved by t along a random way, weighed, and the fields that it writes."""
    m, d = _scene(QUICK[:1] if stage in QUICK else (pipeline.forward,))
    rng = np.random.default_rng(5)
    floats = _floats(d)
    # matrices that stay factors and rotations; contacts move with what they are made from
    way = {k: jnp.asarray(rng.normal(size=x.shape)) * (np.asarray(x) != 0) for k, x in floats.items()}
    way = {k: 0.1 * x * (1e-2 if k in ("M", "qLD", "efc_J") else 1) for k, x in way.items()}
    way["M"] = way["M"] + way["M"].T
    weight = {k: jnp.asarray(rng.normal(size=x.shape)) / (1 + float(jnp.abs(x).max())) for k, x in floats.items()}
    weight["contact"] = jnp.asarray(rng.normal(size=d.contact.dist.shape)) * (np.asarray(d.contact.dist) < 0.01)

    def value(t):
        end = stage(m, d.replace(**{k: floats[k] + t * way[k] for k in floats}))
        out = sum(jnp.sum(weight[k] * x) for k, x in _floats(end).items())
        return out + jnp.sum(weight["contact"] * end.contact.dist)

    return value


@pytest.mark.parametrize(
    "stage",
    [pytest.param(s, id=s.__name__, marks=() if s in QUICK[1:] else pytest.mark.slow) for s in STAGES],
)
def test_stage(stage):
    value = _along(stage)
    forward, reverse = jax.jacfwd(value), jax.grad(value)
    every = (value, forward, reverse, jax.jacfwd(forward), jax.grad(forward), jax.jacfwd(reverse), jax.grad(reverse))
    h = 1e-5
    rows = jax.jit(jax.vmap(lambda t: jnp.stack([f(t) for f in every])))(h * jnp.array([-2.0, -1, 0, 1, 2]))
    rows = np.asarray(rows)
    assert np.isfinite(rows).all()

    def slope(x):
        return (8 * (x[3] - x[1]) - (x[4] - x[0])) / (12 * h)

    now = rows[2]
    assert error(now[2], now[1]) < 1e-10 and error(now[4:], np.full(3, now[3])) < 1e-9
    assert error(now[1], slope(rows[:, 0])) < SLOPE
    assert error(now[3], slope(rows[:, 1])) < SECOND
