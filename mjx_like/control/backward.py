"""The backward pass: feedback that minimises a quadratic model of cost and dynamics, from the last step back."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.control.box_qp import box_qp
from mjx_like.control.cost import Quadratic
from mjx_like.math.linalg import cho_solve, matmul

Array = jax.Array


class Expansion(NamedTuple):
    """Cost and dynamics of a trajectory to second and first order; nx = 2 nv + na, z = (dx, du)."""

    A: Array  # (steps, nx, nx)
    B: Array  # (steps, nx, nu)
    gap: Array  # (steps, nx) from the next state to where the step leads: zero but where segments meet
    running: Quadratic  # (steps, nx + nu), (steps, nx + nu, nx + nu)
    final: Quadratic  # (nx,), (nx, nx)


class Feedback(NamedTuple):
    """A change of the controls, du = k + K dx, and what the quadratic model expects of it."""

    k: Array  # (steps, nu)
    K: Array  # (steps, nu, nx)
    decrease: Array  # of the cost, by a whole step of k
    slope: Array  # (steps, nx) derivative of the cost to go by the state after each step


def backward(e: Expansion, low: Array, high: Array, regularisation: Array) -> Feedback:
    """Return the feedback that minimises the quadratic model with du within `low` and `high`.

    A share of B'B and of the unit matrix is added to the Hessian of the controls: the first holds the new states near
    the old ones, the second the controls.

    Args:
      e: expansion of one trajectory.
      low, high: bounds of du at each step, shape (steps, nu).
      regularisation: that share, at least 0.
    Source: Tassa, Mansard, Todorov (2014), equations 5, 7, 10, 11; gaps as in Giftthaler et al., A family of iterative
      Gauss-Newton shooting methods for nonlinear optimal control (2018), section III.
    """
    nx = e.A.shape[-1]

    def one(after: tuple[Array, Array], at: tuple[Array, ...]) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
        slope, curvature = after
        A, B, gap, gradient, hessian, low, high = at
        AB = jnp.concatenate([A, B], axis=1)
        q = gradient + matmul(AB.T, slope + matmul(curvature, gap))
        Q = hessian + matmul(AB.T, matmul(curvature, AB))
        Qux, Quu = Q[nx:, :nx], Q[nx:, nx:]
        held = regularisation * AB[:, nx:].T
        damped = Quu + matmul(held, B) + regularisation * jnp.eye(len(Quu), dtype=Q.dtype)
        found = box_qp(damped, q[nx:], low, high)
        k = found.x
        K = -cho_solve(found.factor, jnp.where(found.free[:, None], Qux + matmul(held, A), 0))
        decrease = -(jnp.vdot(k, q[nx:]) + 0.5 * jnp.vdot(k, matmul(Quu, k)))
        here = q[:nx] + matmul(K.T, matmul(Quu, k) + q[nx:]) + matmul(Qux.T, k)
        bent = Q[:nx, :nx] + matmul(K.T, matmul(Quu, K)) + matmul(K.T, Qux) + matmul(Qux.T, K)
        return (here, 0.5 * (bent + bent.T)), (k, K, decrease, slope)

    steps = (e.A, e.B, e.gap, *e.running, low, high)
    _, (k, K, decrease, slope) = lax.scan(one, tuple(e.final), steps, reverse=True)
    return Feedback(k, K, jnp.sum(decrease), slope)


def linear_states(e: Expansion, f: Feedback) -> Array:
    """Return how the feedback moves the state before each step in the linear model, shape (steps, nx)."""

    def one(dx: Array, at: tuple[Array, ...]) -> tuple[Array, Array]:
        A, B, gap, k, K = at
        return matmul(A, dx) + matmul(B, k + matmul(K, dx)) + gap, dx

    return lax.scan(one, jnp.zeros_like(e.final.gradient), (e.A, e.B, e.gap, f.k, f.K))[1]
