"""One time step from MuJoCo's own forward dynamics, against mj_step."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.euler import euler
from mjx_like.integrator.implicit import implicit
from mjx_like.integrator.implicitfast import implicitfast
from mjx_like.interop.convert import put_data
from mjx_like.state.initial import make_data
from tests.support.oracle import TIGHT, error, load, reference, states

INTEGRATORS = {"Euler": euler, "implicit": implicit, "implicitfast": implicitfast}

BODIES = """
  <worldbody>
    <body quat=".5 .3 .2 .1"><joint type="free" {free}/><geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/>
      <body pos=".1 0 0" quat="1 2 3 4"><geom size=".1" pos=".3 0 0"/></body><site name="s1"/></body>
    <body pos="0 1 0"><joint name="a" {a} axis="0 1 0"/><geom type="capsule" size=".1 .2" pos="0 0 .5"/>
      <site name="s2"/><body pos=".3 0 0"><joint name="ball" type="ball" {ball}/>
        <geom type="ellipsoid" size=".1 .2 .3" pos="0 0 1"/>
        <body><joint name="b" type="slide" axis="1 2 3" {b}/><geom size=".1"/><site name="s3" pos=".4 0 0"/>
        </body></body>
      <body pos="-.3 0 0"><joint name="c" axis="1 0 0"/><geom type="box" size=".1 .2 .05" pos="0 .3 0"/></body></body>
    <body pos="0 4 4"><freejoint/><geom type="box" size=".3 .2 .5"/></body>
  </worldbody>
  <tendon>
    <spatial name="t" {tendon}><site site="s1"/><site site="s2"/></spatial>
    <spatial damping="2 .4 .3"><site site="s2"/><site site="s3"/></spatial>
    <fixed name="f" {fixed}><joint joint="a" coef="1"/><joint joint="c" coef="-.5"/></fixed>
  </tendon>
"""
PLAIN = dict(free="", a="", ball="", b="", tendon="", fixed="")
DAMPED = PLAIN | dict(
    free='damping=".1 .2" armature=".05"',
    a='damping=".3"',
    ball='damping=".2"',
    b='damping=".1 .3"',
    tendon='damping="2"',
)
MOTORS = '<motor joint="a" gear="2" damping=".1 .2"/><motor joint="ball" gear="1 2 3"/><motor tendon="t" damping=".3"/>'
SERVOS = """
  <velocity joint="a" kv="1"/><velocity joint="a" kv="2" forcerange="-.1 .1"/><position joint="b" kp="3" kv="1"/>
  <velocity tendon="f" kv="1" gear="2"/><velocity tendon="t" kv="1"/>
  <general joint="c" gaintype="affine" gainprm="1 2 3" ctrlrange="-.5 .5" ctrllimited="true"/>
  <general joint="c" gaintype="affine" gainprm="1 2 3" dyntype="filter" dynprm=".1"/>
  <general joint="c" gaintype="affine" gainprm="1 2 3" dyntype="filterexact" dynprm=".1" actearly="true"/>
  <general site="s3" refsite="s1" gear="1 2 3 .1 .2 .3" biastype="affine" biasprm="1 2 -3" group="2"/>
  <muscle joint="a" lengthrange="-1 1"/>
"""
LIMITED = PLAIN | dict(a='actuatorfrcrange="-.1 .1"', fixed='actuatorfrcrange="-.1 .1"')
FLUID = 'density="5" viscosity=".3" wind="1 2 3"'


def _xml(integrator: str, parts: dict, actuators: str = "", option: str = "", flag: str = "", geom: str = "") -> str:
    return f"""<mujoco><option integrator="{integrator}" timestep=".02" {option}>
      <flag contact="disable" {flag}/></option><default><geom {geom}/></default>
      {BODIES.format(**parts)}<actuator>{actuators}</actuator></mujoco>"""


def _step_error(xml: str, integrate, count: int = 3) -> float:
    """Return the worst error of the state after one step from MuJoCo's forward dynamics at several states."""
    mj, m = load(xml)
    theirs = [reference(mj, state) for state in states(mj, count, seed=3, steps=10)]
    data = jax.block_until_ready(jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t) for t in theirs)))
    ours = jax.jit(jax.vmap(integrate, in_axes=(None, 0)))(m, data)
    for t in theirs:
        mujoco.mj_step(mj, t)
    return max(
        error(getattr(ours, name), np.stack([getattr(t, name) for t in theirs]))
        for name in ("qpos", "qvel", "act", "time", "qacc_warmstart")
    )


CASES = {
    "Euler": {
        "damped": dict(parts=DAMPED, actuators=MOTORS),
        "negative": dict(parts=PLAIN | dict(a='damping="-.3"')),
        "eulerdamp off": dict(parts=DAMPED, actuators=SERVOS, flag='eulerdamp="disable"'),
        "damper off": dict(parts=DAMPED, actuators=MOTORS, flag='damper="disable"'),
    },
    "implicit": {
        "damped": dict(parts=DAMPED, actuators=MOTORS + SERVOS),
        "damper off": dict(parts=DAMPED, actuators=MOTORS, flag='damper="disable"'),
        "tendon armature": dict(parts=PLAIN | dict(tendon='armature=".3"', fixed='armature=".2"')),
        "fluid boxes": dict(parts=PLAIN, option=FLUID),
        "fluid ellipsoids": dict(parts=PLAIN, option=FLUID, geom='fluidshape="ellipsoid"'),
    },
    "implicitfast": {
        "damped": dict(parts=DAMPED, actuators=MOTORS + SERVOS),
        "damper off": dict(parts=DAMPED, actuators=MOTORS, flag='damper="disable"'),
        "force limits": dict(parts=LIMITED, actuators=SERVOS),
        "actuation off": dict(parts=DAMPED, actuators=SERVOS, flag='actuation="disable"'),
        "group off": dict(parts=DAMPED, actuators=SERVOS, option='actuatorgroupdisable="2"'),
        "fluid boxes": dict(parts=PLAIN, option=FLUID),
        "fluid ellipsoids": dict(parts=PLAIN, option=FLUID, geom='fluidshape="ellipsoid"'),
    },
}


@pytest.mark.parametrize("integrator, case", [(name, case) for name, cases in CASES.items() for case in cases])
def test_step_equals_oracle(integrator, case):
    assert _step_error(_xml(integrator, **CASES[integrator][case]), INTEGRATORS[integrator]) < TIGHT


def test_free_bodies_only_need_no_global_factor():
    xml = """<mujoco><option integrator="implicitfast"/><worldbody><body><freejoint/><geom type="box" size=".1 .2 .3"/>
      </body><body pos="3 0 0"><freejoint/><geom type="box" size=".3 .2 .1" pos=".1 0 0"/></body></worldbody>
      </mujoco>"""
    assert _step_error(xml, implicitfast) < TIGHT
    mj, m = load(xml)
    assert "cholesky" not in str(jax.make_jaxpr(implicitfast)(m, make_data(m)))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gradient_equals_differences(integrator):
    mj, m = load(_xml(integrator, DAMPED, '<position joint="b" kp="3" kv="1"/>'))
    d = put_data(mj, reference(mj, states(mj, 2, seed=3, steps=10)[1]))
    direction = np.random.default_rng(0).normal(size=(3, mj.nv))

    def moved(scale):
        state = d.replace(
            qvel=d.qvel + scale * direction[0],
            qfrc_smooth=d.qfrc_smooth + scale * direction[1],
            M=d.M * (1 + scale * direction[2, 0]),
        )
        changed = m.replace(
            opt=m.opt.replace(timestep=m.opt.timestep * (1 + scale)), dof_damping=m.dof_damping * (1 + scale)
        )
        new = INTEGRATORS[integrator](changed, state)
        return jnp.sum(jnp.sin(new.qpos)) + jnp.sum(jnp.cos(new.qvel)) + jnp.sum(new.act)

    slope = jax.jit(jax.grad(moved))(0.0)
    moved = jax.jit(moved)
    assert error(slope, (moved(1e-5) - moved(-1e-5)) / 2e-5) < 1e-7
