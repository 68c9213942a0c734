"""Costs: two functions of Data, their sum along a trajectory and its expansion to second order."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.control.states import States, on_tangent, with_state
from mjx_like.errors import InputError, shown
from mjx_like.math.linalg import matmul
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
CostFunction = Callable[[Model, Data], Array]


class Cost(NamedTuple):
    """What a trajectory costs: the sum of `running` over its steps, each before the step, and `final` at its end.

    Both are functions of `(m, d)` that return a number, or residuals, shape (n,), whose half squared norm is the cost.
    Of `d` state, controls, time and mocap poses are of the same instant, and so is what follows by kinematics: xpos,
    xquat, site_xpos, geom_xpos, subtree_com, cvel. Contacts, sensors and forces are not computed.

    Residuals have a Gauss-Newton Hessian, which is cheap and has no negative curvature; of a number the exact Hessian
    is taken and its negative curvature is left out. Arrays that the functions close over are constants of the compiled
    program: what changes from call to call belongs into fields of `d` (mocap_pos, userdata).
    """

    running: CostFunction
    final: CostFunction


class Quadratic(NamedTuple):
    """A cost to second order in a motion z = (dx, du): value + gradient z + z' hessian z / 2."""

    gradient: Array  # (n,)
    hessian: Array  # (n, n)


def at_knot(m: Model, d: Data) -> Data:
    """Return `d` with what follows from its position and velocity by kinematics; what is not read costs nothing."""
    return com_vel(m, com_pos(m, kinematics(m, d)))


def evaluate(function: CostFunction, m: Model, d: Data) -> Array:
    """Return a cost of one state as a number."""
    value = jnp.asarray(function(m, at_knot(m, d)), d.qpos.dtype)
    return 0.5 * jnp.sum(value**2) if jnp.ndim(value) else value


def trajectory_cost(cost: Cost, m: Model, d: Data, at: States, end: States, ctrl: Array) -> Array:
    """Return what a trajectory costs, a number.

    at: states before each step, shape (steps, ...); end: that after the last; ctrl: shape (steps, nu); d: one world,
    for all else that the cost reads.
    """
    running = jax.vmap(lambda s, u: evaluate(cost.running, m, with_state(d, s, u)))(at, ctrl)
    return jnp.sum(running) + evaluate(cost.final, m, with_state(d, end))


def quadratic(function: CostFunction, m: Model, d: Data, inputs: int) -> Quadratic:
    """Return a cost at one state to second order, in the tangent space of the state and `inputs` controls."""

    def moved(z: Array) -> Array:
        return jnp.asarray(function(m, at_knot(m, on_tangent(m, d, z))), d.qpos.dtype)

    z = jnp.zeros(2 * m.nv + m.na + inputs, d.qpos.dtype)
    if jax.eval_shape(moved, z).ndim:
        value, slopes = moved(z), jax.jacfwd(moved)(z)
        return Quadratic(matmul(value, slopes), matmul(slopes.T, slopes))
    return Quadratic(jax.jacfwd(moved)(z), _without_negative(jax.jacfwd(jax.jacfwd(moved))(z)))


def _without_negative(hessian: Array) -> Array:
    """Return a symmetric matrix with its negative eigenvalues set to zero."""
    values, vectors = jnp.linalg.eigh(0.5 * (hessian + hessian.T))
    return matmul(vectors * jnp.maximum(values, 0), vectors.T)


def check_cost(m: Model, d: Data, cost: Any) -> Cost:
    """Return the cost given.  d: one world.

    Raises:
      InputError: it is not two functions of `(m, d)` that return a number or one axis of residuals.
    """
    if not (isinstance(cost, tuple) and len(cost) == 2 and all(map(callable, cost))):
        raise InputError(f"cost={shown(cost)}: must be Cost(running, final), two functions of (m, d)")
    for name, function in zip(Cost._fields, cost, strict=True):
        shape = getattr(jax.eval_shape(lambda m, d, f=function: f(m, at_knot(m, d)), m, d), "shape", None)
        if shape is None or len(shape) > 1:
            raise InputError(
                f"cost.{name} returns {'no array' if shape is None else f'shape {shape}'}; it must be a number, or "
                "residuals of shape (n,)"
            )
    return Cost(*cost)
