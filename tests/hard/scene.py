"""One small scene for all tests of hard contact: free bodies of several shapes, a limited hinge, a held pendulum."""

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx

XML = """<mujoco><option timestep="0.01" integrator="implicitfast"/>
<default><geom friction="0.25 0.01 0.001"/></default>
<worldbody>
  <geom name="floor" type="plane" size="9 9 .1"/>
  <body name="box" pos="0 0 0.1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="ball" pos="0 0 0.3"><freejoint/><geom name="ball" type="sphere" size=".1" mass="2" condim="6"/></body>
  <body name="puck" pos="2 0 0.05"><freejoint/><geom type="cylinder" size=".1 .05" mass="3" condim="1"/></body>
  <body name="arm" pos="0 3 1"><joint name="hinge" axis="0 1 0" range="-30 20" limited="true"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/></body>
  <body name="stiff" pos="0 5 1"><joint name="rubbing" axis="0 1 0" frictionloss="2"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/></body>
  <body name="hung" pos="0 7 1"><freejoint/><geom size=".05" mass="1" contype="0" conaffinity="0"/></body>
</worldbody>
<equality><connect body1="hung" anchor="0 0 0.3"/></equality></mujoco>"""

GAP = 1e-5
step = jax.jit(mjx.step)


def model(gap: float = GAP, xml: str = XML, **options) -> mjx.Model:
    return mjx.with_hard_contact(mjx.Model.from_xml_string(xml), gap, **options)


def run(m: mjx.Model, d: mjx.Data, steps: int) -> mjx.Data:
    for _ in range(steps):
        d = step(m, d)
    return d


def flatness(d: mjx.Data) -> float:
    """Return the largest velocity of box, ball and puck."""
    return float(np.max(np.abs(np.asarray(d.qvel[:18]))))


def state(d: mjx.Data) -> jax.Array:
    return jnp.concatenate([d.qpos, d.qvel])
