"""What the data say of the parameters: covariance, singular values, and what they leave open, in words."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_RELATIVE = 1e-7  # singular values below this share of the largest, after scaling of columns, are none


class Uncertainty(NamedTuple):
    """Of p coordinates: covariance (p, p), singular values (p,) largest first, right singular vectors (p, p) as rows.

    The inverse of a singular value is the standard deviation of the coordinates along its vector.
    """

    covariance: np.ndarray
    singular_values: np.ndarray
    directions: np.ndarray


def uncertainty(hessian: np.ndarray, p: int, variance: float) -> Uncertainty:
    """Return the uncertainty of the first p of the unknowns, the others being found along with them.

    hessian: J'J of residuals in units of the noise; variance: of these residuals, 1 where the noise is known.
    Directions that the data do not see have infinite variance.
    """
    own, cross, rest = hessian[:p, :p], hessian[:p, p:], hessian[p:, p:]
    schur = own - cross @ np.linalg.lstsq(rest, cross.T, rcond=1e-14)[0] if rest.size else own
    values, vectors = np.linalg.eigh(0.5 * (schur + schur.T) / variance)
    values = np.maximum(values, 0)
    seen = values > _RELATIVE**2 * max(values.max(), 1e-300)
    inverse = np.where(seen, 1 / np.where(seen, values, 1), 0)
    covariance = (vectors * inverse) @ vectors.T
    open_share = (vectors[:, ~seen] ** 2).sum(axis=1)
    covariance[np.diag_indices(p)] = np.where(open_share > 1e-6, np.inf, np.diag(covariance))
    order = np.argsort(-values)
    return Uncertainty(covariance, np.sqrt(values[order]), vectors[:, order].T)


def value_errors(jacobian: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return standard errors of values with this Jacobian by the coordinates, shape (k, p): the delta method."""
    finite = np.where(np.isfinite(covariance), covariance, 0)
    variance = np.einsum("kp,pq,kq->k", jacobian, finite, jacobian)
    unknown = (jacobian != 0) @ ~np.isfinite(np.diag(covariance))
    return np.where(unknown, np.inf, np.sqrt(np.maximum(variance, 0)))


def in_words(direction: np.ndarray, coordinates: Sequence[str]) -> str:
    """Return a direction of the coordinates in words: its four largest entries, none below 0.1, the first positive."""
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    order = [i for i in np.argsort(-np.abs(direction)) if abs(direction[i]) > 0.1][:4]
    return " ".join(f"{direction[i]:+.2f} {coordinates[i]}" for i in order)


def least_identifiable(u: Uncertainty, coordinates: Sequence[str]) -> str:
    """Return one sentence on the direction that the data determine least."""
    smallest, words = u.singular_values[-1], in_words(u.directions[-1], coordinates)
    if smallest <= _RELATIVE * u.singular_values[0]:
        return f"not identifiable: {words}: the data do not depend on it"
    error = 1 / smallest
    judged = "poorly identified" if error > 1 else "least identifiable"
    return f"{judged}: {words}, standard error {error:.2g} in the coordinates"
