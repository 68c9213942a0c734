"""The conditions of a step: the discrete Euler-Lagrange equations of the midpoint rule, on joint coordinates.

With x = h nu, and the same at x = -h qvel for the interval before,
    G(x) = Jp' m v + Jr' (sqrt(1 - h^2 |w|^2 / 4) I w + (h/2) w x I w),    r(nu) = G(h nu) + G(-h qvel) + ... = 0,
where v and w are the mean velocities of a body between the poses q and q (+) x: its shift over h, and in its inertial
frame 2/h times the vector part of the quaternion that leads from one to the other.
Source: Dojo paper, equations 16 to 18; Jacobians in place of the multipliers of joints.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine
from mjx_like.types.topology import Topology
from mjx_like.variational.displacement import Pose, displacement

Array = jax.Array


class Inertia(NamedTuple):
    """The bodies at a pose, and the length of a step."""

    h: Array  # () [s]
    pose: Pose
    mass: Array  # (nbody,) [kg]
    inertia: Array  # (nbody, 3) principal ones [kg m^2]


class Problem(NamedTuple):
    """G(h nu) + metric nu = known, to be solved for the mean velocity nu over the step."""

    bodies: Inertia
    metric: Array  # (nv, nv) what resists changes of velocity beside the bodies
    known: Array  # (nv,) [N s or N m s]


def body_momenta(t: Topology, b: Inertia, change: Array) -> tuple[Array, Array]:
    """Return linear, (nbody, 3) [N s], and angular momenta, (nbody, 3) [N m s], in the world's axes.

    change: of the joint coordinates, shape (nv,), over one time step from the pose; momenta are those at the pose,
    angular ones about the centre of mass of each body. A change over the step before has the minus sign, as have then
    the momenta.
    """
    moved = displacement(t, b.pose, change)
    linear = safe.ratio(b.mass, b.h)[:, None] * moved.shift
    spin = b.inertia * moved.sine
    angular = safe.ratio(2.0, b.h) * (moved.cosine[:, None] * spin + cross(moved.sine, spin))
    return linear, jnp.sum(b.pose.frame * angular[:, None, :], axis=2)


def joint_momentum(t: Topology, b: Inertia, change: Array) -> Array:
    """Return the momenta of the bodies on joint coordinates, shape (nv,): G(x) with x the change, as `body_momenta`."""
    linear, angular = body_momenta(t, b, change)
    spatial = jnp.concatenate([angular + cross(b.pose.centre, linear), linear], axis=1)
    return jnp.sum(b.pose.cdof * combine(t.plans.tree.body_dof.T, spatial), axis=1)


def residual(t: Topology, p: Problem, nu: Array) -> Array:
    """Return the impulse that is left at a velocity nu, shape (nv,) [N s or N m s]; zero at the solution."""
    return joint_momentum(t, p.bodies, p.bodies.h * nu) + matmul(p.metric, nu) - p.known


def linearised(t: Topology, p: Problem, nu: Array) -> tuple[Array, Array]:
    """Return the derivative of the residual in nu, shape (nv, nv), not symmetric, and the residual, shape (nv,).

    The derivative is the inertia matrix but for terms of the order of the time step.
    """

    def twice(nu):
        value = residual(t, p, nu)
        return value, value

    return jax.jacfwd(twice, has_aux=True)(nu)
