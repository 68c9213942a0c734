"""Mass, centre of mass and inertia of a body together, always those of some distribution of positive mass."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.infer_inertia import principal_axes
from mjx_like.leaves.selection import select
from mjx_like.math import quaternion
from mjx_like.math.linalg import matmul
from mjx_like.sysid.bound import Bound, check_prior
from mjx_like.types.model import Model

Array = jax.Array

_VALUES = ("mass", "com x", "com y", "com z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
_OFF = ((0, 0, 1), (1, 2, 2))  # of the products of inertia
_ABOVE = (np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3]))  # of the triangle, without its diagonal


class Inertia(NamedTuple):
    """The ten inertial parameters of a body."""

    body: str
    prior: float

    def bind(self, m: Model) -> Bound:
        """Return the parameter of this model.

        Raises:
          InputError: no such body, or one whose inertia in the model is not that of a mass.
        """
        names = {field: f"body_{field}@{self.body}" for field in ("mass", "ipos", "iquat", "inertia")}
        mass, ipos, iquat, moments = (select(m, name).get(m) for name in names.values())
        if np.ndim(mass):
            raise InputError(f"inertia('{self.body}'): must name one body; give one inertia(...) for each")
        axes = quaternion.matrix(quaternion.normalize(iquat))
        tensor = matmul(axes * moments, axes.T)
        nominal = upper_factor(pseudo_inertia(mass, ipos, tensor), self.body)

        def parts(theta: Array) -> tuple[Array, Array, Array]:
            return from_pseudo_inertia(square(matmul(nominal, log_cholesky(theta))))

        def values(theta: Array) -> Array:
            mass, com, tensor = parts(theta)
            return jnp.concatenate([mass[None], com, jnp.diag(tensor), tensor[_OFF]])

        def changes(theta: Array) -> dict[str, Array]:
            mass, com, tensor = parts(theta)
            moments, axes = principal_axes(_apart(tensor))
            return dict(zip(names.values(), (mass, com, quaternion.from_matrix(axes), moments), strict=True))

        labels = tuple(f"{self.body}: {name}" for name in _VALUES)
        return Bound(labels, np.zeros(10, np.asarray(mass).dtype), values, changes, self.prior)


def inertia(body: str, *, prior: float = math.inf) -> Inertia:
    """Return mass, centre of mass [m, body frame] and inertia about it [kg m^2, axes of the body] as one parameter.

    Ten coordinates, all of them zero at the model's values and without units, keep the inertia physical: the factor of
    the pseudo-inertia matrix has exponentials on its diagonal. Of a link that only turns about one axis not all ten can
    be found; a `prior` holds the others near the model's.

    prior: standard deviation of each coordinate about zero; 0.3 is about 30 %.
    Source: Rucker and Wensing, Smooth parameterization of rigid-body inertia (2022), equations 11 to 17.
    """
    return Inertia(body, check_prior(prior))


def log_cholesky(theta: Array) -> Array:
    """Return the upper triangular factor, shape (4, 4), of ten coordinates: e^a times exponentials on the diagonal.

    theta: a, d1, d2, d3, then the six entries above the diagonal by rows.
    """
    diagonal = jnp.concatenate([jnp.exp(theta[1:4]), jnp.ones(1, theta.dtype)])
    return jnp.exp(theta[0]) * jnp.diag(diagonal).at[_ABOVE].set(theta[4:])


def pseudo_inertia(mass: Array, com: Array, tensor: Array) -> Array:
    """Return the second moments of mass, shape (4, 4): about the body's origin, first moments, mass.

    com: centre of mass [m]; tensor: inertia about it, shape (3, 3).
    """
    second = 0.5 * jnp.trace(tensor) * np.eye(3) - tensor + mass * jnp.outer(com, com)
    return jnp.block([[second, mass * com[:, None]], [mass * com[None], mass[None, None]]])


def from_pseudo_inertia(pseudo: Array) -> tuple[Array, Array, Array]:
    """Return mass, centre of mass and inertia about it: the inverse of `pseudo_inertia`."""
    mass = pseudo[3, 3]
    com = pseudo[:3, 3] / mass
    second = pseudo[:3, :3] - mass * jnp.outer(com, com)
    return mass, com, jnp.trace(second) * np.eye(3) - second


def square(factor: Array) -> Array:
    """Return U U'."""
    return matmul(factor, factor.T)


def upper_factor(pseudo: Array, body: str) -> Array:
    """Return the upper triangular U with U U' = pseudo.

    Raises:
      InputError: it is not positive definite: no mass, or moments of which two together are not above the third.
    """
    turned = np.linalg.eigvalsh(np.asarray(pseudo))
    if not turned.min() > 1e-12 * turned.max():
        raise InputError(
            f"inertia('{body}'): the model's inertia is not that of a body of positive mass: mass must be positive, "
            "and two principal moments together above the third"
        )
    return jnp.asarray(np.linalg.cholesky(np.asarray(pseudo)[::-1, ::-1])[::-1, ::-1])


def _apart(tensor: Array) -> Array:
    """Return the inertia with moments that differ by a share of rounding's root, so that its axes have a derivative."""
    share = float(np.sqrt(np.finfo(tensor.dtype).eps))
    return tensor + jnp.diag(share * jnp.trace(tensor) * np.array([0.0, 1.0, 2.0], tensor.dtype))
