"""Bodies that hang on the same child of the world, and the dofs that move them: nothing else moves with them."""

from typing import NamedTuple

import numpy as np

from mjx_like.math.block_mask import BlockMask, Mask, alike
from mjx_like.types.topology import Topology

_FEW_DOFS = 60  # below it masks are whole: MuJoCo's limit of dense matrices


class Group(NamedTuple):
    """One child of the world with all below it; ids in ascending order."""

    body: np.ndarray
    dof: np.ndarray
    ancestor: np.ndarray  # (nbody, nbody) of the group: 1 where the column's body is the row's or above it
    chain: np.ndarray  # (nv, nv) of the group, likewise of dofs


def groups(t: Topology) -> list[Group]:
    """Return the groups of a model, in the order of their first bodies; the world is in none."""
    parts = members(t.body_rootid)[1:]
    root = t.body_rootid[t.dof_bodyid]
    dof = np.argsort(root, kind="stable")
    roots = [t.body_rootid[own[0]] for own in parts]
    ends = np.searchsorted(root[dof], roots), np.searchsorted(root[dof], roots, side="right")
    dofs = [dof[i:j] for i, j in zip(*ends, strict=True)]
    return [
        Group(own, moving, ancestors(own, t.body_parentid), ancestors(moving, t.dof_parentid))
        for own, moving in zip(parts, dofs, strict=True)
    ]


def members(root: np.ndarray) -> list[np.ndarray]:
    """Return the indices of each value, in ascending order; the least value first."""
    order = np.argsort(root, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(root[order])) + 1)


def ancestors(ids: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Return 1 where the column's id is the row's, or above it within `ids`, which are ascending."""
    place = {i: k for k, i in enumerate(ids.tolist())}
    out = np.eye(len(ids))
    for k, above in enumerate(parent[ids].tolist()):
        if above in place:
            out[k] += out[place[above]]
    return out


def several(t: Topology) -> bool:
    """Return whether the masks of a model are blocks: many dofs, on several children of the world."""
    return t.nv >= _FEW_DOFS and np.unique(t.body_rootid[t.dof_bodyid]).size > 1


def body_dof(t: Topology, parts: list[Group]) -> Mask:
    """Return 1 where the column's dof moves the row's body, shape (nbody, nv)."""
    return BlockMask((t.nbody, t.nv), alike([(moves(t, g), g.body, g.dof) for g in parts]))


def moves(t: Topology, group: Group) -> np.ndarray:
    """Return 1 where a dof of a group moves a body of it, shape (nbody, nv) of the group."""
    return group.ancestor[:, np.searchsorted(group.body, t.dof_bodyid[group.dof])]


def body_ancestor(t: Topology, parts: list[Group]) -> Mask:
    """Return 1 where the column's body is the row's or above it, shape (nbody, nbody); the world is above all."""
    world = np.ones((t.nbody, 1)), np.arange(t.nbody), np.zeros(1, int)
    return BlockMask((t.nbody, t.nbody), alike([world, *((g.ancestor, g.body, g.body) for g in parts)]))


def dof_ancestor(t: Topology, parts: list[Group]) -> Mask:
    """Return 1 where the column's dof is the row's or above it, shape (nv, nv)."""
    return BlockMask((t.nv, t.nv), alike([(g.chain, g.dof, g.dof) for g in parts]))
