"""The plan of actuator/: actuators by transmission, activations, limits."""

import numpy as np

from mjx_like.tree.history import history_groups
from mjx_like.types.enums import BiasType, DisableBit, DynType, GainType, JointType, ObjType, TrnType
from mjx_like.types.plans import ActuatorPlan
from mjx_like.types.topology import Topology

BUILT = {
    "transmission": (
        TrnType.JOINT, TrnType.JOINTINPARENT, TrnType.TENDON, TrnType.SITE, TrnType.SLIDERCRANK, TrnType.BODY
    ),
    "dyntype": (
        DynType.NONE, DynType.INTEGRATOR, DynType.FILTER, DynType.FILTEREXACT, DynType.MUSCLE, DynType.USER
    ),
    "gaintype": (GainType.FIXED, GainType.AFFINE, GainType.MUSCLE, GainType.USER),
    "biastype": (BiasType.NONE, BiasType.AFFINE, BiasType.MUSCLE, BiasType.USER),
}  # fmt: skip
_KINDS = {"transmission": TrnType, "dyntype": DynType, "gaintype": GainType, "biastype": BiasType}
_BY_JOINT = {
    JointType.FREE: "free_joint",
    JointType.BALL: "ball_joint",
    JointType.SLIDE: "scalar_joint",
    JointType.HINGE: "scalar_joint",
}

_BY_KIND = {TrnType.TENDON: "tendon", TrnType.SLIDERCRANK: "slider_crank", TrnType.BODY: "body"}


def make_plan(t: Topology) -> ActuatorPlan:
    """Return the ActuatorPlan of a Topology."""
    groups = _transmissions(t)
    rows = t.actuator_outadr[np.concatenate([ids for _, ids in groups])] if groups else np.zeros(0, np.int32)
    on_tendon = t.actuator_trntype == TrnType.TENDON
    limited = np.append(t.tendon_actfrclimited, False)[np.where(on_tendon, t.actuator_trnid[:, 0], t.ntendon)]
    clamped = np.flatnonzero(t.jnt_actfrclimited)
    return ActuatorPlan(
        transmission=groups,
        out_order=_inverse(rows, t.nout),
        enabled=_enabled(t),
        periodic=_periodic(t),
        tendon_limit=np.where(limited, t.actuator_trnid[:, 0], t.ntendon),
        clamped_dof=t.jnt_dofadr[clamped],
        clamped_joint=clamped,
        gravcomp_dof=t.jnt_actgravcomp[t.dof_jntid],
        **_history(t),
        **_activations(t),
    )


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return what of the actuators the engine cannot run yet."""
    if t.disabled(DisableBit.ACTUATION):
        return ()
    lacks = []
    for i in range(t.nactuator):
        name = t.names[ObjType.ACTUATOR][i] or i
        field = {"transmission": t.actuator_trntype, "dyntype": t.actuator_dyntype}
        field |= {"gaintype": t.actuator_gaintype, "biastype": t.actuator_biastype}
        for kind, built in BUILT.items():
            value = _KINDS[kind](field[kind][i])
            if value not in built:
                lacks.append(f"actuator {name!r}: {kind} {value.name.lower()} is not built yet")
        if t.actuator_dyntype[i] == DynType.USER and t.actuator_actnum[i] > 1:
            lacks.append(f"actuator {name!r}: user dynamics with more than one activation are not built yet")
    return tuple(lacks)


def _transmissions(t: Topology) -> tuple[tuple[str, np.ndarray], ...]:
    """Return the ids of the actuators of each kernel in `transmission.TRANSMISSIONS`; unbuilt ones have none."""
    groups: dict[str, list[int]] = {}
    for i in range(t.nactuator):
        kind, target = t.actuator_trntype[i], t.actuator_trnid[i]
        if kind in (TrnType.JOINT, TrnType.JOINTINPARENT):
            groups.setdefault(_BY_JOINT[t.jnt_type[target[0]]], []).append(i)
        elif kind in _BY_KIND:
            groups.setdefault(_BY_KIND[kind], []).append(i)
        elif kind == TrnType.SITE:
            groups.setdefault("site" if target[1] < 0 else "refsite", []).append(i)
    return tuple((name, np.array(ids, np.int32)) for name, ids in groups.items())


def _activations(t: Topology) -> dict:
    """Lay out the activations: built dynamics have one each, at the end of the actuator's block."""
    stateful = np.flatnonzero(t.actuator_actnum > 0)
    adr = t.actuator_actadr[stateful] + t.actuator_actnum[stateful] - 1
    return dict(
        stateful=stateful,
        act_adr=adr,
        act_order=_inverse(stateful, t.nactuator),
        act_place=_inverse(adr, t.na),
    )


def _history(t: Topology) -> dict:
    """Lay out the history buffers, and where each delayed control stands in them."""
    groups = history_groups(t.actuator_history, t.actuator_historyadr, t.actuator_ctrlnum)
    cells = [t.actuator_ctrladr[i] + k for g in groups for i in g.ids for k in range(g.dim)]
    delayed = np.full(t.nu, len(cells))
    delayed[cells] = np.arange(len(cells))
    owner = np.repeat(np.arange(t.nactuator), t.actuator_ctrlnum)
    return dict(history=groups, delayed=np.where(t.has["actuator_delay"][owner], delayed, len(cells)))


def _inverse(index: np.ndarray, size: int) -> np.ndarray:
    """Return where each of 0 .. size - 1 stands in `index`, and len(index) for those that do not."""
    out = np.full(size, len(index))
    out[index] = np.arange(len(index))
    return out


def _enabled(t: Topology) -> np.ndarray:
    """Return which actuators no group disables; only groups 0 to 30 can be.  Source: mj_actuatorDisabled."""
    group = t.actuator_group
    bit = (t.flags.disableactuator >> np.clip(group, 0, 30)) & 1
    return ~((group >= 0) & (group <= 30) & (bit == 1))


def _periodic(t: Topology) -> np.ndarray:
    """Return which actuators are servos on a rotation, by their types.  Source: wrapPeriod of engine_forward."""
    servo = (t.actuator_gaintype == GainType.FIXED) & (t.actuator_biastype == BiasType.AFFINE)
    servo &= np.isin(t.actuator_dyntype, (DynType.NONE, DynType.INTEGRATOR))
    joint = np.isin(t.actuator_trntype, (TrnType.JOINT, TrnType.JOINTINPARENT))
    kind = np.append(t.jnt_type, -1)[np.where(joint, t.actuator_trnid[:, 0], t.njnt)]
    site = (t.actuator_trntype == TrnType.SITE) & (t.actuator_trnid[:, 1] >= 0)
    return servo & (site | (kind == JointType.BALL))
