"""All pairs without a closed form, of whatever types, through one search that runs only on those near each other."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.broadphase import Near, box_gap, box_table, near_pairs, refined, sphere_gap
from mjx_like.collision.convex import ccd, flat_tables, manifold, pose_slopes
from mjx_like.collision.convex.ccd import FAR, Nearest
from mjx_like.collision.convex.derivative import follow, held
from mjx_like.collision.convex.feature import Tables
from mjx_like.collision.convex.gjk import Distance
from mjx_like.collision.convex.pose_slopes import Moving, Slopes
from mjx_like.collision.near_rows import near_rows
from mjx_like.collision.portal import portal_contact
from mjx_like.geometry.convex import CORNERED, Convex, convex
from mjx_like.math import safe
from mjx_like.math.one_kernel import one_kernel
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import rows, take
from mjx_like.math.tangent import rate, still
from mjx_like.types.enums import DisableBit, GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import ConvexPlan
from mjx_like.types.topology import Topology

Array = jax.Array

_Found = Nearest | portal_contact.Found


class Points(NamedTuple):
    """Contact points of pairs of a ConvexPlan, with as many slots as `manifold` or `portal_contact` say."""

    dist: Array  # shape (n, slots) [m]
    pos: Array  # shape (n, slots, 3) [m], world
    normal: Array  # shape (n, 3), world; of `portal_contact` (n, slots, 3)
    count: Array  # points of each pair, shape (n,)


class _Fixed(NamedTuple):
    """What is known when a program is compiled."""

    t: Topology
    plan: ConvexPlan
    hard: bool  # whether contact is hard

    @property
    def native(self) -> bool:
        return not self.t.disabled(DisableBit.NATIVECCD)


class _Inputs(NamedTuple):
    """What the points depend on; poses first."""

    pos: Array
    mat: Array
    size: Array
    rbound: Array
    vert: Array
    polynormal: Array
    detect: Array
    tolerance: Array


def convex_points(
    m: Model, plan: ConvexPlan, geom_xpos: Array, geom_xmat: Array, detect: Array
) -> tuple[Points, Near | None]:
    """Return the contact points of all pairs, or of those near each other, and which these are; None for all.

    Pairs that are far apart have no points. Derivatives are those of `follow`, not of the search.

    Args:
      geom_xpos, geom_xmat: poses of all geoms, shapes (ngeom, 3) [m] and (ngeom, 3, 3).
      detect: distance below which each pair is in contact, shape (n,) [m].
    """
    fixed = _Fixed(m.topology, plan, m.hard is not None)
    inputs = _Inputs(
        geom_xpos, geom_xmat, m.geom_size, m.geom_rbound, m.mesh_vert, m.mesh_polynormal, detect,
        jnp.asarray(m.opt.ccd_tolerance),
    )  # fmt: skip
    every = np.arange(plan.pair.size)
    table, limit = box_table(m, geom_xpos, geom_xmat), lax.stop_gradient(detect)

    def by_boxes(pair: Array | np.ndarray) -> Array:
        return box_gap(table, rows(plan.geom, pair)) - rows(limit, pair)

    gap = sphere_gap(m, *plan.geom.T, geom_xpos) - detect
    gap = refined(gap, plan.capacity, lambda: by_boxes(every))
    chosen = near_pairs(gap, plan.capacity) if plan.capacity < plan.pair.size else None
    pair, near = (every, gap <= 0) if chosen is None else (chosen.pair, chosen.used)
    near &= by_boxes(pair) <= 0

    @custom_jvp
    def points(inputs: _Inputs, pair: Array, near: Array) -> tuple[Points, _Found]:
        return _search(fixed, inputs, pair, near)

    @functools.partial(points.defjvp, symbolic_zeros=True)
    def derivative(primals, tangents):
        result, found = held(points(*primals))
        moved = _rates(fixed, primals[0], tangents[0], primals[1], (result, found))
        rest = jax.tree.map(still, (result, found))
        return (result, found), (rest[0]._replace(**moved._asdict()), rest[1])

    return points(inputs, pair, near)[0], chosen


def _rates(fixed: _Fixed, inputs: _Inputs, tangents: Any, pair: Array, held: tuple[Points, _Found]) -> Moving:
    """Return the tangents of the points of some pairs; held: the points, and what was found for them."""

    def follow(inputs: _Inputs, pair: Array, held: tuple[Points, _Found]) -> Moving:
        return _followed(fixed, _couple(fixed, inputs, pair), *held)

    # what a portal leads to is no optimum: it does not move as one body with both geoms
    if not fixed.native or not pose_slopes.suffice(inputs[2:], tangents[2:]):
        return rate(lambda x: jax.vmap(functools.partial(follow, x))(pair, held), inputs, tangents)

    def moved(inputs: _Inputs, pair: Array, held: tuple[Points, _Found]) -> Slopes:
        couple = _couple(fixed, inputs, pair)

        def by_pose(pos: Array, mat: Array) -> Moving:
            return _followed(fixed, couple._replace(a=couple.a._replace(pos=pos, mat=mat, center=pos)), *held)

        return pose_slopes.by_motion(by_pose, couple.a.pos, couple.a.mat)

    slopes = pose_slopes.slopes(moved, inputs, pair, held, held[0].count > 0)
    motion = pose_slopes.motions(inputs.pos, inputs.mat, *tangents[:2])
    return pose_slopes.rates(slopes, motion, inputs.pos, rows(fixed.plan.geom, pair), held[0].count > 0)


def _search(fixed: _Fixed, inputs: _Inputs, pair: Array, near: Array) -> tuple[Points, _Found]:
    """Return the points of some pairs and what was found for each.

    Only pairs that overlap, in their margins at least, go on to the second half of the search.
    """
    if not fixed.native:
        points, found = near_rows(functools.partial(_portal_contact, fixed), near, inputs, pair)
    else:
        (apart,) = near_rows(functools.partial(_apart, fixed), near, inputs, pair)
        near &= (apart.dist < 0) | ccd.overlaps(apart, inputs.tolerance)
        points, found = near_rows(functools.partial(_contact, fixed), near, inputs, (pair, apart))
    return points._replace(dist=jnp.where(near[:, None], points.dist, FAR)), found


def _apart(fixed: _Fixed, inputs: _Inputs, pair: Array) -> tuple[Distance]:
    options = _options(fixed, inputs, pair)
    a, b = (_geom(fixed, inputs, pair, k) for k in (0, 1))
    return (one_kernel(lambda a, b: ccd.apart(a, b, fixed.plan.kinds, **options))(a, b),)


def _contact(fixed: _Fixed, inputs: _Inputs, begun: tuple[Array, Distance]) -> tuple[Points, Nearest]:
    """Return the points of one pair, and what was found; begun: its number, and what `_apart` found."""
    pair, apart = begun
    options, couple, detect = _options(fixed, inputs, pair), _couple(fixed, inputs, pair), rows(inputs.detect, pair)

    def points(a: Convex, b: Convex, found: Nearest) -> Points:
        points, touches = manifold.single(found), found.dist < 0
        if couple.solid is not None:
            flat = manifold.manifold(couple.tables, a, b, couple.solid, found)
            use = (flat.count > 0) & couple.several & touches
            if fixed.hard:
                use, flat = use & manifold.alike(flat, points), manifold.with_deepest(flat, points)
            points = jax.tree.map(lambda x, y: jnp.where(use, x, y), flat, points)
        count = jnp.where(touches, points.count, 0)
        return Points(detect + points.dist, points.pos, points.normal, count)

    # two kernels, so that LLVM can compile them side by side
    found = one_kernel(lambda a, b: ccd.deepest(a, b, fixed.plan.kinds, apart, **options))(couple.a, couple.b)
    return one_kernel(points)(couple.a, couple.b, found), found


def _options(fixed: _Fixed, inputs: _Inputs, pair: Array) -> dict:
    cornered = np.isin(fixed.t.geom_type[fixed.plan.geom], CORNERED).all(axis=1)
    discrete = bool(cornered[0]) if cornered.all() or not cornered.any() else rows(cornered, pair)
    return {"tolerance": inputs.tolerance, "iterations": fixed.t.flags.ccd_iterations, "discrete": discrete}


def _portal_contact(fixed: _Fixed, inputs: _Inputs, pair: Array) -> tuple[Points, _Found]:
    """Return the points of one pair without `nativeccd`, and what was found."""
    a, b = (_geom(fixed, inputs, pair, k) for k in (0, 1))
    reach = jnp.min(inputs.rbound[jnp.asarray(fixed.plan.geom)[pair]])
    several = rows(fixed.plan.several, pair) & (not fixed.t.disabled(DisableBit.MULTICCD))
    options = {"tolerance": inputs.tolerance, "iterations": fixed.t.flags.ccd_iterations}
    found = portal_contact.contacts(a, b, fixed.plan.kinds, reach=reach, several=several, **options)
    dist = jnp.where(np.arange(portal_contact.SLOTS) < found.count, rows(inputs.detect, pair) - found.depth, FAR)
    return Points(dist, found.pos, found.normal, found.count), found


class _Couple(NamedTuple):
    """Two geoms that may touch, and what several points of theirs come from."""

    a: Convex
    b: Convex
    tables: Tables | None
    solid: Array | None  # of both, shape (2,); None where there never are several points
    several: Array  # whether there may be


def _couple(fixed: _Fixed, inputs: _Inputs, pair: Array) -> _Couple:
    a, b = (_geom(fixed, inputs, pair, k) for k in (0, 1))
    flats = bool(fixed.plan.several.any()) and not fixed.t.disabled(DisableBit.MULTICCD)
    tables = None
    if fixed.native:
        tables = corner_tables(fixed.plan, inputs.pos.dtype, inputs.vert, inputs.polynormal)
    return _Couple(a, b, tables, rows(fixed.plan.solid_id, pair) if flats else None, rows(fixed.plan.several, pair))


def _followed(fixed: _Fixed, couple: _Couple, points: Points, found: _Found) -> Moving:
    """Return how the points of one pair follow their geoms, for what was found; zero where there are none.

    Margins are held.
    """
    a, b = (geom._replace(margin=lax.stop_gradient(geom.margin)) for geom in (couple.a, couple.b))
    if not fixed.native:
        used = np.arange(portal_contact.SLOTS) < points.count
        moved = portal_contact.follow(a, b, found)
        return Moving(*(jnp.where(used.reshape(-1, *(1,) * (x.ndim - 1)), x, 0) for x in moved))
    flat = couple.several & (points.count > 1)
    normal = jnp.where(points.count > 0, _unit(found.first - found.second), np.arange(3) == 0)
    found = found._replace(dist=jnp.where(points.count > 0, found.dist, 0))
    moved = follow(a, b, found, normal, couple.tables, couple.solid, flat, fixed.hard)
    return Moving(*(jnp.where(points.count > 0, x, 0) for x in moved))


def _unit(x: Array) -> Array:
    return safe.divide(x, safe.norm(x))


def _geom(fixed: _Fixed, inputs: _Inputs, pair: Array, side: int) -> Convex:
    geom = rows(fixed.plan.geom[:, side], pair)
    kind = rows(fixed.t.geom_type[fixed.plan.geom[:, side]].astype(np.int32), pair)
    vert = None
    if GeomType.MESH in fixed.plan.kinds[side]:
        row = fixed.plan.solid.set_of_mesh[np.maximum(fixed.t.geom_dataid[fixed.plan.geom[:, side]], 0)]
        vert = rows(inputs.vert, rows(fixed.plan.solid.hull, rows(row, pair)))
    return convex(
        kind, rows(inputs.pos, geom), rows(inputs.mat, geom), rows(inputs.size, geom), vert, rows(inputs.detect, pair)
    )


def corner_tables(plan, dtype, vert: Array, polynormal: Array) -> Tables:
    """Return the corners and normals of all solids; plan: what has a SolidPlan; vert, polynormal: of the meshes."""
    corner = np.concatenate([flat_tables.BOX_CORNERS, flat_tables.CAP_CORNERS]).astype(dtype)
    normal = np.concatenate([flat_tables.BOX_NORMALS, flat_tables.CAP_NORMALS]).astype(dtype)
    if plan.solid.vertex.size:
        corner = jnp.concatenate([take(vert, plan.solid.vertex), corner])
    if plan.solid.polygon.size:
        normal = jnp.concatenate([take(polynormal, plan.solid.polygon), normal])
    return Tables(jnp.asarray(corner), jnp.asarray(normal), plan.solid)
