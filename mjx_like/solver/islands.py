"""Constraint islands: trees that rows tie together, which MuJoCo solves one by one."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.solver.problem import Islands
from mjx_like.solver.rows import ConeLayout, PlainLayout
from mjx_like.tree.blocks import full_j
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, DisableBit, ObjType
from mjx_like.types.model import Model

Array = jax.Array


def islands(m: Model, d: Data, metric: Array, layout: PlainLayout | ConeLayout) -> Islands:
    """Return the islands of the rows of `d`; all is one island where the flag `island` is off.

    Reads efc_J, efc_type, efc_id, nefc and contact.  Source: mj_island.
    """
    dtype = metric.dtype
    if m.disabled(DisableBit.ISLAND) or m.ntree < 2:
        used = layout.from_rows((jnp.arange(m.njmax) < d.nefc).astype(dtype))
        return Islands(dof=jnp.ones((1, m.nv), dtype), row=used[None])
    of_dof = (m.dof_treeid[:, None] == np.arange(m.ntree)).astype(dtype)
    touched = _touched(m, d, of_dof)
    coupled = matmul(of_dof.T, matmul(jnp.abs(metric), of_dof)) > 0
    near = matmul(touched.T, touched) + coupled + np.eye(m.ntree)
    for _ in range(math.ceil(math.log2(m.ntree))):
        near = (matmul(near, near) > 0).astype(dtype)
    first = jnp.argmax(near > 0, axis=1)
    tied = jnp.any(matmul(near, touched.T) > 0, axis=1)
    tree = ((first == np.arange(m.ntree)[:, None]) & tied).astype(dtype)
    row = jnp.where(jnp.arange(m.ntree) == jnp.argmax(touched > 0, axis=1)[:, None], touched > 0, False).astype(dtype)
    row = jax.vmap(layout.from_rows)(matmul(tree, row.T))
    return Islands(dof=matmul(tree, of_dof.T), row=row)


def _touched(m: Model, d: Data, of_dof: np.ndarray) -> Array:
    """Return which trees each row ties together, 0 or 1, shape (njmax, ntree)."""
    out = matmul(jnp.abs(full_j(m, d)), jnp.asarray(of_dof, d.efc_J.dtype)) > 0
    geom = np.append(m.body_treeid[m.geom_bodyid], -1)
    if m.plans.constraint.contact_dims:
        mine = d.efc_type >= int(ConstraintType.CONTACT_FRICTIONLESS)
        pair = d.contact.geom[jnp.where(mine, d.efc_id, 0)]
        tree = jnp.asarray(geom)[jnp.where(mine[:, None], pair, m.ngeom)]
        out = out | jnp.any(tree[..., None] == np.arange(m.ntree), axis=1)
    if m.neq:
        mine = (d.efc_type == int(ConstraintType.EQUALITY)) & (jnp.arange(m.njmax) < d.ne)
        out = out | (jnp.asarray(_equality_trees(m))[jnp.where(mine, d.efc_id, 0)] & mine[:, None])
    return out.astype(d.efc_J.dtype)


def _equality_trees(m: Model) -> np.ndarray:
    """Return the trees of the bodies or sites of each equality, shape (neq, ntree); joints and tendons have none."""
    out = np.zeros((m.neq, m.ntree), bool)
    for objects in (m.eq_obj1id, m.eq_obj2id):
        for kind, bodies in ((ObjType.BODY, np.arange(m.nbody)), (ObjType.SITE, m.site_bodyid)):
            ids = np.flatnonzero((m.eq_objtype == kind) & (objects >= 0))
            tree = m.body_treeid[bodies[objects[ids]]] if ids.size else ids
            out[ids[tree >= 0], tree[tree >= 0]] = True
    return out
