"""What the variational integrator keeps, and how its mean velocities go with velocities at an instant.

Without forces from outside, the momenta at the end of a step are those at its start, to rounding: the sum of the linear
ones, and the sum of the angular ones about a fixed point. Both are those of the midpoint rule: they contain the mean
velocity over the step, not that at an instant. The energy is kept up to an error of the second order in the step.
"""

import jax
import jax.numpy as jnp

from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.tree.blocks import product, solve
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.variational.displacement import displacement
from mjx_like.variational.midpoint import Problem, body_momenta, joint_momentum
from mjx_like.variational.root import solution
from mjx_like.variational.step import ITERATIONS, bodies, gravity, joint_forces, rotors

Array = jax.Array


def momentum(m: Model, d: Data) -> tuple[Array, Array]:
    """Return linear [N s] and angular momentum [N m s] about the world's origin, shapes (3,), of the step before.

    They are those of all bodies at its end, without the spin of rotors, which armature stands for.
    Reads qvel, cdof, xanchor, xipos, ximat, subtree_com.
    """
    b = bodies(m, d)
    linear, angular = body_momenta(m.topology, b, -b.h * d.qvel)
    return -jnp.sum(linear, axis=0), -jnp.sum(angular + cross(d.xipos, linear), axis=0)


def kinetic_energy(m: Model, d: Data) -> Array:
    """Return the kinetic energy of the mean velocities of the step before, shape () [J], armature included.

    Reads qvel, cdof, xanchor, xipos, ximat, subtree_com, with armature of tendons ten_J.
    """
    b = bodies(m, d)
    moved = displacement(m.topology, b.pose, -b.h * d.qvel)
    twice = jnp.sum(b.mass[:, None] * moved.shift**2) + 4 * jnp.sum(b.inertia * moved.sine**2)
    return 0.5 * (safe.ratio(safe.ratio(twice, b.h), b.h) + jnp.sum(d.qvel * matmul(rotors(m, d), d.qvel)))


def mean_velocity(m: Model, d: Data) -> Array:
    """Return the mean velocity of the step before, shape (nv,), of a state whose qvel is the velocity at its instant.

    With it a run starts with an error of the second order in the step, and with qvel itself with one of the first.
    Reads qvel, M, and what `joint_forces`, `gravity`, `bodies` and `rotors` read.  Source: discrete Legendre transform.
    """
    b = bodies(m, d)
    known = _half_impulse(m, d) - product(m, d.M, d.qvel)
    return -solution(m.topology, ITERATIONS, Problem(b, rotors(m, d), known), -d.qvel)


def velocity_at_instant(m: Model, d: Data) -> Array:
    """Return the velocity at the instant of qpos, shape (nv,), of a state whose qvel is that of the step before.

    Forces are those at qvel. Reads what `mean_velocity` reads.  Source: discrete Legendre transform.
    """
    b = bodies(m, d)
    at_end = matmul(rotors(m, d), d.qvel) - joint_momentum(m.topology, b, -b.h * d.qvel)
    return solve(m, d.M, at_end + _half_impulse(m, d))


def _half_impulse(m: Model, d: Data) -> Array:
    return 0.5 * m.opt_floats.timestep * (joint_forces(m, d) + gravity(m, d))
