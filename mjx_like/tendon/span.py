"""Pieces of spatial tendons that may wrap around a geom: a site, the geom, a site."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.select import combine, take
from mjx_like.math.vector import pack, unpack
from mjx_like.tendon.wrap import Wrap, wrap
from mjx_like.tree.jacobian import spatial_force, wrench_rows
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


@dataclasses.dataclass(frozen=True)
class Spans:
    """The spans of one world.

    touches: whether the span touches its geom, shape (n,); length: over the pulley's divisor, shape (n,) [m];
    points: the site before, where the path meets and leaves the geom, the site after, shape (4, n, 3) [m];
    force: at each point from a unit of tension that lengthens the tendon, shape (4, n, 3).
    """

    touches: Array
    length: Array
    points: Array
    force: Array


def spans(m: Model, d: Data) -> Spans:
    """Return lengths and forces of all spans around geoms.

    Reads site_xpos, geom_xpos, geom_xmat.  Source: mj_tendon.
    """
    plan = m.plans.tendon
    start, stop = (take(d.site_xpos, plan.span_site[:, k]) for k in (0, 1))
    path = _wrapped(m, d, start, stop)
    touches = path.touches[:, None]
    first, last = pack(path.first), pack(path.last)
    inward, before = safe.normalize(jnp.where(touches, first, stop) - start)
    outward, after = safe.normalize(stop - jnp.where(touches, last, start))
    scale = safe.ratio(1, take(jnp.concatenate([jnp.ones(1, m.wrap_prm.dtype), m.wrap_prm]), plan.span_pulley))
    length = before[:, 0] + jnp.where(path.touches, path.arc + after[:, 0], 0)
    inward, outward = inward * scale[:, None], outward * scale[:, None]
    return Spans(
        touches=path.touches,
        length=length * scale,
        points=jnp.stack([start, first, last, stop]),
        force=jnp.stack([-inward, jnp.where(touches, inward, 0), jnp.where(touches, -outward, 0), outward]),
    )


def span_rows(m: Model, d: Data, s: Spans) -> tuple[Array, Array]:
    """Return what the spans add to the lengths, shape (ntendon,) [m], and to the Jacobian, shape (ntendon, nv).

    Reads subtree_com, cdof.
    """
    plan = m.plans.tendon
    body, none = plan.span_body, jnp.zeros_like(s.force[0])
    before, meet, leave, after = (
        spatial_force(m, d, body[:, k], s.points[i], s.force[i], none) for i, k in enumerate((0, 2, 2, 1))
    )
    moves = plan.span_moves
    rows = (
        wrench_rows(m, d, before, moves[:, 0])
        + wrench_rows(m, d, after, moves[:, 1])
        + wrench_rows(m, d, meet + leave, moves[:, 2])
    )
    return combine(plan.span_tendon, s.length), combine(plan.span_tendon, rows)


def path_points(m: Model, d: Data, s: Spans) -> dict[str, Array]:
    """Return the fields of Data with the points of all paths, those on geoms only where the tendon touches them."""
    plan = m.plans.tendon
    num = plan.wrapnum + 2 * combine(plan.span_tendon, s.touches.astype(jnp.float32)).astype(jnp.int32)
    there = take(jnp.append(s.touches, True), plan.point_span)
    count = jnp.cumsum(there.astype(jnp.int32))
    source = jnp.searchsorted(count, np.arange(1, 2 * m.nwrap + 1), method="scan_unrolled")
    known = jnp.concatenate([d.site_xpos, jnp.zeros((1, 3), d.site_xpos.dtype), s.points[1], s.points[2]])
    points = jnp.concatenate([take(known, plan.point_row), jnp.zeros((1, 3), known.dtype)])
    return dict(
        ten_wrapnum=num,
        ten_wrapadr=jnp.cumsum(num) - num,
        wrap_obj=jnp.asarray(np.append(plan.point_obj, 0), jnp.int32)[source].reshape(m.nwrap, 2),
        wrap_xpos=points[source].reshape(m.nwrap, 6),
    )


def _wrapped(m: Model, d: Data, start: Array, stop: Array) -> Wrap:
    plan = m.plans.tendon
    frame = take(d.geom_xmat, plan.span_geom)
    has = plan.span_site[:, 2] >= 0
    side = has, unpack(take(d.site_xpos, np.maximum(plan.span_site[:, 2], 0)))
    return wrap(
        unpack(start),
        unpack(stop),
        unpack(take(d.geom_xpos, plan.span_geom)),
        tuple(unpack(frame[:, :, k]) for k in range(3)),
        take(m.geom_size[:, 0], plan.span_geom),
        plan.span_cylinder,
        side if has.any() else None,
    )
