"""The joint-space inertia matrix and its Cholesky factor, in NumPy."""

import dataclasses

import numpy as np
import scipy

from mjx_like.compiler.reference.com import Motion
from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.constants import MINVAL
from mjx_like.errors import ModelError
from mjx_like.types.enums import TrnType


@dataclasses.dataclass
class Inertia:
    """The inertia matrix, shape (nv, nv), its factor L with L' L = M, and dof_M0, shape (nv,)."""

    matrix: np.ndarray
    factor: np.ndarray
    dof_m0: np.ndarray

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return x with M x = b for every row b of `rows`, shape (n, nv).

        Raises ModelError for rows, or a solution, that are not finite.
        """
        if not rows.size:
            return np.zeros_like(rows)
        if not np.isfinite(rows).all():
            raise ModelError("a Jacobian is not finite: a gear, coefficient or distance of the model is too large")
        half = scipy.linalg.solve_triangular(self.factor, rows.T, lower=True, trans="T", check_finite=False)
        found = scipy.linalg.solve_triangular(self.factor, half, lower=True, check_finite=False).T
        if not np.isfinite(found).all():
            raise ModelError("the inertia matrix at qpos0 has no inverse: a mass is zero, or an armature negative")
        return found


def inertia(f: Fields, frames: Frames, motion: Motion, ten_jacobian: np.ndarray) -> Inertia:
    """Return the inertia matrix by composite rigid bodies, armature of joints, tendons and actuators included.

    Args:
      ten_jacobian: tendon Jacobian, shape (ntendon, nv).

    A tendon's armature couples only degrees of freedom of which one carries the other.

    Source: mj_crb, mj_tendonArmature, mj_setM0.
    """
    nv, parent = f["nv"], f["body_parentid"]
    composite = np.array([_spatial_inertia(f, frames, motion, b) for b in range(f["nbody"])])
    for body in range(f["nbody"] - 1, 0, -1):
        if parent[body] > 0:
            composite[parent[body]] += composite[body]
    matrix = np.zeros((nv, nv))
    for i in range(nv):
        momentum = composite[f["dof_bodyid"][i]] @ motion.cdof[i]
        j = i
        while j >= 0:
            matrix[i, j] = matrix[j, i] = motion.cdof[j] @ momentum
            j = f["dof_parentid"][j]
    joint_armature, tendon_armature = actuator_armature(f)
    matrix[np.diag_indices(nv)] += f["dof_armature"] + joint_armature[f["dof_jntid"]]
    dof_m0 = np.diag(matrix).copy()
    related = motion.moves[f["dof_bodyid"]] & (np.arange(nv) <= np.arange(nv)[:, None])
    added = (ten_jacobian.T * (f["tendon_armature"] + tendon_armature)) @ ten_jacobian
    matrix += added * (related | related.T)
    return Inertia(matrix, _factor(matrix), dof_m0)


def _factor(matrix: np.ndarray) -> np.ndarray:
    """Return lower L with L' L = matrix; a pivot that is not positive becomes the least number.

    Raises ModelError for a matrix or a factor that is not finite.

    The order of elimination is that of MuJoCo, from the leaves to the root.  Source: mj_factorI.
    """
    if not np.isfinite(matrix).all():
        raise ModelError("the inertia matrix is not finite: a size, distance or mass of the model is too large")
    rest, lower = np.array(matrix), np.zeros_like(matrix)
    for k in range(len(matrix) - 1, -1, -1):
        pivot = max(rest[k, k], MINVAL)
        lower[k, : k + 1] = rest[k, : k + 1] / np.sqrt(pivot)
        lower[k, k] = np.sqrt(pivot)
        above = np.flatnonzero(rest[k, :k])
        row = rest[k, above]
        rest[np.ix_(above, above)] -= np.outer(row / pivot, row)  # this order overflows last
    if not np.isfinite(lower).all():
        raise ModelError("the factor of the inertia matrix is not finite: a mass or size of the model is too large")
    return lower


def _spatial_inertia(f: Fields, frames: Frames, motion: Motion, body: int) -> np.ndarray:
    """Return the inertia of one body about its tree's origin, shape (6, 6)."""
    mass, offset = f["body_mass"][body], frames.xipos[body] - motion.origin[body]
    x, y, z = offset
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    axes = frames.ximat[body]
    rotational = (axes * f["body_inertia"][body]) @ axes.T - mass * skew @ skew
    return np.block([[rotational, mass * skew], [-mass * skew, mass * np.eye(3)]])


def actuator_armature(f: Fields) -> tuple[np.ndarray, np.ndarray]:
    """Return the armature that actuators add to joints, shape (njnt,), and to tendons, shape (ntendon,).

    Source: mj_actuatorArmature.
    """
    joint, tendon = np.zeros(f["njnt"]), np.zeros(f["ntendon"])
    for i in range(f["nactuator"]):
        target, gear = f["actuator_trnid"][i, 0], f["actuator_gear"][f["actuator_outadr"][i], 0]
        added = f["actuator_armature"][i] * gear**2
        if f["actuator_trntype"][i] in (TrnType.JOINT, TrnType.JOINTINPARENT):
            joint[target] += added
        elif f["actuator_trntype"][i] == TrnType.TENDON:
            tendon[target] += added
    return joint, tendon
