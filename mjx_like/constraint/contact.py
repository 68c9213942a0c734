"""Rows of contacts: what each contact gives to its rows, and the Jacobian of a row."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.constraint.impedance import DEFAULT_SOLREF, stiffness_damping, valid_solimp, valid_solref
from mjx_like.constraint.spring import Springs
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.platform import on_cpu
from mjx_like.math.quaternion import cross
from mjx_like.math.rule import custom_jvp
from mjx_like.types.data import Contact
from mjx_like.types.enums import ConeType, DisableBit
from mjx_like.types.model import Model

Array = jax.Array


class ContactParameters(NamedTuple):
    """What the rows of each contact have in common, shapes (ncontact,)."""

    k: Array  # stiffness along the normal
    b: Array  # damping along the normal
    b_friction: Array  # damping of the friction rows of an elliptic cone
    imp: Array
    slope: Array
    R: Array  # of the normal, or of all edges of a pyramid
    R_friction: Array  # of the first tangent of an elliptic cone


def approximate_diagonal(contact: Contact, invweight: Array, pyramidal: bool) -> Array:
    """Return the approximate diagonal of J M^-1 J' of each contact's normal, or of the edges of its pyramid.

    invweight: sum of the bodies' approximate inverse masses, shape (ncontact,) [1/kg].  Source: mj_diagApprox.
    """
    mu = contact.friction[..., 0]
    return jnp.where(pyramidal & (contact.dim > 1), invweight * (1 + mu * mu), invweight)


def edge_count(dim: Array) -> Array:
    """Return how many rows contacts of these dimensions have with pyramidal cones."""
    return jnp.where(dim > 1, 2 * (dim - 1), 1)


def contact_parameters(m: Model, contact: Contact, spring: Springs) -> ContactParameters:
    """Return the parameters of each contact's rows; spring: those of the contacts.

    Friction has no stiffness that one step could not remove, so that its damping is not lowered with the normal's.
    Source: mj_makeImpedance.
    """
    impratio = jnp.maximum(MINVAL, m.opt_floats.impratio)
    raised = not m.disabled(DisableBit.REFSAFE) and not m.plans.integrator.in_step
    of_normal, own = (
        valid_solref(solref, m.opt_floats.timestep, raised, default)
        for solref, default in ((contact.solref, DEFAULT_SOLREF), (contact.solreffriction, (0.0, 0.0)))
    )
    along = jnp.where(jnp.any(own != 0, axis=-1, keepdims=True), own, of_normal)
    edges = (m.flags.cone == ConeType.PYRAMIDAL) & (contact.dim > 1)
    mu = contact.friction[..., 0]
    return ContactParameters(
        k=spring.k,
        b=spring.b,
        b_friction=stiffness_damping(along, valid_solimp(contact.solimp)[1])[1],
        imp=spring.imp,
        slope=spring.slope,
        R=jnp.where(edges, safe.ratio(2 * mu * mu, impratio) * spring.R, spring.R),
        R_friction=safe.ratio(spring.R, impratio),
    )


class RowDirections(NamedTuple):
    """Directions of rows in the world frame, shapes (nrow, 3), and the friction coefficient of each row's axis."""

    force: Array
    torque: Array
    friction: Array  # (nrow,)


def row_directions(edge: Array, dim: Array, frame: Array, friction: Array, dims: tuple[int, ...], pyramidal: bool):
    """Return the directions of rows of contacts.

    edge: number of the row in its contact, shape (nrow,); dim: of the contact; frame: shape (nrow, 3, 3); friction:
    shape (nrow, 5); dims: the dimensions that occur.  Source: mj_instantiateContact.
    """
    flat = dim == 1
    axis = jnp.where(flat, 0, (edge >> 1) + 1) if pyramidal else edge
    mu = friction[:, 0]
    for i in range(2, max(dims)):
        mu = jnp.where(axis == i, friction[:, i - 1], mu)
    along = [(axis == i).astype(frame.dtype)[:, None] for i in range(max(dims))]
    shift = sum((a * frame[:, i] for i, a in enumerate(along[1:3], 1)), jnp.zeros_like(frame[:, 0]))
    rotation = sum((a * frame[:, i] for i, a in enumerate(along[3:])), jnp.zeros_like(shift))
    if not pyramidal:
        return RowDirections(along[0] * frame[:, 0] + shift, rotation, mu)
    scale = jnp.where(edge & 1 == 0, mu, -mu)[:, None]
    return RowDirections(frame[:, 0] + scale * shift, scale * rotation, mu)


@functools.partial(custom_jvp, nondiff_argnums=(6,))
def row_jacobian(
    force: Array, torque: Array, point: Array, sign: Array, cdof: Array, center: Array, one_tree: bool
) -> Array:
    """Return the Jacobian of rows that act on two bodies at one point, shape (nrow, nv).

    Its derivatives are matrix products: those of the sums below would be taken again for each component.

    Args:
      force, torque: direction of the row's translation and rotation, shape (nrow, 3) [world].
      point: shape (nrow, 3) [m, world].
      sign: shape (nrow, nv), 1 where the dof moves the second body alone, -1 the first alone, else 0.
      cdof: motion axes of the dofs, shape (nv, 6).
      center: where the axes of each dof are taken, shape (nv, 3) [m, world]; all alike if `one_tree`.

    Source: mj_jacDifPair, mj_instantiateContact.
    """
    if one_tree:
        wrench = jnp.concatenate([torque + cross(point - center[0], force), force], axis=1)
        if on_cpu():
            return sign * matmul(wrench, cdof.T)
        return sign * sum(wrench[:, None, i] * cdof[:, i] for i in range(6))  # in the kernel that writes the rows
    else:
        arm = [point[:, None, i] - center[:, i] for i in range(3)]
        f = [force[:, None, i] for i in range(3)]
        rotation = (arm[1] * f[2] - arm[2] * f[1], arm[2] * f[0] - arm[0] * f[2], arm[0] * f[1] - arm[1] * f[0])
        terms = [(torque[:, None, i] + rotation[i]) * cdof[:, i] for i in range(3)]
    terms += [force[:, None, i] * cdof[:, 3 + i] for i in range(3)]
    return sign * (((terms[0] + terms[1]) + (terms[2] + terms[3])) + (terms[4] + terms[5]))


@row_jacobian.defjvp
def _row_jacobian_jvp(one_tree: bool, primals, tangents):
    force, torque, point, sign, cdof, center = primals
    origin = jax.lax.stop_gradient(center[0])

    def wrenches(force: Array, torque: Array, point: Array) -> Array:
        return jnp.concatenate([torque + cross(point - origin, force), force], axis=1)

    def axes(cdof: Array, center: Array) -> Array:
        shift = cross(cdof[:, :3], center - origin)
        return jnp.concatenate([cdof[:, :3], cdof[:, 3:] - shift], axis=1)

    wrench, dwrench = jax.jvp(wrenches, primals[:3], tangents[:3])
    axis, daxis = jax.jvp(axes, primals[4:], tangents[4:])
    rate = sign * (matmul(dwrench, axis.T) + matmul(wrench, daxis.T))
    return row_jacobian(*primals, one_tree), rate
