"""Small models, costs and starts for tests of controllers; their programs compile in seconds."""

import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from mjx_like.control import Cost

MASS = """
<mujoco>
  <option timestep="0.05" gravity="0 0 0" integrator="Euler"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="x"/></actuator>
</mujoco>
"""
PENDULUM = """
<mujoco>
  <option timestep="0.03" integrator="implicitfast"/>
  <worldbody>
    <body>
      <joint name="pivot" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 0 0 .5" size=".03" mass="1"/>
      <site name="tip" pos="0 0 .5"/>
    </body>
  </worldbody>
  <actuator><motor joint="pivot" gear="1.5" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
STEPS = 40
WEIGHTS = np.array([2.0, 0.5])
FINAL = np.array([20.0, 4.0])

mass = mjx.Model.from_xml_string(MASS)
mass_start = mjx.make_data(mass).replace(qpos=jnp.array([1.0]), qvel=jnp.array([0.5]))
mass_cost = Cost(
    lambda m, d: jnp.concatenate([np.sqrt(WEIGHTS) * jnp.concatenate([d.qpos, d.qvel]), 0.5 * d.ctrl]),
    lambda m, d: np.sqrt(FINAL) * jnp.concatenate([d.qpos, d.qvel]),
)
mass_guess = jnp.zeros((STEPS, 1))

pendulum = mjx.Model.from_xml_string(PENDULUM)
pendulum_start = mjx.make_data(pendulum).replace(qpos=jnp.array([np.pi]))
pendulum_cost = Cost(
    lambda m, d: jnp.concatenate([0.2 * (d.site_xpos[0] - jnp.array([0, 0, 0.5])), 0.02 * d.qvel, 0.05 * d.ctrl]),
    lambda m, d: 5 * jnp.concatenate([d.site_xpos[0] - jnp.array([0, 0, 0.5]), 0.1 * d.qvel]),
)
pendulum_guess = 0.1 * jnp.sin(0.2 * jnp.arange(100.0))[:, None]


def mass_matrices():
    """Return A and B of a step of the mass: semi-implicit Euler, x' = x + h v', v' = v + h u / 2."""
    h = 0.05
    return np.array([[1, h], [0, 1]]), np.array([[h * h / 2], [h / 2]])


def mass_total(ctrl):
    """Return what controls of shape (steps,) cost the mass, in NumPy."""
    (A, B), x, total = mass_matrices(), np.array([1.0, 0.5]), 0.0
    for u in ctrl:
        total += 0.5 * (WEIGHTS @ x**2 + 0.25 * u * u)
        x = A @ x + B[:, 0] * u
    return total + 0.5 * FINAL @ x**2
