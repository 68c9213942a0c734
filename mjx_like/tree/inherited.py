"""Armature and damping of dofs and tendons, with what actuators pass on to them through the gear squared.

Source: mj_actuatorArmature, mj_actuatorDamping, mjd_passive_vel.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


def has_armature(t: Topology, kind: str, target: np.ndarray) -> np.ndarray:
    """Return which dofs or tendons have armature; kind: "dof" or "tendon"; target: (n, nactuator) of the TreePlan."""
    return t.has[f"{kind}_armature"] | (target * t.has["actuator_armature"]).any(axis=1)


def has_damping(t: Topology, kind: str, target: np.ndarray) -> np.ndarray:
    """Return which dofs or tendons have damping, linear or polynomial."""
    inherited = target * (t.has["actuator_damping"] | t.has["actuator_dampingpoly"])
    return t.has[f"{kind}_damping"] | t.has[f"{kind}_dampingpoly"] | inherited.any(axis=1)


def dof_armature(m: Model) -> Array:
    """Return the armature of each dof, shape (nv,) [kg or kg m^2]."""
    return _with_actuators(m, m.dof_armature[:, None], m.actuator_armature[:, None], m.plans.tree.dof_actuator)[:, 0]


def tendon_armature(m: Model) -> Array:
    """Return the armature of each tendon, shape (ntendon,) [kg]."""
    own, given = m.tendon_armature[:, None], m.actuator_armature[:, None]
    return _with_actuators(m, own, given, m.plans.tree.tendon_actuator)[:, 0]


def dof_damping(m: Model) -> Array:
    """Return the coefficients of v, v|v| and v^3 in the damping of each dof, shape (nv, 3)."""
    own = jnp.concatenate([m.dof_damping[:, None], m.dof_dampingpoly], axis=1)
    return _with_actuators(m, own, _actuator_damping(m), m.plans.tree.dof_actuator)


def tendon_damping(m: Model) -> Array:
    """Return the coefficients of v, v|v| and v^3 in the damping of each tendon, shape (ntendon, 3)."""
    own = jnp.concatenate([m.tendon_damping[:, None], m.tendon_dampingpoly], axis=1)
    return _with_actuators(m, own, _actuator_damping(m), m.plans.tree.tendon_actuator)


def dof_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each dof's damping force in its velocity, shape (nv,) [N s/m or N m s/rad].

    Reads qvel.  Source: mjd_passive_vel.
    """
    return _slope(dof_damping(m), d.qvel)


def tendon_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each tendon's damping force in its velocity, shape (ntendon,) [N s/m].

    Reads ten_velocity.  Source: mjd_passive_vel.
    """
    return _slope(tendon_damping(m), d.ten_velocity)


def _slope(coefficients: Array, speed: Array) -> Array:
    """Return the derivative of a v + b v|v| + c v^3; coefficients: a, b, c, shape (n, 3); speed: v, shape (n,)."""
    size = jnp.abs(speed)
    return coefficients[:, 0] + size * (2 * coefficients[:, 1] + 3 * size * coefficients[:, 2])


def _actuator_damping(m: Model) -> Array:
    return jnp.concatenate([m.actuator_damping[:, None], m.actuator_dampingpoly], axis=1)


def _with_actuators(m: Model, own: Array, given: Array, target: np.ndarray) -> Array:
    some = m.has["actuator_armature"] | m.has["actuator_damping"] | m.has["actuator_dampingpoly"]
    if not (target * some).any():
        return own
    gear = take(m.actuator_gear[:, 0], m.actuator_outadr)
    return own + combine(target, given * (gear * gear)[:, None])
