"""Linear systems of the conditions: slacks and impulses eliminated pair by pair and cone by cone.

What remains is one system in the velocity, H dnu = rhs, with H = A + J' K: K has the stiffness of each row.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.hard.components import Parts, added, dot, scaled
from mjx_like.hard.problem import Cones, Point, Problem, Rates, contact_bound, joined, transposed_times
from mjx_like.math import safe
from mjx_like.math.linalg import gram
from mjx_like.math.lots import SMALL
from mjx_like.math.platform import on_cpu

Array = jax.Array


class Linear(NamedTuple):
    """The linearised condition of cones: dc = W du + w dbound + g, deta = x du + y dbound + e.

    Vectors and the rows of W are tuples of their components; g and e follow from the residuals.
    """

    W: tuple[Parts, ...]
    w: Parts
    x: Parts
    y: Array


def of_product(bound: Array, c: Parts, slide: Parts, eta: Array) -> Linear:
    """Return the linear condition of the Jordan product itself: exact, and what derivatives need."""
    size = bound - safe.ratio(dot(c, slide), eta)
    x = tuple(safe.ratio(safe.ratio(bound * u, eta) - v, size) for u, v in zip(slide, c, strict=True))
    y = safe.ratio(safe.ratio(dot(slide, slide), eta) - eta, size)
    W = tuple(tuple(-safe.ratio(bound * (i == j) + v * r, eta) for j, r in enumerate(x)) for i, v in enumerate(c))
    return Linear(W, tuple(-safe.ratio(u + v * y, eta) for u, v in zip(slide, c, strict=True)), x, y)


def remainder_of_product(bound: Array, c: Parts, slide: Parts, eta: Array, residual: Parts) -> tuple[Parts, Array]:
    """Return g and e of `of_product`; residual: of the product."""
    size = bound - safe.ratio(dot(c, slide), eta)
    first, *rest = residual
    e = safe.ratio(safe.ratio(dot(slide, rest), eta) - first, size)
    return tuple(-safe.ratio(r + v * e, eta) for r, v in zip(rest, c, strict=True)), e


def answer(linear: Linear, slide: Parts, bound: Any) -> tuple[Parts, Any]:
    """Return how c and eta answer changes of the sliding velocity and of the bound."""
    turned = tuple(dot(row, slide) for row in linear.W)
    return added(turned, scaled(bound, linear.w)), dot(linear.x, slide) + linear.y * bound


class Free(NamedTuple):
    """What impulses, eta and slacks would do at a velocity that is held, but for the answer of c to gamma."""

    s: Array
    gamma: Array
    c: Parts
    eta: Array
    loss_c: Parts
    loss_eta: Array


def free_pairs(z: Point, s: Array, pair: Array) -> Array:
    """Return the change of the pairs' impulses at a velocity that is held; s, pair: residuals, shape (npair,)."""
    return -safe.ratio(pair + z.gamma * s, z.s)


def _gram(a: list[Array], b: list[Array]) -> Array:
    """Return a' b of rows in blocks, shapes (k, nv), in full precision.

    On a CPU rows of large systems stand side by side in the product: its library is a third faster so.
    """
    if not on_cpu() or a[0].shape[1] <= SMALL:
        return gram(jnp.concatenate(a), jnp.concatenate(b))
    left, right = (jnp.concatenate([x.T for x in blocks], axis=1) for blocks in (a, b))
    return jnp.einsum("ik,jk->ij", left, right, precision="highest")


class System:
    """The linear system at a point, with the linearised conditions of its cones."""

    def __init__(self, p: Problem, z: Point, contact: Linear, loss: Linear):
        self._p, self._contact, self._loss = p, contact, loss
        self._stiff = p.used * p.h * safe.ratio(z.gamma, z.s)

    def matrix(self) -> Array:
        """Return H, shape (nv, nv)."""
        p, nv = self._p, self._p.b.shape[0]
        normal = self._stiff[p.J.nlimit :, None] * p.J.rest
        own = normal[normal.shape[0] - p.contact.k.shape[0] :]
        J = p.contact.J
        tangent = [
            p.contact.used[:, None] * (w[:, None] * own - sum(W[:, None] * J[:, j] for j, W in enumerate(row)))
            for w, row in zip(self._contact.w, self._contact.W, strict=True)
        ]
        held = -(p.loss.used * self._loss.W[0][0])[:, None] * p.loss.J[:, 0]
        rows = [p.J.rest, *(J[:, j] for j in range(J.shape[1])), p.loss.J[:, 0]]
        matrix = p.A + _gram(rows, [normal, *tangent, held])
        return matrix + np.eye(nv, dtype=matrix.dtype) * p.J.on_dofs(self._stiff, 1) if p.J.limited else matrix

    def side(self, motion: Array, f: Free) -> Array:
        """Return the right-hand side, shape (nv,); motion: the residual."""
        p = self._p
        c = added(f.c, scaled(contact_bound(p, p.used * f.gamma), self._contact.w))
        return (
            -motion
            + p.J.transposed_times(p.used * f.gamma)
            + transposed_times(p.contact.J, joined(p.contact, c))
            + transposed_times(p.loss.J, joined(p.loss, f.loss_c))
        )

    def step(self, f: Free, nu: Array, change: Rates) -> Point:
        """Return the whole step that goes with the step `nu` of the velocity; change: its `rates`."""
        return self.step_with(self.impulses(f, change), f, nu, change)

    def impulses(self, f: Free, change: Rates) -> Array:
        """Return how the impulses of the pairs change, shape (npair,)."""
        return self._p.used * f.gamma - self._stiff * change.pair

    def step_with(self, gamma: Array, f: Free, nu: Array, change: Rates) -> Point:
        """Return the whole step with these `impulses`."""
        p = self._p
        c, eta = _answered(p.contact, self._contact, change.contact, contact_bound(p, gamma), f.c, f.eta)
        loss_c, loss_eta = _answered(p.loss, self._loss, change.loss, jnp.zeros_like(p.bound), f.loss_c, f.loss_eta)
        return Point(nu, p.used * (p.h * change.pair + f.s), gamma, c, eta, loss_c, loss_eta)


def _answered(cones: Cones, linear: Linear, slide: Parts, bound: Array, c: Parts, eta: Array) -> tuple[Array, Array]:
    turned, grown = answer(linear, slide, bound)
    return joined(cones, added(c, turned)), cones.used * (eta + grown)
