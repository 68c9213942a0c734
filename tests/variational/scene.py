"""Small scenes for the tests of the variational integrator: a floating chain, a mixed tree, a spinning body."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from benchmarks.dojo import momentum
from mjx_like.variational.conserved import mean_velocity

ASTRONAUT = momentum.BODY  # which floats

MIXED = """<mujoco><option timestep="0.02" gravity="0.3 -0.2 -9.81"><flag contact="disable"/></option>
<worldbody>
  <body pos="0 0 2"><joint type="slide" axis="1 0 .2"/><joint type="hinge" axis="0 1 0" pos=".1 0 .05" damping=".3"/>
      <joint type="hinge" axis=".2 0 1" pos="0 .1 0" stiffness="3"/>
    <inertial pos=".1 .05 -.2" quat=".8 .3 .1 .2" mass="1.5" diaginertia=".02 .03 .04"/>
    <site name="s0" pos="0 .2 0"/>
    <body pos=".1 0 -.5" quat=".9 .1 -.2 .3"><joint type="ball" pos="0 .02 .03" damping=".05" armature=".003"/>
      <inertial pos="0 .1 -.1" quat="1 .2 0 -.3" mass=".8" diaginertia=".01 .012 .02"/>
      <body pos="0 0 -.3"><inertial pos="0 .02 -.1" mass=".2" diaginertia=".001 .001 .001"/>
        <body pos="0 0 -.1"><joint name="j" axis="0 1 1" armature=".02"/><site name="s1" pos="0 0 -.2"/>
          <inertial pos="0 0 -.1" mass=".4" diaginertia=".004 .003 .001"/></body></body></body></body>
  <body pos="1 1 1"><freejoint/>
    <inertial pos=".1 -.05 .02" quat=".7 .1 .5 .2" mass="2" diaginertia=".05 .03 .04"/>
    <body pos=".3 0 0"><joint type="slide" axis="0 1 0"/><joint type="slide" axis="1 0 1"/><joint axis="0 0 1"/>
      <inertial pos="0 0 .1" mass=".6" diaginertia=".004 .003 .002"/></body></body>
</worldbody>
<tendon><spatial armature=".05" stiffness="2"><site site="s0"/><site site="s1"/></spatial></tendon>
<actuator><motor joint="j"/></actuator></mujoco>"""

SEVERAL = """<mujoco><worldbody>
  <body pos="0 0 1"><joint axis="1 0 0" pos="0 0 .1"/><joint axis="0 1 0" ref="20"/><joint axis="0 0 1" pos=".1 0 0"/>
    <geom size=".1"/>
    <body pos=".3 0 0" euler="20 30 0"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="1 1 0"/>
      <joint axis="1 2 3" pos="0 .2 0"/><joint axis="0 1 .2"/><geom size=".1" pos=".1 .2 .3"/>
      <body pos="0 .1 0"><joint type="ball" pos=".1 0 .1"/><joint type="slide" axis="0 0 1"/><geom size=".1"/>
        <body><geom size=".05"/><body pos="0 0 .1"><joint axis="0 1 1"/><geom size=".02"/></body></body></body>
    </body></body>
  <body mocap="true" pos="0 1 0"><geom size=".1"/></body>
  <body pos="1 0 0"><joint axis="0 1 0"/><joint axis="0 1 0" pos=".5 0 0"/><geom size=".1" pos=".2 0 0"/></body>
  <body><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="30 0 20"/></body>
</worldbody></mujoco>"""

SPINNING = """<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
  <inertial pos="0 0 0" mass="1" diaginertia=".01 .02 .03"/></body></worldbody></mujoco>"""


def model(xml: str, h: float | None = None) -> mjx.Model:
    m = mjx.Model.from_xml_string(xml)
    return m.replace(opt=m.opt.replace(integrator="variational", timestep=m.opt.timestep if h is None else h))


def state(m: mjx.Model, seed: int, speed: float = 1.0) -> mjx.Data:
    """Return a random state; positions are up to about one radian or metre from qpos0."""
    rng, d = np.random.default_rng(seed), mjx.make_data(m)
    qpos = mjx.integrate_pos(m, d.qpos, jnp.asarray(rng.uniform(-1, 1, m.nv)), 1.0)
    return d.replace(qpos=qpos, qvel=jnp.asarray(speed * rng.normal(size=m.nv)))


def ready(m: mjx.Model, d: mjx.Data) -> mjx.Data:
    return jax.jit(mjx.forward)(m, d)


@functools.partial(jax.jit, static_argnames=("steps", "function", "each"))
def run(m: mjx.Model, d: mjx.Data, steps: int, function=mjx.step, each=None, controls=None):
    """Return the last Data, and `each(m, d)` after every step."""

    def go(d, ctrl):
        d = function(m, d if ctrl is None else d.replace(ctrl=ctrl))
        return d, None if each is None else each(m, d)

    return jax.lax.scan(go, d, controls, steps)


def started(m: mjx.Model, d: mjx.Data) -> mjx.Data:
    """Return the state with its velocity taken as that at the instant, and changed to the mean one before."""
    return d.replace(qvel=mean_velocity(m, mjx.forward(m, d)))
