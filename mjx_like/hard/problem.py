"""The problem of one step with hard contact: the velocity at its end, and the impulses on the central path.

    A (nu - qvel) = h force + equalities(nu) + J' impulse
    one-sided pair:  s = distance + h J nu > 0,  gamma > 0,  s gamma = k
    cone:  (bound, c) and (eta, J nu) in the second-order cone,  their Jordan product = k (1, 0)

The bound of a contact's cone is the impulse of its pair; that of friction loss is given. The rows of a cone are scaled
by their friction coefficients, so that one cone |c| <= bound serves all, with c the impulse over the coefficient.
Equalities are MuJoCo's soft rows.
Source: Dojo paper, sections on contact and friction; HARD_CONTACT of the design: k in lengths and velocities.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.components import Parts, added, dot, parts
from mjx_like.hard.pair_rows import PairRows
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.types.pytree import Record, leaf, part, record

Array = jax.Array


@record
class Cones(Record):
    """Friction: rows scaled by their coefficients, and the target of their product; 0 where a cone is not in use."""

    J: Array = leaf("ncone", "ndim", "nv", unit="of the sliding velocity, times the coefficient, over qvel")
    k: Array = leaf("ncone", unit="J, target of the product of impulse and velocity")
    used: Array = leaf("ncone", unit="1 or 0")
    mass: Array | None = leaf("ncone", unit="kg or kg m^2 that the rows feel, about; not 0; None as in Problem")
    surface: Array | None = leaf(
        "ncone", "ndim", unit="of moving surfaces, as J times a velocity; None where none moves"
    )


@record
class Problem(Record):
    """What the velocity depends on."""

    A: Array = leaf("nv", "nv", unit="metric of the step; need not be symmetric")
    b: Array = leaf("nv", unit="A qvel + h force, N s or N m s")
    h: Array = leaf(unit="s")
    J: PairRows = part()
    distance: Array = leaf("npair", unit="m or rad, at nu = 0")
    k: Array = leaf("npair", unit="N s m, target of s gamma")
    used: Array = leaf("npair", unit="1 or 0")
    fall: Array = leaf("npair", unit="m/s or rad/s, change of velocity that gravity makes in a step")
    gap: Array = leaf("npair", unit="m or rad, distance at rest")
    mass: Array | None = leaf("npair", unit="kg or kg m^2 that the row feels, about; not 0; None before `with_masses`")
    contact: Cones = leaf()  # one for each of the last pairs
    loss: Cones = leaf()  # friction of dofs and tendons
    bound: Array = leaf("nloss", unit="N s, most impulse of friction loss")


@record
class Point(Record):
    """A point of the search, or on the central path."""

    nu: Array = leaf("nv")
    s: Array = leaf("npair")
    gamma: Array = leaf("npair")
    c: Array = leaf("ncone", "ndim")
    eta: Array = leaf("ncone")
    loss_c: Array = leaf("nloss", 1)
    loss_eta: Array = leaf("nloss")


@record
class Residuals(Record):
    """How far a point is from the conditions; shapes as in Point.  All vanish at the solution."""

    motion: Array
    s: Array
    pair: Array
    cone: Array  # (ncone, 1 + ndim), Jordan product less its target
    loss: Array


def times(J: Array, x: Array) -> Array:
    """Return J x for rows of any leading shape."""
    return matmul(J, x)


def transposed_times(J: Array, f: Array) -> Array:
    """Return J' f, shape (nv,), for rows of any leading shape."""
    return matmul(f.reshape(-1), J.reshape(-1, J.shape[-1]))


class Rates(NamedTuple):
    """What a velocity makes: rates of distances, sliding velocities by component, and A nu."""

    pair: Array  # (npair,)
    contact: Parts  # (ncone,) each
    loss: Parts  # (nloss,)
    momentum: Array  # (nv,), N s or N m s


def rates(p: Problem, nu: Array) -> Rates:
    """Return what a velocity makes, shape (nv,)."""
    at = changes(p, nu)
    return at if p.contact.surface is None else at._replace(contact=added(at.contact, parts(p.contact.surface)))


def rates_at_rest(p: Problem) -> Rates:
    """Return what a velocity of zero makes."""
    slide, zero = p.contact.surface, jnp.zeros_like(p.contact.k)
    contact = (zero,) * p.contact.J.shape[1] if slide is None else parts(slide)
    loss = (jnp.zeros_like(p.bound),) * p.loss.J.shape[1]
    return Rates(jnp.zeros_like(p.k), contact, loss, jnp.zeros_like(p.b))


def changes(p: Problem, nu: Array) -> Rates:
    """Return what a change of the velocity makes, shape (nv,)."""
    return Rates(p.J.times(nu), parts(times(p.contact.J, nu)), parts(times(p.loss.J, nu)), matmul(p.A, nu))


def without_friction(p: Problem, where: Array) -> Problem:
    """Return the problem without the friction of contacts where a flag, shape (), is set."""
    kept = 1 - jax.lax.stop_gradient(where).astype(p.contact.used.dtype)
    return p.replace(contact=p.contact.replace(used=kept * p.contact.used))


def with_masses(p: Problem) -> Problem:
    """Return the problem with the masses that its rows feel, by the diagonal of A: those of cones are means."""
    inverse = 1 / jnp.diagonal(p.A)

    def felt(inverse: Array) -> Array:
        return 1 / jnp.where(inverse > 0, inverse, 1)

    def massive(cones: Cones) -> Cones:
        by_row = times(cones.J * cones.J, inverse)
        return cones.replace(mass=felt(jnp.sum(by_row, axis=1) / max(by_row.shape[1], 1)))

    return p.replace(mass=felt(p.J.squares_times(inverse)), contact=massive(p.contact), loss=massive(p.loss))


def joined(cones: Cones, x: Parts) -> Array:
    """Return vectors of cones in one array, (ncone, ndim), zero where a cone is not in use."""
    return cones.used[:, None] * (jnp.stack(x, axis=-1) if x else jnp.zeros(cones.J.shape[:2], cones.J.dtype))


def contact_bound(p: Problem, gamma: Array) -> Array:
    """Return the impulses of the pairs that bound the contacts' cones."""
    return gamma[gamma.shape[0] - p.contact.k.shape[0] :]


def impulse(p: Problem, z: Point) -> Array:
    """Return J' impulse of pairs and cones, shape (nv,) [N s or N m s]."""
    return (
        p.J.transposed_times(z.gamma * p.used)
        + transposed_times(p.contact.J, z.c * p.contact.used[:, None])
        + transposed_times(p.loss.J, z.loss_c * p.loss.used[:, None])
    )


def residuals(p: Problem, z: Point, at: Rates | None = None) -> Residuals:
    """Return the residuals of a point; at: its `rates`, where they are known."""
    at, used = rates(p, z.nu) if at is None else at, p.used
    return Residuals(
        motion=at.momentum - p.b - impulse(p, z),
        s=used * (p.distance + p.h * at.pair - z.s),
        pair=used * (z.s * z.gamma - p.k),
        cone=_product(p.contact, contact_bound(p, z.gamma), z.c, z.eta, at.contact),
        loss=_product(p.loss, p.bound, z.loss_c, z.loss_eta, at.loss),
    )


def _product(cones: Cones, bound: Array, c: Array, eta: Array, slide: Parts) -> Array:
    first = bound * eta + dot(parts(c), slide) - cones.k
    rest = (bound * u + eta * v for u, v in zip(slide, parts(c), strict=True))
    return cones.used[:, None] * jnp.stack([first, *rest], axis=1)


def products(p: Problem, z: Point, at: Rates) -> tuple[Array, Array, Array]:
    """Return the products of pairs, contacts' cones and friction losses, over their targets; at: rates of the point."""

    def of(cones: Cones, bound: Array, c: Array, eta: Array, slide: Parts) -> Array:
        return safe.ratio(bound * eta + dot(parts(c), slide), cones.k)

    return (
        safe.ratio(z.s * z.gamma, p.k),
        of(p.contact, contact_bound(p, z.gamma), z.c, z.eta, at.contact),
        of(p.loss, p.bound, z.loss_c, z.loss_eta, at.loss),
    )


def friction(bound: Array, slide: Parts, k: Array) -> tuple[Parts, Array]:
    """Return the impulse, by component, and eta of cones on the central path in closed form.

    slide: sliding velocity, by component.  c = -bound u / eta, eta = e + sqrt(e^2 + |u|^2), e = k / (2 bound).
    """
    e = k / (2 * bound)  # positive, as eta is
    eta = e + jnp.sqrt(e * e + dot(slide, slide))
    return tuple(-bound * u / eta for u in slide), eta


def sliding_friction(cones: Cones, bound: Array, slide: Parts, target: Array | float = 1.0) -> tuple[Array, Array]:
    """Return c, shape (ncone, ndim), and eta of cones at sliding velocities, with products at `target` times k."""
    c, eta = friction(bound, slide, target * cones.k)
    return joined(cones, c), eta
