"""Where two moving geoms nearly touch: conservative advancement of convex pairs within a step.

Source: Computation chapter, Speculative contacts; where it is silent, MuJoCo 4.0.0 decides.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import distance_search
from mjx_like.collision.convex import gjk, manifold
from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.convex_pair import corner_tables
from mjx_like.collision.convex.gjk import Corners
from mjx_like.geometry.convex import CORNERED, Convex, core, pair, support
from mjx_like.math import quaternion, safe
from mjx_like.math.linalg import dot
from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import SpeculativePlan

Array = jax.Array

_TARGET = 0.02  # of the first distance above the margin, where the advancement ends
_NEAR = 0.01  # how near to that, in the same units
_STEPS = 100
_CUTOFF = 1e10
_GROWN = 1e-6  # by which layers overlap [m]


class Motion(NamedTuple):
    """How one geom of each pair moves in a step."""

    shift: Array  # of its centre, shape (n, 3) [m]
    angular: Array  # rotation vector, shape (n, 3) [rad]; 0 of a sphere
    spin: Array  # how far the rotation moves a point at most, shape (n,) [m]
    sweep: Array  # how far all of it, shape (n,) [m]
    fast: Array  # whether that is farther than it is thick


class Impact(NamedTuple):
    """Where the advancement of one pair ended."""

    time: Array  # share of the step
    dist: Array  # there [m]
    start: Array  # distance at the start of the step [m]
    speed: Array  # by which the distance shrinks, per step [m]
    normal: Array
    ends: Array  # points of both geoms, in their frames, shape (2, slots, 3); the nearest first
    middle: Array  # the nearest points themselves, shape (2, 3)
    used: Array  # which ends are contacts, shape (slots,)
    hits: Array


def motion(m: Model, d: Data, geom: np.ndarray) -> Motion:
    """Return how geoms move in a step at the velocities of the state."""
    body = m.geom_bodyid[geom]
    velocity = take(combine(m.plans.smooth.velocity_mask, d.cdof * d.qvel[:, None])[: m.nbody], body)
    arm = take(d.geom_xpos, geom) - take(d.subtree_com, m.body_rootid[body])
    step = m.opt.timestep
    round_ = np.isin(m.geom_type[geom], (GeomType.SPHERE, GeomType.PLANE))[:, None]
    angular = jnp.where(round_, 0, step * velocity[:, :3])
    shift = step * (velocity[:, 3:] + jnp.cross(velocity[:, :3], arm))
    spin = jnp.where(round_[:, 0], 0, safe.norm(angular) * take(m.geom_rbound, geom))
    sweep = safe.norm(shift) + spin
    thick = jnp.min(take(m.geom_aabb, geom)[:, 3:], axis=1)
    return Motion(shift, angular, *lax.stop_gradient((spin, sweep, sweep > thick)))


def meet(m: Model, d: Data, plan: SpeculativePlan, first: Motion, second: Motion, reach: Array) -> Array:
    """Return whether the bounding spheres of pairs meet within the step, or a sphere meets a plane."""
    one, two = plan.geom.T
    apart = take(d.geom_xpos, two) - take(d.geom_xpos, one)
    move = second.shift - first.shift
    square = jnp.sum(move * move, axis=1)
    when = jnp.clip(safe.divide(-jnp.sum(apart * move, axis=1), square), 0, 1)
    bound = take(m.geom_rbound, two) + reach
    spheres = safe.norm(apart + when[:, None] * move) <= bound + take(m.geom_rbound, one)
    normal = take(d.geom_xmat, one)[..., 2]
    height = jnp.sum(apart * normal, axis=1)
    plane = jnp.minimum(height, height + jnp.sum(move * normal, axis=1)) <= bound
    return jnp.where(m.geom_type[one] == GeomType.PLANE, plane, spheres)


def impacts(m: Model, d: Data, plan: SpeculativePlan, first, second, margin: Array, near: Array) -> Impact:
    """Return where the advancement of all pairs ends; what is not near is not advanced."""
    flat = m.geom_type[plan.geom[:, 0]] == GeomType.PLANE
    a, b = (distance_search.convex_geoms(m, d, plan.geom[:, k]) for k in (0, 1))
    normal = take(d.geom_xmat, plan.geom[:, 0])[..., 2]
    tables = corner_tables(plan, d.geom_xpos.dtype, m.mesh_vert, m.mesh_polynormal)
    cornered = np.isin(m.geom_type[plan.geom], CORNERED).all(axis=1)
    several = not m.disabled(DisableBit.MULTICCD)

    def one(a, b, normal, flat, cornered, solid, first, second, margin, near):
        def look(time: Array, nearest: Array):
            geoms = _moved(a, first, time, nearest[0]), _moved(b, second, time, nearest[1])
            found, within = _separation(m, plan, *geoms, normal, flat, cornered)
            out = jnp.where(flat, normal, safe.normalize(found.second - found.first)[0])
            nearest = jnp.concatenate([_local(g, x[None]) for g, x in zip(geoms, within, strict=True)])
            return nearest, (geoms, found, out)

        time, arrived, start, (geoms, found, out) = _advanced(look, first, second, margin, near)
        motions, witness = (first, second), (found.first, found.second)
        there = [v.shift + jnp.cross(v.angular, x - g.pos) for v, x, g in zip(motions, witness, geoms, strict=True)]
        mean = (start - found.dist) / jnp.where(time > 0, time, 1)
        speed = jnp.maximum(mean, dot(out, there[0] - there[1]))
        single = jnp.stack([jnp.broadcast_to(x, (manifold.SLOTS, 3)) for x in witness])
        used = np.arange(manifold.SLOTS) == 0
        if plan.several.any():
            reach = (1 - time) * speed + 2 * found.dist + _GROWN
            ends, count = manifold.ends(tables, *geoms, solid, found, out, reach, flat)
            many = (count > 0) & (several | flat)
            single = jnp.where(many, ends, single)
            used = jnp.where(many, np.arange(manifold.SLOTS) < count, used)
        ends, middle = (
            jnp.stack([_local(g, points) for g, points in zip(geoms, both, strict=True)])
            for both in (single, jnp.stack(witness)[:, None])
        )
        return Impact(time, found.dist, start, speed, out, ends, middle[:, 0], used, arrived & (time > 0))

    return jax.vmap(one)(a, b, normal, flat, cornered, plan.solid_id, first, second, margin, near)


def _moved(geom: Convex, motion: Motion, time: Array, nearest: Array) -> Convex:
    """Return a geom after a share of the step; its searches begin at what was nearest, in its frame."""
    pos = geom.pos + time * motion.shift
    mat = quaternion.matrix(quaternion.from_rotation_vector(time * motion.angular)) @ geom.mat
    return geom._replace(pos=pos, center=pos + jnp.sum(mat * nearest, axis=1), mat=mat)


def _advanced(look, first: Motion, second: Motion, margin: Array, near: Array):
    """Return the time at the end, whether the geoms nearly touch there, the first distance, and what was seen last.

    look: from the time and what was nearest, shape (2, 3), to what is nearest and (geoms, Nearest, direction).
    """
    apart = first.shift - second.shift
    spin = first.spin + second.spin
    most = safe.norm(apart) + spin

    def body(state):
        time, _, start, count, _, nearest, _ = state
        nearest, seen = look(time, nearest)
        _, found, out = seen
        start = jnp.where(count == 0, found.dist, start)
        above, whole = found.dist - margin, start - margin
        arrived = above - _TARGET * whole <= _NEAR * whole
        closing = dot(out, apart) + spin
        lost = (closing <= 0) | (found.dist <= margin) | (above > (1 - time) * most)
        onward = time + (above - _TARGET * whole) / jnp.where(lost, 1, closing)
        ends = arrived | lost | (onward >= 1) | (count + 1 >= _STEPS)
        return jnp.where(ends, time, onward), arrived & ~lost, start, count + 1, ends, nearest, seen

    # each search starts from what was nearest in the last one, the first from the centres
    zero, centers = jnp.zeros_like(margin), jnp.zeros((2, 3), margin.dtype)
    blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(look, zero, centers)[1])
    begin = zero, jnp.zeros((), bool), zero, jnp.zeros((), jnp.int32), ~near, centers, blank
    time, arrived, start, *_, seen = lax.while_loop(lambda s: ~s[4], body, begin)
    return time, arrived, start, seen


def _separation(
    m: Model, plan: SpeculativePlan, a: Convex, b: Convex, normal, flat, cornered
) -> tuple[Nearest, tuple[Array, Array]]:
    """Return the nearest points of two geoms that are apart, and of the points and segments within round ones.

    The first may be a plane.
    """
    lowest = support(b, plan.kinds[1], -normal, jnp.full((), -1, jnp.int32))
    height = dot(lowest.point - a.pos, normal)
    rows = jnp.concatenate([lowest.point - height * normal, lowest.point, jnp.full(2, lowest.index)])
    plane = Nearest(height, lowest.point - height * normal, lowest.point, Corners(jnp.broadcast_to(rows, (3, 8))), flat)
    if not plan.kinds[0]:
        return plane, (plane.first, plane.second)
    solid = a._replace(kind=jnp.where(flat, GeomType.SPHERE, a.kind), size=jnp.where(flat, 1, a.size))
    found = gjk.distance(pair(solid, b), (plan.kinds[0], plan.kinds[1]), tolerance=m.opt.ccd_tolerance,
                         iterations=m.flags.ccd_iterations, cutoff=_CUTOFF, discrete=cornered)  # fmt: skip
    rows = jnp.where(found.count > np.arange(3), np.arange(3), 0)
    step = jnp.where(found.reduced, safe.normalize(found.second - found.first)[0], 0)
    within = found.first - core(solid)[1] * step, found.second + core(b)[1] * step
    found = Nearest(found.dist, found.first, found.second, Corners(found.simplex.table[rows]), flat)
    return jax.tree.map(lambda x, y: jnp.where(flat, x, y), plane, found), within


def _local(geom: Convex, points: Array) -> Array:
    """Return points of the world in the frame of a geom, shape (k, 3)."""
    return jnp.sum(geom.mat[None] * (points - geom.pos)[:, :, None], axis=1)
