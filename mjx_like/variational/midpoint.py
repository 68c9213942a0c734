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
from mjx_like.math.quaternion import cross, skew
from mjx_like.math.select import combine, take
from mjx_like.types.topology import Topology
from mjx_like.variational.displacement import Displacement, Pose, displacement, displacement_and_axes

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
    return _momenta(b, displacement(t, b.pose, change))


def _momenta(b: Inertia, moved: Displacement) -> tuple[Array, Array]:
    linear = safe.ratio(b.mass, b.h)[:, None] * moved.shift
    spin = b.inertia * moved.sine
    angular = safe.ratio(2.0, b.h) * (moved.cosine[:, None] * spin + cross(moved.sine, spin))
    return linear, jnp.sum(b.pose.frame * angular[:, None, :], axis=2)


def joint_momentum(t: Topology, b: Inertia, change: Array) -> Array:
    """Return the momenta of the bodies on joint coordinates, shape (nv,): G(x) with x the change, as `body_momenta`."""
    return _of_joints(t, b, *body_momenta(t, b, change))


def _of_joints(t: Topology, b: Inertia, linear: Array, angular: Array) -> Array:
    spatial = jnp.concatenate([angular + cross(b.pose.centre, linear), linear], axis=1)
    return jnp.sum(b.pose.cdof * combine(t.plans.tree.body_dof.T, spatial), axis=1)


def residual(t: Topology, p: Problem, nu: Array) -> Array:
    """Return the impulse that is left at a velocity nu, shape (nv,) [N s or N m s]; zero at the solution."""
    return joint_momentum(t, p.bodies, p.bodies.h * nu) + matmul(p.metric, nu) - p.known


def unsolved(t: Topology, p: Problem, nu: Array) -> Array:
    """Return whether a velocity is no solution, shape (): more than rounding is left, or a body turned too far."""
    moved = displacement(t, p.bodies.pose, p.bodies.h * nu)
    own = _of_joints(t, p.bodies, *_momenta(p.bodies, moved)) + matmul(p.metric, nu)
    allowed = float(jnp.finfo(nu.dtype).eps) ** 0.5 * (jnp.max(jnp.abs(own)) + jnp.max(jnp.abs(p.known)))
    return turned_far(moved) | ~(jnp.max(jnp.abs(own - p.known)) <= allowed)


def turned_far(moved: Displacement) -> Array:
    """Return whether a body turned by a quarter turn, shape (); about there its angular momentum grows no further."""
    return ~jnp.all(moved.cosine**2 > 0.5)


def linearised(t: Topology, p: Problem, nu: Array) -> tuple[Array, Array]:
    """Return the derivative of the residual in nu, shape (nv, nv), not symmetric, and the residual, shape (nv,).

    The derivative is the inertia matrix but for terms of the order of the time step, and is found like it: from the
    composite `finite_inertia` of what each dof moves, between the axes at the pose and those at its end.
    """
    b = p.bodies
    moved, axes = displacement_and_axes(t, b.pose, b.h * nu)
    rest = _of_joints(t, b, *_momenta(b, moved)) + matmul(p.metric, nu) - p.known
    composite = take(combine(t.plans.smooth.inertia_mask, finite_inertia(b, moved)), t.dof_bodyid)
    below = matmul(b.pose.cdof, jnp.einsum("dij,dj->di", composite, axes, precision="highest").T)
    above = matmul(jnp.einsum("dij,di->dj", composite, b.pose.cdof, precision="highest"), axes.T)
    ancestor = t.plans.tree.dof_ancestor > 0
    slope = jnp.where(ancestor.T, below, jnp.where(ancestor, above, 0))
    return slope + p.metric, rest


def finite_inertia(b: Inertia, moved: Displacement) -> Array:
    """Return what takes velocities of the displaced bodies to rates of their momenta, shape (nbody, 6, 6).

    Rotation first, about the centre of mass of the tree; times the time step. Where nothing moved it is the inertia.
    """
    c, e, spin = moved.cosine[:, None, None], moved.sine, b.inertia * moved.sine
    half = 0.5 * (c * jnp.eye(3, dtype=e.dtype) - skew(e))  # derivative of `sine` in a rotation
    turning = c * b.inertia[:, None, :] * jnp.eye(3, dtype=e.dtype) + skew(e) * b.inertia[:, None, :] - skew(spin)
    turning = 2 * matmul(turning, half) - spin[:, :, None] * e[:, None, :]
    turning = matmul(b.pose.frame, matmul(turning, jnp.swapaxes(b.pose.frame, 1, 2)))
    centre, place = skew(b.pose.centre), skew(b.pose.centre + moved.shift)
    mass = b.mass[:, None, None]
    upper = jnp.concatenate([turning - mass * matmul(centre, place), mass * centre], axis=2)
    lower = jnp.concatenate([-mass * place, mass * jnp.eye(3, dtype=e.dtype)], axis=2)
    return jnp.concatenate([upper, lower], axis=1)
