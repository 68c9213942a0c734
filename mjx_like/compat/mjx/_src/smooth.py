"""Stages within forward dynamics."""

from typing import Any

import jax

from mjx_like.actuator.transmission import transmission as _transmission
from mjx_like.collision.driver import collision as _collision
from mjx_like.compat.mjx._src.types import adapted
from mjx_like.constraint.stage import make_constraint as _make_constraint
from mjx_like.integrator.velocity_derivative import damping_matrix as _damping_matrix
from mjx_like.passive.stage import passive as _passive
from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint as _rne_postconstraint
from mjx_like.sensor.stage import sensor_acc as _sensor_acc
from mjx_like.sensor.stage import sensor_pos as _sensor_pos
from mjx_like.sensor.stage import sensor_vel as _sensor_vel
from mjx_like.smooth.camlight import camlight as _camlight
from mjx_like.smooth.com import com_pos as _com_pos
from mjx_like.smooth.com_vel import com_vel as _com_vel
from mjx_like.smooth.crb import crb as _crb
from mjx_like.smooth.crb import factor_m as _factor_m
from mjx_like.smooth.crb import solve_m as _solve_m
from mjx_like.smooth.kinematics import kinematics as _kinematics
from mjx_like.smooth.rne import rne as _rne
from mjx_like.smooth.subtree_vel import subtree_vel as _subtree_vel
from mjx_like.solver.stage import solve as _solve
from mjx_like.tendon.stage import tendon as _tendon
from mjx_like.tendon.stage import tendon_bias as _tendon_bias

kinematics = adapted(_kinematics)
com_pos = adapted(_com_pos)
camlight = adapted(_camlight)
crb = adapted(_crb)
factor_m = adapted(_factor_m)
solve_m = adapted(_solve_m)
com_vel = adapted(_com_vel)
subtree_vel = adapted(_subtree_vel)
rne = adapted(_rne)
rne_postconstraint = adapted(_rne_postconstraint)
tendon = adapted(_tendon)
tendon_bias = adapted(_tendon_bias)
transmission = adapted(_transmission)
passive = adapted(_passive)
collision = adapted(_collision)
make_constraint = adapted(_make_constraint)
solve = adapted(_solve)
sensor_pos = adapted(_sensor_pos)
sensor_vel = adapted(_sensor_vel)
sensor_acc = adapted(_sensor_acc)


def tendon_armature(m: Any, d: Any) -> Any:
    """Return `d` as it is: `crb` has added the armature of tendons to the inertia matrix."""
    return d


@adapted
def deriv_smooth_vel(m: Any, d: Any) -> jax.Array:
    """Return the derivative of passive and actuator forces in qvel, shape (nv, nv)."""
    return -_damping_matrix(m, d)
