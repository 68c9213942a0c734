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
from mjx_like.variational.displacement import displacement
from mjx_like.variational.midpoint import Problem, turned_far, unsolved
from mjx_like.variational.root import solution
from mjx_like.variational.step import ITERATIONS, bodies, joint_forces, step_problem

Array = jax.Array


def variational(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` was called before.

    qvel is the mean velocity over the step, before and after. Constraint forces act as impulses at the start.
    Reads time, qpos, qvel, act, act_dot, qacc, qfrc_constraint and what `smooth_problem` reads.
    Writes time, qpos, qvel, act, qacc_warmstart, unconverged.
    """
    if not m.nv:
        return advance(m, d, d.act_dot, d.qacc)
    h, p = m.opt_floats.timestep, smooth_problem(m, d)
    p = p._replace(known=p.known + h * d.qfrc_constraint)
    nu = solution(m.topology, ITERATIONS, p, d.qvel)
    return advance(m, _counted(d, unsolved(m.topology, p, nu)), d.act_dot, safe.ratio(nu - d.qvel, h))


def variational_to_end(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; hard contact has found the acceleration of the step.

    Reads time, qpos, qvel, act, act_dot, qacc and what `bodies` reads.
    Writes time, qpos, qvel, act, qacc_warmstart, unconverged.
    """
    if m.nv:
        b = bodies(m, d)
        far = turned_far(displacement(m.topology, b.pose, b.h * (d.qvel + b.h * d.qacc)))
        d = _counted(d, far)
    return advance(m, d, d.act_dot, d.qacc)


def _counted(d: Data, short: Array) -> Data:
    return d.replace(unconverged=d.unconverged + short.astype(d.unconverged.dtype))


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
