"""The plan of tendon/: terms of fixed tendons, straight segments of spatial ones, wrap tables."""

import numpy as np

from mjx_like.types.enums import DisableBit, ObjType, WrapType
from mjx_like.types.plans import TendonPlan
from mjx_like.types.topology import Topology

_GEOMS = (WrapType.SPHERE, WrapType.CYLINDER)


def make_plan(t: Topology) -> TendonPlan:
    """Return the TendonPlan of a Topology."""
    fixed, segments, paths = [], [], []
    for i in range(t.ntendon):
        entries = range(t.tendon_adr[i], t.tendon_adr[i] + t.tendon_num[i])
        if t.wrap_type[entries[0]] == WrapType.JOINT:
            fixed += [(i, w) for w in entries]
            paths.append([])
        else:
            segments += _segments(t, i, entries)
            paths.append([-1 if t.wrap_type[w] == WrapType.PULLEY else t.wrap_objid[w] for w in entries])
    return TendonPlan(**_fixed(t, fixed), **_spatial(t, segments), **_wraps(t, paths))


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return what of the tendons the engine cannot run yet."""
    lacks = []
    for i in range(t.ntendon):
        name = t.names[ObjType.TENDON][i] or i
        entries = slice(t.tendon_adr[i], t.tendon_adr[i] + t.tendon_num[i])
        if np.isin(t.wrap_type[entries], _GEOMS).any():
            lacks.append(f"tendon {name!r}: wrapping around geoms is not built yet")
        if t.has["tendon_springyield"][i] and not t.disabled(DisableBit.SPRING):
            lacks.append(f"tendon {name!r}: springyield is not built yet")
    return tuple(lacks)


def _segments(t: Topology, tendon: int, entries: range) -> list[tuple[int, int, int, int]]:
    """Return (tendon, site, site, row of [1, wrap_prm] of the divisor) of each straight piece, geoms left out."""
    out, pulley, before = [], 0, None
    for w in entries:
        if t.wrap_type[w] == WrapType.PULLEY:
            pulley, before = 1 + w, None
        elif t.wrap_type[w] == WrapType.SITE:
            if before is not None:
                out.append((tendon, before, t.wrap_objid[w], pulley))
            before = t.wrap_objid[w]
    return out


def _fixed(t: Topology, terms: list[tuple[int, int]]) -> dict:
    table = np.array(terms, np.int32).reshape(-1, 2)
    joint = t.wrap_objid[table[:, 1]]
    return dict(
        fixed_wrap=table[:, 1],
        fixed_qposadr=t.jnt_qposadr[joint],
        fixed_tendon=(np.arange(t.ntendon)[:, None] == table[:, 0]).astype(float),
        fixed_dof=(t.jnt_dofadr[joint][:, None] == np.arange(t.nv)).astype(float),
    )


def _spatial(t: Topology, segments: list[tuple[int, int, int, int]]) -> dict:
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


def moving_dofs(t: Topology, body: np.ndarray) -> np.ndarray:
    """Return a mask of the dofs that move each body, shape (*body.shape, nv)."""
    mask = np.zeros((t.nbody, t.nv), bool)
    for b in range(1, t.nbody):
        mask[b] = mask[t.body_parentid[b]]
        mask[b, t.body_dofadr[b] : t.body_dofadr[b] + t.body_dofnum[b]] = True
    return mask[body]


def _wraps(t: Topology, paths: list[list[int]]) -> dict:
    num = np.array([len(p) for p in paths], np.int32)
    points = np.array([site for path in paths for site in path], np.int32)[: 2 * t.nwrap]
    wrap_obj, wrap_site = np.zeros(2 * t.nwrap, np.int32), np.full(2 * t.nwrap, t.nsite)
    wrap_obj[: points.size] = np.where(points < 0, -2, -1)
    wrap_site[: points.size] = np.where(points < 0, t.nsite, points)
    return dict(
        wrapadr=np.cumsum(num, dtype=np.int32) - num,
        wrapnum=num,
        wrap_obj=wrap_obj.reshape(t.nwrap, 2),
        wrap_site=wrap_site,
    )
