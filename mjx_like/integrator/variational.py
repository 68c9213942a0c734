"""The variational integrator: steps of the midpoint rule, that keep momentum at any time step and energy bounded.

The equations are in `variational/`. Its order is two without constraints, whose forces are those at the velocity half a
step early.
"""

import jax

from mjx_like.integrator.advance import advance
from mjx_like.integrator.velocity_derivative import damping_matrix
from mjx_like.math import safe
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.variational.midpoint import Problem
from mjx_like.variational.root import solution
from mjx_like.variational.step import ITERATIONS, joint_forces, step_problem

Array = jax.Array


def variational(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` was called before.

    qvel is the mean velocity over the step, before and after. Constraint forces act as impulses at the start.
    Reads time, qpos, qvel, act, act_dot, qacc, qfrc_constraint and what `smooth_problem` reads.
    Writes time, qpos, qvel, act, qacc_warmstart.
    """
    if not m.nv:
        return advance(m, d, d.act_dot, d.qacc)
    h, p = m.opt_floats.timestep, smooth_problem(m, d)
    p = p._replace(known=p.known + h * d.qfrc_constraint)
    nu = solution(m.topology, ITERATIONS, p, d.qvel)
    return advance(m, d, d.act_dot, safe.ratio(nu - d.qvel, h))


def smooth_problem(m: Model, d: Data) -> Problem:
    """Return the conditions of a step without constraints, all damping at the mean of the two velocities.

    Reads qvel and what `joint_forces`, `step_problem` and `damping_matrix` read.
    """
    return step_problem(m, d, joint_forces(m, d), mean_drag(m, d))


def mean_drag(m: Model, d: Data) -> Array:
    """Return half of minus the derivative of smooth forces in the velocity, shape (nv, nv), but for the bias.

    As `step_problem` takes it, forces act at the mean of the velocities, which keeps the order and is stable.
    """
    return 0.5 * damping_matrix(m, d)
