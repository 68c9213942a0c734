"""The joint-space inertia matrix and its Cholesky factor, in NumPy."""

import dataclasses

import numpy as np
import scipy

from mjx_like.compiler.reference.com import Motion
from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.constants import MINVAL
from mjx_like.errors import ModelError
from mjx_like.types.enums import TrnType

_SMALL = 6  # degrees of freedom up to which one tree of many is solved row by row


@dataclasses.dataclass
class TreeInertia:
    """The inertia matrix of one kinematic tree and its factor L with L' L = M, both shape (n, n).

    dofs: the degrees of freedom of the tree, which follow each other; one_of_many: whether there are other trees.
    """

    dofs: slice
    matrix: np.ndarray
    factor: np.ndarray
    one_of_many: bool

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return x with M x = b for every row b of `rows`, shape (k, n).

        Raises ModelError for rows, or a solution, that are not finite.
        """
        if not np.isfinite(rows).all():
            raise ModelError("a Jacobian is not finite: a gear, coefficient or distance of the model is too large")
        small = self.one_of_many and len(self.factor) <= _SMALL
        found = (_substituted if small else _solved)(self.factor, rows.T).T
        if not np.isfinite(found).all():
            raise ModelError("the inertia matrix at qpos0 has no inverse: a mass is zero, or an armature negative")
        return found


def _solved(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    half = scipy.linalg.solve_triangular(factor, b, lower=True, trans="T", check_finite=False)
    return scipy.linalg.solve_triangular(factor, half, lower=True, check_finite=False)


def _substituted(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return what `_solved` does, without BLAS, whose threads wait for each other longer than this takes."""
    x = np.array(b)
    for i in reversed(range(len(factor))):
        x[i] = (x[i] - factor[i + 1 :, i] @ x[i + 1 :]) / factor[i, i]
    for i in range(len(factor)):
        x[i] = (x[i] - factor[i, :i] @ x[:i]) / factor[i, i]
    return x


@dataclasses.dataclass
class Inertia:
    """The inertia matrix, a block for each tree, for nothing couples two; and dof_M0, shape (nv,)."""

    trees: list[TreeInertia]
    dof_m0: np.ndarray

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of the matrix, shape (nv,)."""
        return np.concatenate([np.zeros(0), *(np.diag(tree.matrix) for tree in self.trees)])

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return x with M x = b for every row b of `rows`, shape (n, nv); raises as `TreeInertia.solve` does."""
        found = np.zeros_like(rows)
        for tree in self.trees if rows.size else ():
            found[:, tree.dofs] = tree.solve(rows[:, tree.dofs])
        return found


def inertia(f: Fields, frames: Frames, motion: Motion, ten_jacobian: np.ndarray) -> Inertia:
    """Return the inertia matrix by composite rigid bodies, armature of joints, tendons and actuators included.

    Args:
      ten_jacobian: tendon Jacobian, shape (ntendon, nv).

    A tendon's armature couples only degrees of freedom of which one carries the other.

    Source: mj_crb, mj_tendonArmature, mj_setM0.
    """
    parent = f["body_parentid"]
    composite = np.array([_spatial_inertia(f, frames, motion, b) for b in range(f["nbody"])])
    for body in range(f["nbody"] - 1, 0, -1):
        if parent[body] > 0:
            composite[parent[body]] += composite[body]
    joint_armature, tendon_armature = actuator_armature(f)
    armature = f["dof_armature"] + joint_armature[f["dof_jntid"]]
    coupling = f["tendon_armature"] + tendon_armature
    trees, dof_m0 = [], [np.zeros(0)]
    for first, count in zip(f["tree_dofadr"].tolist(), f["tree_dofnum"].tolist(), strict=True):
        own = slice(first, first + count)
        matrix = _composite(f, motion, composite, own)
        matrix[np.diag_indices(count)] += armature[own]
        dof_m0.append(np.diag(matrix).copy())
        tendons = ten_jacobian[:, own]
        related = motion.moves[f["dof_bodyid"][own], own] & np.tri(count, dtype=bool)
        matrix += (tendons.T * coupling) @ tendons * (related | related.T)
        trees.append(TreeInertia(own, matrix, _factor(matrix), len(f["tree_dofnum"]) > 1))
    return Inertia(trees, np.concatenate(dof_m0))


def _composite(f: Fields, motion: Motion, composite: np.ndarray, own: slice) -> np.ndarray:
    """Return the inertia matrix of the dofs of one tree, without armature; composite: shape (nbody, 6, 6)."""
    matrix, parent = np.zeros((own.stop - own.start,) * 2), f["dof_parentid"]
    for i in range(own.start, own.stop):
        momentum = composite[f["dof_bodyid"][i]] @ motion.cdof[i]
        j = i
        while j >= 0:
            row, column = i - own.start, j - own.start
            matrix[row, column] = matrix[column, row] = motion.cdof[j] @ momentum
            j = parent[j]
    return matrix


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
