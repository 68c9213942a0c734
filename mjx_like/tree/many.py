"""Which models store matrices of their dofs as one block for each kinematic tree, and how the dofs stand in them."""

import numpy as np

from mjx_like.types.enums import EqType, JacobianType, ObjType
from mjx_like.types.plans import Trees
from mjx_like.types.topology import Topology

_FEW_DOFS = 60  # below it MuJoCo takes dense matrices too, where the model leaves it open


def make_trees(t: Topology) -> Trees | None:
    """Return the layout of blocks; None for a model with few dofs, few trees, or rows that touch three of them.

    With the option jacobian="dense" there is none either.
    """
    if t.nv < _FEW_DOFS or t.flags.jacobian == JacobianType.DENSE:
        return None
    most = int(t.tree_dofnum.max())
    equality = _equality_trees(t)
    if 2 * most >= t.nv or equality is None or np.any(t.tendon_treenum > 2):
        return None
    inside = np.arange(most) < t.tree_dofnum[:, None]
    dof = np.where(inside, t.tree_dofadr[:, None] + np.arange(most), t.nv)
    place = t.dof_treeid.astype(np.int64) * most + np.arange(t.nv) - t.tree_dofadr[t.dof_treeid]
    return Trees(dof=dof, place=place, padded=not inside.all(), equality=equality)


def _equality_trees(t: Topology) -> np.ndarray | None:
    """Return the trees of each equality, shape (neq, 2), -1 for none; None where one has three."""
    out = np.full((t.neq, 2), -1)
    for i in range(t.neq):
        trees = sorted({x for obj in (t.eq_obj1id[i], t.eq_obj2id[i]) for x in _object_trees(t, i, int(obj))} - {-1})
        if len(trees) > 2:
            return None
        out[i, : len(trees)] = trees
    return out


def _object_trees(t: Topology, equality: int, obj: int) -> list[int]:
    """Return the trees of one of the two objects of an equality."""
    kind = t.eq_type[equality]
    if obj < 0:
        return []
    if kind == EqType.JOINT:
        return [int(t.dof_treeid[t.jnt_dofadr[obj]])]
    if kind == EqType.TENDON:
        return t.tendon_treeid[obj].tolist()
    if kind in (EqType.CONNECT, EqType.WELD):
        body = t.site_bodyid[obj] if t.eq_objtype[equality] == ObjType.SITE else obj
        return [int(t.body_treeid[body])]
    return []
