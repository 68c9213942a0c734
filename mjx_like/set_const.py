"""Derived constants of a Model in JAX: what masses, inertias, poses and sizes imply, differentiable and vmappable.

The compiler has the same in NumPy, in compiler/reference: JAX run eagerly takes long on a large model.
"""

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator.transmission import transmission
from mjx_like.constants import MINVAL
from mjx_like.geometry.aabb import aabb, bounding_radius
from mjx_like.geometry.inertia import fluid_coefficients
from mjx_like.math import quaternion, safe
from mjx_like.math.select import combine, put, scatter, take
from mjx_like.math.spatial import inertia_times
from mjx_like.smooth.camlight import fixed_cameras, fixed_lights
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.crb import crb, factor_m, solve_m
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import empty_data
from mjx_like.tendon.stage import tendon
from mjx_like.tree.inherited import dof_armature
from mjx_like.tree.jacobian import jac
from mjx_like.types.data import Data
from mjx_like.types.enums import EqType, GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

Array = jax.Array
Changes = dict[str, Array]

# The parameters that derived constants follow from.
READ = frozenset(
    "actuator_armature actuator_cranklength actuator_gear body_inertia body_ipos body_iquat body_mass body_pos"
    " body_quat cam_pos cam_quat dof_armature eq_data flex_node flex_vert geom_fluid geom_gap geom_margin geom_pos"
    " geom_quat geom_size hfield_size jnt_axis jnt_pos light_dir light_pos qpos0 site_pos site_quat tendon_armature"
    " wrap_prm".split()
)

_LEAST_SIZE = 1e-5  # of a body [m]
_SLIDES_ONLY = 2  # of body_simple
_OF_MESH = (GeomType.MESH, GeomType.SDF)  # whose bounds follow from the mesh


def set_const(m: Model) -> Model:
    """Return the Model with every derived constant that its masses, inertias, poses, sizes and margins imply.

    Call it after changing such a leaf; it can be differentiated, and mapped over a batch of models. What the compiler
    alone resolves keeps its value, as in MuJoCo 4: damping ratios, rest lengths of tendons at `qpos_spring`, statistics
    and length ranges. Lengths and weights that are a norm have zero derivative where it vanishes.

    Reads what the compiler sets. Writes body_subtreemass, body_margin, body_invweight0, dof_M0, dof_invweight0,
    dof_length, geom_size of height fields, geom_aabb, geom_rbound, geom_fluid, cam_pos0, cam_poscom0, cam_mat0,
    light_pos0, light_poscom0, light_dir0, tendon_length0, tendon_invweight0, actuator_length0, actuator_acc0,
    flexedge_length0, flexedge_invweight0 and eq_data.

    Raises:
      InputError: leaves of another shape than those of one model.
    Source: mj_setConst.
    """
    one_model("set_const", m)
    m = m.replace(body_subtreemass=combine(m.plans.tree.body_ancestor.T, m.body_mass), body_margin=_body_margin(m))
    m = m.replace(**_sizes(m))
    m = m.replace(**_bounds(m))
    d = transmission(m, factor_m(m, crb(m, tendon(m, com_pos(m, kinematics(m, empty_data(m)))))))
    edges = _FlexEdges(m, d)
    m = m.replace(**_weights(m, d), **edges.constants(), **_looks(m, d), **_equalities(m, d))
    return m.replace(dof_length=_dof_length(m, d, edges))


def _body_margin(m: Model) -> Array:
    """Return the greatest margin and gap together of each body's geoms, shape (nbody,)."""
    return _largest(m.nbody, [(m.geom_margin + m.geom_gap, m.geom_bodyid)], m.qpos0.dtype)


def _largest(size: int, parts: Iterable[tuple[Array, np.ndarray]], dtype) -> Array:
    """Return the largest value, at least 0, of each of `size` owners; parts are (values, owner of each)."""
    parts = list(parts)
    values = jnp.concatenate([jnp.zeros(1, dtype), *(v for v, _ in parts)])
    owner = np.concatenate([[-1], *(o for _, o in parts)]).astype(int)
    mine = [np.flatnonzero(owner == i) for i in range(size)]
    table = np.zeros((size, max((len(x) for x in mine), default=0) + 1), int)
    for i, index in enumerate(mine):
        table[i, : len(index)] = index
    return jnp.max(take(values, table.ravel()).reshape(table.shape), axis=1)


def _sizes(m: Model) -> Changes:
    """Return geom_size with the sizes of height fields."""
    ids = np.flatnonzero(m.geom_type == GeomType.HFIELD)
    if not ids.size:
        return {}
    field = take(m.hfield_size, m.geom_dataid[ids])
    size = jnp.stack([field[:, 0], field[:, 1], 0.25 * field[:, 2] + 0.5 * field[:, 3]], axis=1)
    return {"geom_size": _with_rows(m.geom_size, [(ids, size)])}


def _bounds(m: Model) -> Changes:
    """Return bounding boxes and radii of geoms, and the added mass of those with fluid forces of their own."""
    boxes, radii, fluids = [], [], []
    for kind in np.unique(m.geom_type):
        kind, ids = GeomType(kind), np.flatnonzero(m.geom_type == kind)
        size = take(m.geom_size, ids)
        field = take(m.hfield_size, m.geom_dataid[ids]) if kind == GeomType.HFIELD else size
        if kind not in _OF_MESH:
            boxes.append((ids, _each(aabb, kind, size, field)))
            radii.append((ids, _each(bounding_radius, kind, size, field)))
        else:
            half = m.geom_aabb[:, 3:]
            radii.append((ids, safe.norm(take(jnp.abs(m.geom_aabb[:, :3]) + half, ids))))
        own = ids[m.has["geom_fluid"][ids]]
        if own.size:
            mine, given = take(m.geom_size, own), take(m.geom_fluid, own)
            fluids.append((own, _each(fluid_coefficients, kind, mine, given[:, 1:6])))
    changes = {"geom_aabb": _with_rows(m.geom_aabb, boxes), "geom_rbound": put(m.geom_rbound, radii)}
    return changes | ({"geom_fluid": _with_rows(m.geom_fluid, fluids)} if fluids else {})


def _each(function: Callable, kind: GeomType, *arrays: Array) -> Array:
    """Return a function of one geom for many of one kind."""
    return jax.vmap(lambda *x: jnp.asarray(function(kind, *x), arrays[0].dtype))(*arrays)


def _with_rows(x: Array, parts: list[tuple[np.ndarray, Array]]) -> Array:
    """Return x, shape (n, k), with other rows at static, distinct positions."""
    column = np.arange(x.shape[1])
    flat = put(x.ravel(), [((ids[:, None] * x.shape[1] + column).ravel(), rows) for ids, rows in parts])
    return flat.reshape(x.shape)


def _weights(m: Model, d: Data) -> Changes:
    """Return masses and mean inverse masses at qpos0 of bodies, dofs, tendons and actuators."""
    body, dof = _inverse_weights(m, d)
    momentum = inertia_times(take(d.crb, m.dof_bodyid), d.cdof)
    return {
        "dof_M0": dof_armature(m) + jnp.sum(d.cdof * momentum, axis=1),
        "body_invweight0": body,
        "dof_invweight0": dof,
        "tendon_length0": d.ten_length,
        "tendon_invweight0": _mobility(m, d, d.ten_J),
        "actuator_length0": d.actuator_length,
        "actuator_acc0": safe.norm(solve_m(m, d, d.actuator_moment.T), axis=0) if m.nv else m.actuator_acc0 * 0,
    }


def _mobility(m: Model, d: Data, rows: Array) -> Array:
    """Return the diagonal of J M^-1 J', shape (k,), of rows J, shape (k, nv)."""
    return jnp.sum(rows.T * solve_m(m, d, rows.T), axis=0)


def _inverse_weights(m: Model, d: Data) -> tuple[Array, Array]:
    """Return body_invweight0, shape (nbody, 2), and dof_invweight0, shape (nv,)."""
    slides, per_mass = m.body_simple == _SLIDES_ONLY, _per_mass(m)
    rows = jnp.stack(jac(m, d, d.xipos, np.arange(m.nbody)), axis=1)  # (nbody, 2, nv, 3)
    mobility = _mobility(m, d, jnp.swapaxes(rows, 2, 3).reshape(6 * m.nbody, m.nv)).reshape(m.nbody, 2, 3)
    of_slides = jnp.stack([per_mass, jnp.zeros_like(per_mass)], axis=1)
    body = jnp.where(slides[:, None], of_slides, jnp.mean(mobility, axis=2))
    body = jnp.where((m.body_weldid == 0)[:, None], 0, body)
    if not m.nv:
        return body, m.dof_invweight0
    dof = combine(_mean_over_blocks(m), _mobility(m, d, jnp.eye(m.nv, dtype=d.qLD.dtype)))
    return body, jnp.where(slides[m.dof_bodyid], take(per_mass, m.dof_bodyid), dof)


def _per_mass(m: Model) -> Array:
    heavy = m.body_mass > MINVAL
    return safe.divide(1, m.body_mass, 1 / MINVAL, where=heavy)


def _mean_over_blocks(m: Model) -> np.ndarray:
    """Return the matrix, shape (nv, nv), that averages over the translations or rotations of one joint."""
    rank = np.arange(m.nv) - m.jnt_dofadr[m.dof_jntid]
    block = 2 * m.dof_jntid + (rank >= 3)
    same = block[:, None] == block
    return same / same.sum(axis=1, keepdims=True)


def _looks(m: Model, d: Data) -> Changes:
    """Return poses of cameras and lights at qpos0, relative to their body and to the centre of mass they track."""
    changes: Changes = {}
    for kind, count, pose in (("cam", m.ncam, fixed_cameras), ("light", m.nlight, fixed_lights)):
        if not count:
            continue
        position, direction = pose(m, d)
        body, target = getattr(m, f"{kind}_bodyid"), getattr(m, f"{kind}_targetbodyid")
        changes[f"{kind}_pos0"] = position - take(d.xpos, body)
        changes[f"{kind}_poscom0"] = position - take(d.subtree_com, np.where(target >= 0, target, body))
        if kind == "cam":
            changes["cam_mat0"] = direction.reshape(-1, 9)
        else:
            changes["light_dir0"] = safe.normalize(direction)[0]
    return changes


def _equalities(m: Model, d: Data) -> Changes:
    """Return eq_data: the second anchor of connects, and the relative pose of welds that were given none."""
    of_bodies = m.eq_objtype == ObjType.BODY
    connect = np.flatnonzero((m.eq_type == EqType.CONNECT) & of_bodies)
    weld = np.flatnonzero((m.eq_type == EqType.WELD) & of_bodies)
    parts = []
    if connect.size:
        data, first, second = take(m.eq_data, connect), m.eq_obj1id[connect], m.eq_obj2id[connect]
        anchor = _carried(d, data[:, :3], first, second)
        parts.append((connect, jnp.concatenate([data[:, :3], anchor, data[:, 6:]], axis=1)))
    if weld.size:
        data, first, second = take(m.eq_data, weld), m.eq_obj1id[weld], m.eq_obj2id[weld]
        anchor = _carried(d, data[:, :3], second, first)
        relative = quaternion.multiply(quaternion.conjugate(take(d.xquat, first)), take(d.xquat, second))
        pose = jnp.concatenate([anchor, relative], axis=1)
        pose = jnp.where(data[:, 11:] != 0, pose, data[:, 3:10])  # the compiler marks those that were given no pose
        parts.append((weld, jnp.concatenate([data[:, :3], pose, data[:, 10:]], axis=1)))
    return {"eq_data": _with_rows(m.eq_data, parts)} if parts else {}


def _carried(d: Data, point: Array, source: np.ndarray, target: np.ndarray) -> Array:
    """Return points of one body's frame in the frame of another, shape (k, 3)."""
    world = take(d.xpos, source) + quaternion.rotate(take(d.xquat, source), point)
    return quaternion.rotate(quaternion.conjugate(take(d.xquat, target)), world - take(d.xpos, target))


class _FlexEdges:
    """Lengths and ends of the edges of flexes at qpos0; those of interpolated flexes are zero."""

    def __init__(self, m: Model, d: Data):
        self.m, self.d = m, d
        flex = np.arange(m.nflex)
        self.flex = np.repeat(flex, m.flex_edgenum)
        self.interpolated = m.flex_interp[self.flex] != 0
        self.ends = m.flex_edge + m.flex_vertadr[self.flex][:, None] if m.nflexedge else np.zeros((0, 2), int)
        self.body = m.flex_vertbodyid[self.ends] if m.nflexedge else np.zeros((0, 2), int)
        if m.nflexedge:
            owner = np.maximum(m.flex_vertbodyid, 0)
            place_of = take(d.xpos, owner) + quaternion.rotate(take(d.xquat, owner), m.flex_vert)
            self.start, self.stop = (take(place_of, end) for end in self.ends.T)
            self.unit, length = safe.normalize(self.stop - self.start)
            self.length = jnp.where(self.interpolated, 0, length[:, 0])

    def constants(self) -> Changes:
        """Return flexedge_length0 and flexedge_invweight0."""
        m, d = self.m, self.d
        if not m.nflexedge:
            return {}
        slides, per_mass = m.body_simple == _SLIDES_ONLY, _per_mass(m)
        first, second = self.body.T
        both = slides[first] & slides[second]
        weight = jnp.where(both, 0.5 * (take(per_mass, first) + take(per_mass, second)), 0)
        general = np.flatnonzero((first != second) & ~both & ~self.interpolated)
        if general.size and m.nv:
            ends = ((self.stop, second), (self.start, first))
            stop, start = (jac(m, d, take(point, general), body[general])[0] for point, body in ends)
            rows = jnp.sum((stop - start) * take(self.unit, general)[:, None], axis=2)
            acts = take(self._acts().astype(rows.dtype), self.flex[general])
            weight = weight + scatter(acts * _mobility(m, d, rows), general, m.nflexedge)
        rigid = (first == second) | self.interpolated | (m.nv == 0)
        return {"flexedge_length0": self.length, "flexedge_invweight0": jnp.where(rigid, 0, weight)}

    def _acts(self) -> Array:
        """Return which flexes have forces along their edges, shape (nflex,): only they have edge Jacobians."""
        m = self.m
        floats = (m.flex_edgestiffness, m.flex_edgedamping, m.flex_damping)
        return sum(x != 0 for x in floats) + (m.flex_edgeequality != 0) > 0

    def spans(self) -> list[tuple[Array, np.ndarray]]:
        """Return lengths and the bodies at their ends."""
        m, d = self.m, self.d
        parts = [(self.length, body) for body in self.body.T] if m.nflexedge else []
        for flex in np.flatnonzero(m.flex_interp):
            body = m.flex_nodebodyid[m.flex_nodeadr[flex] + np.arange(m.flex_nodenum[flex])]
            point = take(d.xpos, body)
            parts.append((jnp.max(safe.norm(point[:, None] - point), axis=1), body))
        return parts


def _dof_length(m: Model, d: Data, edges: _FlexEdges) -> Array:
    """Return the length that each dof acts on, shape (nv,): 1 for translations, the size of the body for rotations."""
    parts = edges.spans()
    for body in (m.jnt_bodyid, m.body_parentid[m.jnt_bodyid]):
        parts.append((safe.norm(take(d.xipos, body) - d.xanchor), np.where(body > 0, body, -1)))
    if m.ngeom:
        owner = m.geom_bodyid
        reach = m.geom_rbound + safe.norm(take(d.xipos, owner) - d.geom_xpos)
        parts.append((jnp.where(m.geom_rbound > 0, reach, 0), np.where(owner > 0, owner, -1)))
    size = jnp.maximum(_largest(m.nbody, parts, m.qpos0.dtype), _LEAST_SIZE)
    return jnp.where(m.plans.smooth.dof_slide | m.plans.smooth.dof_shifting, 1, take(size, m.dof_bodyid))
