"""A rod on a hinge that a motor moves, and recordings of it."""

import jax.numpy as jnp
import numpy as np

from mjx_like.compiler.load import from_xml_string
from mjx_like.leaves.change import with_leaves
from mjx_like.rollout.rollout import rollout
from mjx_like.state.initial import make_data
from mjx_like.sysid.recording import Recording

XML = """
<mujoco><option timestep=".01" integrator="implicitfast"><flag contact="disable"/></option>
<worldbody><body name="rod"><joint name="swing" axis="0 1 0" damping=".05"/><site name="tip" pos="0 0 -1"/>
  <inertial mass="1" pos="0 0 -.5" diaginertia=".02 .02 .001"/></body></worldbody>
<actuator><motor name="torque" joint="swing"/></actuator>
<sensor><framepos name="tip" objtype="site" objname="tip"/><jointvel name="rate" joint="swing"/></sensor></mujoco>
"""
NAMES = ("body_mass@rod", "dof_damping@swing")
TRUTH = np.array([1.0, 0.05])
STEPS = 200


def model():
    """Return the true model."""
    return from_xml_string(XML)


def guess(m):
    """Return the model with wrong mass and damping."""
    return with_leaves(m, dict(zip(NAMES, (1.4, 0.1), strict=True)))


def motion(m):
    """Return times [s], angles, rates and sensors of every step and the controls, from an angle of 1 at rest."""
    ctrl = 2 * np.sin(0.03 * np.arange(STEPS))[:, None]
    path = rollout(m, make_data(m).replace(qpos=jnp.array([1.0])), jnp.asarray(ctrl))
    qpos, qvel = np.concatenate([[[1.0]], path.qpos]), np.concatenate([[[0.0]], path.qvel])
    return 0.01 * np.arange(STEPS + 1), qpos, qvel, np.asarray(path.sensordata), ctrl


def noisy(moved, seed, sigma=0.01, every=5):
    """Return a recording of angles alone, with noise, of a start that is known."""
    time, qpos, _, _, ctrl = moved
    measured = qpos + sigma * np.random.default_rng(seed).normal(size=qpos.shape)
    start = {"qpos": [1.0], "qvel": [0.0]}
    return Recording(time[::every], qpos=measured[::every], ctrl=(time[:-1], ctrl), start=start)
