"""The plan of tendon/: terms of fixed tendons, straight segments and wrapping geoms of spatial ones, path points."""

import numpy as np

from mjx_like.types.enums import WrapType
from mjx_like.types.plans import TendonPlan
from mjx_like.types.topology import Topology

_GEOMS = (WrapType.SPHERE, WrapType.CYLINDER)
WRAPS = (WrapType.JOINT, WrapType.PULLEY, WrapType.SITE, *_GEOMS)  # what a tendon is made of


def make_plan(t: Topology) -> TendonPlan:
    """Return the TendonPlan of a Topology."""
    fixed, segments, spans = [], [], []
    for i in range(t.ntendon):
        entries = range(t.tendon_adr[i], t.tendon_adr[i] + t.tendon_num[i])
        if t.wrap_type[entries[0]] == WrapType.JOINT:
            fixed += [(i, w) for w in entries]
        else:
            own_segments, own_spans = _pieces(t, i, entries)
            segments, spans = segments + own_segments, spans + own_spans
    return TendonPlan(**_fixed(t, fixed), **_segments(t, segments), **_spans(t, spans), **_points(t, spans))


def _pieces(t: Topology, tendon: int, entries: range) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the straight segments of a path and its spans around geoms.

    A segment: (tendon, site, site, row of [1, wrap_prm] of the divisor); a span: the same and the path entry of the
    geom.
    """
    segments, spans, pulley, before, around = [], [], 0, None, None
    for w in entries:
        if t.wrap_type[w] == WrapType.PULLEY:
            pulley, before = 1 + w, None
        elif t.wrap_type[w] in _GEOMS:
            around = w
        elif around is not None:
            spans.append((tendon, before, t.wrap_objid[w], pulley, around))
            before, around = t.wrap_objid[w], None
        else:
            if before is not None:
                segments.append((tendon, before, t.wrap_objid[w], pulley))
            before = t.wrap_objid[w]
    return segments, spans


def _fixed(t: Topology, terms: list[tuple[int, int]]) -> dict:
    table = np.array(terms, np.int32).reshape(-1, 2)
    joint = t.wrap_objid[table[:, 1]]
    return dict(
        fixed_wrap=table[:, 1],
        fixed_qposadr=t.jnt_qposadr[joint],
        fixed_tendon=(np.arange(t.ntendon)[:, None] == table[:, 0]).astype(float),
        fixed_dof=(t.jnt_dofadr[joint][:, None] == np.arange(t.nv)).astype(float),
    )


def _segments(t: Topology, segments: list[tuple[int, ...]]) -> dict:
    table = np.array(segments, np.int32).reshape(-1, 4)
    body = t.site_bodyid[table[:, 1:3]] if t.nsite else np.zeros((0, 2), np.int32)
    moves = moving_dofs(t, body)
    return dict(
        segment_site=table[:, 1:3],
        segment_body=body,
        segment_tendon=(np.arange(t.ntendon)[:, None] == table[:, 0]).astype(float),
        segment_pulley=table[:, 3],
        segment_moves=moves & ~moves[:, ::-1],
    )


def _spans(t: Topology, spans: list[tuple[int, ...]]) -> dict:
    table = np.array(spans, np.int32).reshape(-1, 5)
    geom, side = t.wrap_objid[table[:, 4]], t.wrap_sideid[table[:, 4]]
    body = np.concatenate(
        [t.site_bodyid[table[:, 1:3]] if t.nsite else np.zeros((0, 2), np.int32), t.geom_bodyid[geom][:, None]], axis=1
    )
    moves = moving_dofs(t, body)
    return dict(
        span_site=np.concatenate([table[:, 1:3], side[:, None]], axis=1),
        span_geom=geom,
        span_cylinder=t.wrap_type[table[:, 4]] == WrapType.CYLINDER,
        span_body=body,
        span_tendon=(np.arange(t.ntendon)[:, None] == table[:, 0]).astype(float),
        span_pulley=table[:, 3],
        span_moves=moves & ~moves.all(axis=1, keepdims=True),
    )


def moving_dofs(t: Topology, body: np.ndarray) -> np.ndarray:
    """Return a mask of the dofs that move each body, shape (*body.shape, nv)."""
    mask = np.zeros((t.nbody, t.nv), bool)
    for b in range(1, t.nbody):
        mask[b] = mask[t.body_parentid[b]]
        mask[b, t.body_dofadr[b] : t.body_dofadr[b] + t.body_dofnum[b]] = True
    return mask[body]


def _points(t: Topology, spans: list[tuple[int, ...]]) -> dict:
    """Lay out the points of all paths as if every span touched its geom."""
    order, nspan = {span[4]: k for k, span in enumerate(spans)}, len(spans)
    num, row, span, obj = np.zeros(t.ntendon, np.int32), [], [], []
    for i in range(t.ntendon):
        for w in range(t.tendon_adr[i], t.tendon_adr[i] + t.tendon_num[i]):
            if w in order:
                k = order[w]
                row += [t.nsite + 1 + k, t.nsite + 1 + nspan + k]
                span += [k, k]
                obj += [t.wrap_objid[w]] * 2
            elif t.wrap_type[w] in (WrapType.SITE, WrapType.PULLEY):
                pulley = t.wrap_type[w] == WrapType.PULLEY
                num[i] += 1
                row.append(t.nsite if pulley else t.wrap_objid[w])
                span.append(nspan)
                obj.append(-2 if pulley else -1)
    return dict(
        wrapnum=num,
        point_row=np.array(row, np.int32),
        point_span=np.array(span, np.int32),
        point_obj=np.array(obj, np.int32),
    )
