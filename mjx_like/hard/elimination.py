"""Linear systems of the conditions: slacks and impulses eliminated pair by pair and cone by cone.

What remains is one system in the velocity, H dnu = rhs, with H = A + J' K: K has the stiffness of each row.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.problem import Cones, Point, Problem, contact_bound, times, transposed_times
from mjx_like.math import safe
from mjx_like.math.linalg import matmul

Array = jax.Array


class Linear(NamedTuple):
    """The linearised condition of cones: dc = W du + w dbound + g, deta = x du + y dbound + e.

    Shapes (ncone, ndim, ndim), (ncone, ndim) and (ncone,); g and e follow from the residuals.
    """

    W: Array
    w: Array
    x: Array
    y: Array


def of_product(bound: Array, c: Array, slide: Array, eta: Array) -> Linear:
    """Return the linear condition of the Jordan product itself: exact, and what derivatives need."""
    size = bound - safe.ratio(jnp.sum(c * slide, axis=-1), eta)
    x = safe.ratio(safe.ratio(bound[:, None] * slide, eta[:, None]) - c, size[:, None])
    y = safe.ratio(safe.ratio(jnp.sum(slide * slide, axis=-1), eta) - eta, size)
    eye = jnp.eye(c.shape[-1], dtype=c.dtype)
    W = -safe.ratio(bound[:, None, None] * eye + c[:, :, None] * x[:, None, :], eta[:, None, None])
    return Linear(W, -safe.ratio(slide + c * y[:, None], eta[:, None]), x, y)


def remainder_of_product(bound: Array, c: Array, slide: Array, eta: Array, residual: Array) -> tuple[Array, Array]:
    """Return g and e of `of_product`; residual: shape (ncone, 1 + ndim)."""
    size = bound - safe.ratio(jnp.sum(c * slide, axis=-1), eta)
    first, rest = residual[:, 0], residual[:, 1:]
    e = safe.ratio(safe.ratio(jnp.sum(slide * rest, axis=-1), eta) - first, size)
    return -safe.ratio(rest + c * e[:, None], eta[:, None]), e


class Free(NamedTuple):
    """What impulses, eta and slacks would do at a velocity that is held, but for the answer of c to gamma."""

    s: Array
    gamma: Array
    c: Array
    eta: Array
    loss_c: Array
    loss_eta: Array


def free_pairs(z: Point, s: Array, pair: Array) -> Array:
    """Return the change of the pairs' impulses at a velocity that is held; s, pair: residuals, shape (npair,)."""
    return -safe.ratio(pair + z.gamma * s, z.s)


class System:
    """The linear system at a point, with the linearised conditions of its cones."""

    def __init__(self, p: Problem, z: Point, contact: Linear, loss: Linear):
        self._p, self._contact, self._loss = p, contact, loss
        self._stiff = p.used * p.h * safe.ratio(z.gamma, z.s)

    def matrix(self) -> Array:
        """Return H, shape (nv, nv)."""
        p, nv = self._p, self._p.b.shape[0]
        normal = self._stiff[:, None] * p.J
        own = normal[normal.shape[0] - p.contact.k.shape[0] :]
        W, J = self._contact.W, p.contact.J
        answer = sum(W[..., i, None] * J[:, None, i] for i in range(J.shape[1]))  # fuses, as sums over axes do not
        tangent = p.contact.used[:, None, None] * (self._contact.w[..., None] * own[:, None] - answer)
        held = -(p.loss.used * self._loss.W[:, 0, 0])[:, None] * p.loss.J[:, 0]
        rows = jnp.concatenate([p.J, p.contact.J.reshape(-1, nv), p.loss.J[:, 0]])
        return p.A + matmul(rows.T, jnp.concatenate([normal, tangent.reshape(-1, nv), held]))

    def side(self, motion: Array, f: Free) -> Array:
        """Return the right-hand side, shape (nv,); motion: the residual."""
        p = self._p
        c = f.c + self._contact.w * contact_bound(p, p.used * f.gamma)[:, None]
        return (
            -motion
            + transposed_times(p.J, p.used * f.gamma)
            + transposed_times(p.contact.J, p.contact.used[:, None] * c)
            + transposed_times(p.loss.J, p.loss.used[:, None] * f.loss_c)
        )

    def step(self, f: Free, nu: Array) -> Point:
        """Return the whole step that goes with the step `nu` of the velocity."""
        p, rate = self._p, times(self._p.J, nu)
        gamma = p.used * f.gamma - self._stiff * rate
        c, eta = _answer(p.contact, self._contact, times(p.contact.J, nu), contact_bound(p, gamma), f.c, f.eta)
        none = jnp.zeros_like(p.bound)
        loss_c, loss_eta = _answer(p.loss, self._loss, times(p.loss.J, nu), none, f.loss_c, f.loss_eta)
        return Point(nu, p.used * (p.h * rate + f.s), gamma, c, eta, loss_c, loss_eta)


def _answer(cones: Cones, linear: Linear, slide: Array, bound: Array, c: Array, eta: Array) -> tuple[Array, Array]:
    c = c + jnp.sum(linear.W * slide[:, None, :], axis=-1) + linear.w * bound[:, None]
    eta = eta + jnp.sum(linear.x * slide, axis=-1) + linear.y * bound
    return cones.used[:, None] * c, cones.used * eta
