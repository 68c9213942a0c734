"""Models that put every kind of constraint row to work."""

import mujoco
import numpy as np

from tests.support.oracle import STATE

EVERY_ROW = """
<mujoco>
  <option timestep="0.002" cone="{cone}" impratio="2.5"/>
  <worldbody>
    <geom type="plane" size="5 5 .1" condim="1"/>
    <body name="a" pos="0 0 .25">
      <freejoint/>
      <geom size=".1 .2 .3" type="box" condim="{dim}" friction=".7 .02 .003" margin=".02" gap=".03"/>
      <site name="sa" pos=".1 .05 -.03" euler="10 20 30"/>
      <body name="a2" pos=".3 0 0">
        <joint type="ball" range="0 10" limited="true" margin=".01" frictionloss=".3"/>
        <geom size=".1 .05 .03" type="box" pos=".1 0 0" condim="4"/>
      </body>
    </body>
    <body name="b" pos="0.5 0.2 1.3">
      <joint name="j1" axis="0 1 0" range="-10 10" frictionloss=".1"/>
      <joint name="j2" axis="1 0 0" range="-1 1" margin="1.1"/>
      <joint name="j3" axis="0 0 1" pos=".1 .2 .3"/>
      <geom size=".1 .2 .3" type="box" pos=".1 .08 .05"/>
      <site name="sb" pos=".1 .05 .13" euler="40 -20 30"/>
      <body name="c" pos=".3 .1 0"><joint type="ball"/><geom size=".1 .05 .03" type="box" pos=".1 0 0"/></body>
    </body>
    <body pos="2 0 0.095">
      <freejoint/><geom type="sphere" size=".1" condim="6" solref="-1000 -30" solimp=".8 .95 .01 .3 3"/>
    </body>
    <body pos="3 0 0.098"><joint type="slide" axis="0 0 1" name="s"/><geom type="sphere" size=".1" condim="1"/></body>
  </worldbody>
  <contact><pair geom1="g1" geom2="g2" condim="3" solreffriction="-100 -10"/></contact>
  <tendon>
    <fixed name="t" frictionloss=".2" limited="true" range="-.1 .1" margin=".3">
      <joint joint="j1" coef="1"/><joint joint="j2" coef=".4"/>
    </fixed>
    <fixed name="t2"><joint joint="j1" coef="1"/><joint joint="s" coef=".4"/></fixed>
  </tendon>
  <equality>
    <connect body1="a2" body2="c" anchor=".1 .2 .3"/>
    <joint joint1="j1" joint2="j2" polycoef=".1 .2 .3 .4 .5"/>
    <weld body1="a" body2="c" torquescale="1.7" anchor=".3 .2 .1"/>
    <tendon tendon1="t" tendon2="t2" polycoef=".1 .2 .3 .4 .5"/>
    <weld site1="sa" site2="sb" torquescale="0.7"/>
    <joint joint1="s"/>
    <connect site1="sa" site2="sb" active="false"/>
    <weld body1="b" torquescale="0.7" solref="0.001 0.5"/>
    <connect body1="world" body2="b" anchor="0 0 0"/>
  </equality>
</mujoco>
"""
PAIR = """
    <body pos="4 0 .2"><freejoint/><geom name="g1" type="sphere" size=".2" contype="0" conaffinity="0"/></body>
    <body pos="5 0 .12"><joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" gap=".5"/></body>
    <body pos="4 .01 .58"><freejoint/><geom name="g2" type="sphere" size=".2" contype="0" conaffinity="0"/></body>
  </worldbody>"""


def every_row(cone: str, dim: int) -> str:
    """Return a model with every kind of row; `dim` is the condim of its largest box."""
    return EVERY_ROW.format(cone=cone, dim=dim).replace("</worldbody>", PAIR)


# Friction loss, limits and contacts that slide, stick and lift, without equalities that fight them.
SLIDING = """
<mujoco>
  <option timestep="0.005" cone="{cone}" impratio="{impratio}"/>
  <default><geom condim="{dim}" friction=".6 .02 .01"/></default>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .1"><freejoint/><geom size=".1 .1 .1" type="box"/>
      <body pos=".2 0 0">
        <joint axis="0 1 0" limited="true" range="-30 30" frictionloss=".5" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/>
        <body pos=".3 0 0">
          <joint axis="0 0 1" limited="true" range="-30 30" frictionloss=".2" damping=".1"/>
          <geom type="sphere" size=".06"/>
        </body>
      </body>
    </body>
    <body pos="1 0 .1"><freejoint/><geom size=".1" type="sphere"/></body>
    <body pos="1.1 0 .28"><freejoint/><geom size=".1" type="sphere"/></body>
  </worldbody>
</mujoco>
"""


def sliding(cone: str, dim: int, impratio: float = 1.0) -> str:
    """Return a model whose contacts slide, stick and lift."""
    return SLIDING.format(cone=cone, dim=dim, impratio=impratio)


def sliding_states(mj, count):
    """Return states in which the bodies slide, roll and settle."""
    rng, data, out = np.random.default_rng(1), mujoco.MjData(mj), []
    for trial in range(count):
        mujoco.mj_resetData(mj, data)
        data.qvel[:] = rng.normal(size=mj.nv) * np.where(np.arange(mj.nv) % 6 == 2, 0.1, 1)
        for _ in range(1 + 2 * trial):
            mujoco.mj_step(mj, data)
        out.append({name: np.array(getattr(data, name)) for name in STATE})
    return out
