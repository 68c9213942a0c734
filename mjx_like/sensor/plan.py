"""The plan of sensor/: sensors grouped by stage and kind, and where their values go."""

import itertools

import numpy as np

from mjx_like.sensor.distance import distance_pairs
from mjx_like.sensor.table import SENSORS
from mjx_like.tree.history import history_groups
from mjx_like.types.enums import Attachment, DataType, DisableBit, ObjType, SensorType, Stage
from mjx_like.types.plans import HistoryGroup, SensorGroup, SensorPlan, SensorStage
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> SensorPlan:
    """Return the SensorPlan of a Topology; it is empty where sensors are disabled."""
    history = history_groups(t.sensor_history, t.sensor_historyadr, t.sensor_dim)
    pos, vel, acc = (_stage(t, _members(t, stage), history) for stage in (Stage.POS, Stage.VEL, Stage.ACC))
    late = [i for i in np.flatnonzero(t.has["sensor_delay"]) if _runs(t, i)]
    return SensorPlan(
        pos=pos,
        vel=vel,
        acc=acc,
        history=history,
        delayed=_stage(t, late, history),
        touch=_touch(t, acc),
        contact_geoms=_contact_geoms(t),
        distance=_distance_pairs(t),
        enclosed=_enclosed(t),
    )


def _touch(t: Topology, acc: SensorStage) -> np.ndarray:
    """Return the indices, in their group, of the touch sensors of each body; a last row for no body."""
    site = next((group.objid for group in acc.groups if group.type == SensorType.TOUCH), np.zeros(0, np.int32))
    body = t.site_bodyid[site]
    count = np.bincount(body, minlength=t.nbody + 1)
    table = np.full((t.nbody + 1, max(count, default=0)), -1, np.int32)
    order = np.argsort(body, kind="stable")
    table[body[order], np.concatenate([np.arange(n) for n in count])[: order.size]] = order
    return table


def _contact_geoms(t: Topology) -> np.ndarray:
    """Return the least and largest geom of both objects of each contact sensor; all geoms where it names none.

    Geoms are ordered by body, bodies of a subtree follow one another.
    """
    last = t.geom_bodyid.size
    found = np.full((t.nsensor, 2, 2), (-1, last), np.int32)
    for i in np.flatnonzero(t.sensor_type == SensorType.CONTACT):
        pairs = (t.sensor_objtype[i], t.sensor_objid[i]), (t.sensor_reftype[i], t.sensor_refid[i])
        for side, (kind, index) in enumerate(pairs):
            if kind == ObjType.GEOM:
                found[i, side] = index
            elif kind in (ObjType.BODY, ObjType.XBODY):
                geoms = _geoms_of(t, kind, index)
                found[i, side] = (geoms.min(), geoms.max()) if geoms.size else (last, -1)
    return found


def _distance_pairs(t: Topology) -> np.ndarray:
    """Return sensor, geom of the first and geom of the second object for all pairs of distance sensors, (n, 3)."""
    rows = [np.zeros((0, 3), np.int32)]
    for i in np.flatnonzero(
        np.isin(t.sensor_type, [kind for kind in SensorType if kind.attachment == Attachment.PAIR])
    ):
        pairs = distance_pairs(t, i)
        rows.append(np.concatenate([np.full((len(pairs), 1), i, np.int32), pairs], axis=1))
    return np.concatenate(rows)


def _enclosed(t: Topology) -> np.ndarray:
    """Return sensor, geom or site, and whether it is a site, of all that a sensor `insidesite` may find, (n, 3)."""
    rows = [np.zeros((0, 3), np.int32)]
    for i in np.flatnonzero((t.sensor_type == SensorType.INSIDESITE) & (t.sensor_intprm[:, 0] != 0)):
        kind, index = t.sensor_objtype[i], t.sensor_objid[i]
        found = np.array([index]) if kind in (ObjType.GEOM, ObjType.SITE) else _geoms_of(t, kind, index)
        is_site = np.full(found.size, kind == ObjType.SITE)
        rows.append(np.stack([np.full(found.size, i), found, is_site], axis=1).astype(np.int32))
    return np.concatenate(rows)


def _geoms_of(t: Topology, kind: int, body: int) -> np.ndarray:
    """Return the geoms of a body, or of its subtree for XBODY; none for what is no body."""
    bodies = [body] if kind in (ObjType.BODY, ObjType.XBODY) else []
    for child in range(body + 1, t.nbody if kind == ObjType.XBODY else 0):
        if t.body_parentid[child] in bodies:
            bodies.append(child)
    return np.flatnonzero(np.isin(t.geom_bodyid, bodies))


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return what of the sensors the engine cannot run yet."""
    if t.disabled(DisableBit.SENSOR):
        return ()
    return tuple(f"sensor {_name(t, i)}: {lack}" for i in range(t.nsensor) for lack in _lacks(t, i))


def _lacks(t: Topology, i: int) -> tuple[str, ...]:
    kind = SensorType(t.sensor_type[i])
    if kind not in SENSORS:
        return (f"type {kind.name.lower()} is not built yet",)
    return SENSORS[kind].lacks(t, i)


def _name(t: Topology, i: int) -> str:
    return repr(t.names[ObjType.SENSOR][i]) if t.names[ObjType.SENSOR][i] else f"number {i}"


def _key(t: Topology, i: int) -> tuple:
    objtype, reftype, has_ref = int(t.sensor_objtype[i]), int(t.sensor_reftype[i]), bool(t.sensor_refid[i] >= 0)
    if SENSORS[SensorType(t.sensor_type[i])].planned:  # but for sites
        objtype, reftype, has_ref = (ObjType.SITE if objtype == ObjType.SITE else ObjType.UNKNOWN), 0, False
    return (
        int(t.sensor_type[i]),
        int(objtype),
        reftype,
        has_ref,
        tuple(int(x) for x in t.sensor_intprm[i]),
        int(t.sensor_dim[i]),
    )


def _runs(t: Topology, i: int) -> bool:
    mute = t.sensor_type[i] == SensorType.USER and t.hooks.sensor is None
    return not t.disabled(DisableBit.SENSOR) and not mute and not _lacks(t, i)


def _members(t: Topology, stage: Stage) -> list[int]:
    return [i for i in range(t.nsensor) if t.sensor_needstage[i] == stage and _runs(t, i)]


def _stage(t: Topology, members: list[int], history: tuple[HistoryGroup, ...]) -> SensorStage:
    chosen = sorted(members, key=lambda i: (_key(t, i), i))
    groups = []
    for key, members in itertools.groupby(chosen, key=lambda i: _key(t, i)):
        ids = np.array(list(members), np.int32)
        groups.append(SensorGroup(*key, sensor=ids, objid=t.sensor_objid[ids], refid=t.sensor_refid[ids]))
    ids = np.array(chosen, np.int32)
    owner = np.repeat(ids, t.sensor_dim[ids]) if chosen else np.zeros(0, np.int32)
    address = [t.sensor_adr[i] + k for i in chosen for k in range(t.sensor_dim[i])]
    order = owner.size + np.arange(t.nsensordata)
    order[address] = np.arange(owner.size)
    cells = [t.sensor_adr[i] + k for g in history for i in g.ids for k in range(g.dim)]
    recorded = np.full(t.nsensordata, len(cells))
    recorded[cells] = np.arange(len(cells))
    kind = t.sensor_datatype[owner] if chosen else np.zeros(0, np.int32)
    unbounded = [kind for kind, row in SENSORS.items() if not row.bounded]
    bounded = np.isin(kind, (DataType.REAL, DataType.POSITIVE)) & ~np.isin(t.sensor_type[owner], unbounded)
    return SensorStage(
        groups=tuple(groups),
        owner=owner,
        clipped=bounded,
        symmetric=bounded & (kind == DataType.REAL),
        order=order,
        types=frozenset(group.type for group in groups),
        recorded=recorded[address] if chosen else np.zeros(0, np.int32),
    )
