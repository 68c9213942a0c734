"""Contacts before an impact, of geoms that move farther in a step than they are thick.

Both geoms move at their velocity; conservative advancement finds when they are nearly at their margin. What is nearest
there, put back to where it is now, is the contact; its distance is such that the solver leaves the rest of the way.
Source: Computation chapter, Speculative contacts; where it is silent, MuJoCo 4.0.0 decides.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import gjk, manifold, separation
from mjx_like.collision.ccd import Nearest
from mjx_like.collision.convex import corner_tables
from mjx_like.collision.gjk import Corners
from mjx_like.collision.mixing import PairParameters
from mjx_like.collision.simplex import dot
from mjx_like.constants import MAXIMP, MINIMP, MINVAL
from mjx_like.geometry.convex import Convex, core, support
from mjx_like.math import quaternion, safe
from mjx_like.math.select import combine, take
from mjx_like.ray.stage import cast
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GeomType, IntegratorType
from mjx_like.types.model import Model
from mjx_like.types.plans import SpeculativePlan

Array = jax.Array

_TARGET = 0.02  # of the first distance above the margin, where the advancement ends
_NEAR = 0.01  # how near to that, in the same units
_STEPS = 100
_CUTOFF = 1e10
_GROWN = 1e-6  # by which layers overlap [m]
_SOFT = 1e-3  # depth of a contact without stiffness [m]


class Speculation(NamedTuple):
    """The contacts of all pairs of a plan, up to `manifold.SLOTS` each."""

    active: Array  # shape (n, slots)
    dist: Array  # shape (n,) [m]
    pos: Array  # shape (n, slots, 3) [m], world
    normal: Array  # shape (n, 3), world


class _Motion(NamedTuple):
    """How one geom of each pair moves in a step."""

    shift: Array  # of its centre, shape (n, 3) [m]
    turn: Array  # rotation vector, shape (n, 3) [rad]; 0 of a sphere
    spin: Array  # how far the turn moves a point at most, shape (n,) [m]
    sweep: Array  # how far all of it, shape (n,) [m]
    fast: Array  # whether that is farther than it is thick


class _Impact(NamedTuple):
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


def speculate(m: Model, d: Data, plan: SpeculativePlan, parameters: PairParameters, touching: Array) -> Speculation:
    """Return the speculative contacts of all pairs of a plan.

    Args:
      parameters: of all candidate pairs.
      touching: which candidate pairs have a contact below their margin, shape (npair,).

    Derivatives are those of a straight way to the impact, with what is nearest there held.
    Reads geom_xpos, geom_xmat, subtree_com, cdof, qvel.
    """
    first, second = (_motion(m, d, plan.geom[:, k]) for k in (0, 1))
    margin = take(parameters.margin, plan.pair)
    reach = margin + take(parameters.detect - parameters.margin, plan.pair)
    near = (first.fast | second.fast) & ~take(touching, plan.pair) & _meet(m, d, plan, first, second, reach)
    stopped = lax.stop_gradient((m, d, first, second, margin))
    impact = _impacts(stopped[0], stopped[1], plan, *stopped[2:], lax.stop_gradient(near))
    impact = lax.stop_gradient(impact)
    hits = near & impact.hits & _in_sight(m, d, plan, impact.middle)

    place = [take(d.geom_xpos, plan.geom[:, k]) for k in (0, 1)]
    frame = [take(d.geom_xmat, plan.geom[:, k]) for k in (0, 1)]
    rigid = [_carried(place[k], frame[k], impact.ends[:, k]) for k in (0, 1)]
    middle = [_carried(place[k], frame[k], impact.middle[:, k : k + 1])[:, 0] for k in (0, 1)]
    share = lax.stop_gradient(first.sweep / jnp.maximum(first.sweep + second.sweep, MINVAL))[:, None, None]
    pos = share * rigid[0] + (1 - share) * rigid[1]

    speeds = [v.shift + jnp.cross(v.turn, x - c) for v, x, c in zip((first, second), middle, place, strict=True)]
    gap = dot(impact.normal, middle[1] - middle[0])
    speed = dot(impact.normal, speeds[0] - speeds[1])
    gap, speed = (x - lax.stop_gradient(x) for x in (gap, speed))
    left = 1 - impact.dist / jnp.where(hits, impact.start, 1)
    time = impact.time + (left * gap - impact.time * speed) / jnp.where(hits, impact.speed, 1)
    dist = margin - _depth(
        m, *(take(x, plan.pair) for x in (parameters.solref, parameters.solimp[:, 1])), time, impact.speed + speed
    )
    return Speculation(
        impact.used & hits[:, None],
        jnp.where(hits, dist, 0),
        jnp.where(hits[:, None, None], pos, 0),
        jnp.where(hits[:, None], impact.normal, np.arange(3) == 0),
    )


def _motion(m: Model, d: Data, geom: np.ndarray) -> _Motion:
    """Return how geoms move in a step at the velocities of the state."""
    body = m.geom_bodyid[geom]
    velocity = take(combine(m.plans.smooth.velocity_mask, d.cdof * d.qvel[:, None])[: m.nbody], body)
    arm = take(d.geom_xpos, geom) - take(d.subtree_com, m.body_rootid[body])
    step = m.opt.timestep
    round_ = np.isin(m.geom_type[geom], (GeomType.SPHERE, GeomType.PLANE))[:, None]
    turn = jnp.where(round_, 0, step * velocity[:, :3])
    shift = step * (velocity[:, 3:] + jnp.cross(velocity[:, :3], arm))
    spin = jnp.where(round_[:, 0], 0, safe.norm(turn) * take(m.geom_rbound, geom))
    sweep = safe.norm(shift) + spin
    thick = jnp.min(take(m.geom_aabb, geom)[:, 3:], axis=1)
    return _Motion(shift, turn, *lax.stop_gradient((spin, sweep, sweep > thick)))


def _meet(m: Model, d: Data, plan: SpeculativePlan, first: _Motion, second: _Motion, reach: Array) -> Array:
    """Return whether the bounding spheres of pairs meet within the step, or a sphere meets a plane."""
    one, two = plan.geom.T
    apart = take(d.geom_xpos, two) - take(d.geom_xpos, one)
    move = second.shift - first.shift
    square = jnp.sum(move * move, axis=1)
    when = jnp.clip(-jnp.sum(apart * move, axis=1) / jnp.where(square > 0, square, 1), 0, 1)
    bound = take(m.geom_rbound, two) + reach
    spheres = safe.norm(apart + when[:, None] * move) <= bound + take(m.geom_rbound, one)
    normal = take(d.geom_xmat, one)[..., 2]
    height = jnp.sum(apart * normal, axis=1)
    plane = jnp.minimum(height, height + jnp.sum(move * normal, axis=1)) <= bound
    return jnp.where(m.geom_type[one] == GeomType.PLANE, plane, spheres)


def _impacts(m: Model, d: Data, plan: SpeculativePlan, first, second, margin: Array, near: Array) -> _Impact:
    """Return where the advancement of all pairs ends; what is not near is not advanced."""
    flat = m.geom_type[plan.geom[:, 0]] == GeomType.PLANE
    a, b = (separation.convex_geoms(m, d, plan.geom[:, k]) for k in (0, 1))
    normal = take(d.geom_xmat, plan.geom[:, 0])[..., 2]
    tables = corner_tables(m.topology, plan, d.geom_xpos.dtype, m.mesh_vert, m.mesh_polynormal)
    cornered = np.isin(m.geom_type[plan.geom], (GeomType.BOX, GeomType.MESH)).all(axis=1)
    several = not m.disabled(DisableBit.MULTICCD)

    def one(a, b, normal, flat, cornered, solid, first, second, margin, near):
        def moved(geom: Convex, motion: _Motion, time: Array, nearest: Array) -> Convex:
            pos = geom.pos + time * motion.shift
            turn = quaternion.matrix(quaternion.from_rotation_vector(time * motion.turn))
            mat = turn @ geom.mat
            return geom._replace(pos=pos, center=pos + jnp.sum(mat * nearest, axis=1), mat=mat)

        apart = first.shift - second.shift
        most = safe.norm(apart) + first.spin + second.spin

        def look(time: Array, nearest: Array):
            geoms = moved(a, first, time, nearest[0]), moved(b, second, time, nearest[1])
            found, within = _separation(m, plan, *geoms, normal, flat, cornered)
            out = jnp.where(flat, normal, safe.normalize(found.second - found.first)[0])
            nearest = jnp.concatenate([_local(g, x[None]) for g, x in zip(geoms, within, strict=True)])
            return nearest, (geoms, found, out)

        def body(state):
            time, _, start, count, _, nearest, _ = state
            nearest, seen = look(time, nearest)
            _, found, out = seen
            start = jnp.where(count == 0, found.dist, start)
            above, whole = found.dist - margin, start - margin
            arrived = above - _TARGET * whole <= _NEAR * whole
            closing = dot(out, apart) + first.spin + second.spin
            lost = (closing <= 0) | (found.dist <= margin) | (above > (1 - time) * most)
            onward = time + (above - _TARGET * whole) / jnp.where(lost, 1, closing)
            ends = arrived | lost | (onward >= 1) | (count + 1 >= _STEPS)
            return jnp.where(ends, time, onward), arrived & ~lost, start, count + 1, ends, nearest, seen

        # each search starts from what was nearest in the last one, the first from the centres
        zero, centers = jnp.zeros_like(margin), jnp.zeros((2, 3), margin.dtype)
        blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(look, zero, centers)[1])
        begin = zero, jnp.zeros((), bool), zero, jnp.zeros((), jnp.int32), ~near, centers, blank
        time, arrived, start, *_, (geoms, found, out) = lax.while_loop(lambda s: ~s[4], body, begin)
        motions, witness = (first, second), (found.first, found.second)
        there = [v.shift + jnp.cross(v.turn, x - g.pos) for v, x, g in zip(motions, witness, geoms, strict=True)]
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
        return _Impact(time, found.dist, start, speed, out, ends, middle[:, 0], used, arrived & (time > 0))

    return jax.vmap(one)(a, b, normal, flat, cornered, plan.solid_id, first, second, margin, near)


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
    found = gjk.distance(solid, b, (plan.kinds[0], plan.kinds[1]), tolerance=m.opt.ccd_tolerance,
                         iterations=m.flags.ccd_iterations, cutoff=_CUTOFF, discrete=cornered)  # fmt: skip
    rows = jnp.where(found.count > np.arange(3), np.arange(3), 0)
    step = jnp.where(found.reduced, safe.normalize(found.second - found.first)[0], 0)
    within = found.first - core(solid)[1] * step, found.second + core(b)[1] * step
    found = Nearest(found.dist, found.first, found.second, Corners(found.simplex.table[rows]), flat)
    return jax.tree.map(lambda x, y: jnp.where(flat, x, y), plane, found), within


def _local(geom: Convex, points: Array) -> Array:
    """Return points of the world in the frame of a geom, shape (k, 3)."""
    return jnp.sum(geom.mat[None] * (points - geom.pos)[:, :, None], axis=1)


def _carried(place: Array, frame: Array, local: Array) -> Array:
    """Return points of geoms in the world, shape (n, k, 3)."""
    return place[:, None] + jnp.sum(frame[:, None] * local[:, :, None, :], axis=3)


def _in_sight(m: Model, d: Data, plan: SpeculativePlan, middle: Array) -> Array:
    """Return whether no other geom that both can touch stands between the nearest points of pairs."""
    if not plan.blocks.any():
        return jnp.ones(plan.pair.size, bool)
    one, two = (
        _carried(take(d.geom_xpos, plan.geom[:, k]), take(d.geom_xmat, plan.geom[:, k]), middle[:, k : k + 1])[:, 0]
        for k in (0, 1)
    )
    dist, _, _ = lax.stop_gradient(cast(m, d, one, two - one, plan.blocks))
    return (dist < 0) | (dist > 1)


def _depth(m: Model, solref: Array, largest: Array, time: Array, speed: Array) -> Array:
    """Return how deep contacts must count, shape (n,) [m], for the solver to leave `time` of their speed.

    largest: impedance, shape (n,). The discrete integrator keeps springs no stiffer than one step resolves.
    """
    step = m.opt.timestep
    ratio, lag = solref[:, 1], solref[:, 0]
    standard = lag > 0
    discrete = m.flags.integrator == IntegratorType.DISCRETE
    lag = lag if discrete or m.disabled(DisableBit.REFSAFE) else jnp.maximum(lag, 2 * step)
    lag = jnp.where(standard, lag, 1)
    damp = jnp.where(standard, 2 * step / lag, -ratio * step)
    stiff = jnp.where(standard, (step / (lag * jnp.where(standard, ratio, 1))) ** 2, -solref[:, 0] * step * step)
    if discrete and not m.disabled(DisableBit.REFSAFE):
        excess = stiff / jnp.clip(largest, MINIMP, MAXIMP)
        excess = jnp.where(standard & (excess > 1), excess, 1)
        damp, stiff = damp / jnp.sqrt(excess), stiff / excess
    rest = 1 - time - (time * (damp + stiff) if discrete else damp)
    soft = stiff <= MINVAL
    return jnp.where(soft, _SOFT, rest / jnp.where(soft, 1, stiff) * speed)
