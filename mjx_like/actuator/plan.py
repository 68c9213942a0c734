"""The plan of actuator/: actuators by transmission, activations, limits."""

from collections.abc import Callable

import numpy as np

from mjx_like.actuator.table import BIASES, DYNAMICS, GAINS
from mjx_like.tree.history import history_groups
from mjx_like.types.enums import (
    BiasType,
    CtrlChart,
    CtrlInput,
    DisableBit,
    DynType,
    GainType,
    JointType,
    ObjType,
    TrnType,
)
from mjx_like.types.plans import ActuatorPlan, ControllerGroup, OrientationGroup
from mjx_like.types.topology import Topology

_BY_JOINT = {
    JointType.FREE: "free_joint",
    JointType.BALL: "ball_joint",
    JointType.SLIDE: "scalar_joint",
    JointType.HINGE: "scalar_joint",
}

_INPUTS = {CtrlInput.POS: "pos", CtrlInput.VEL: "vel", CtrlInput.FF: "ff", CtrlInput.VOLTAGE: "voltage"}
_BY_KIND = {TrnType.TENDON: "tendon", TrnType.SLIDERCRANK: "slider_crank", TrnType.BODY: "body"}
TRANSMITTED = (TrnType.JOINT, TrnType.JOINTINPARENT, TrnType.SITE, TrnType.SO3, *_BY_KIND)


def make_plan(t: Topology) -> ActuatorPlan:
    """Return the ActuatorPlan of a Topology."""
    groups = _transmissions(t)
    rows = [t.actuator_outadr[i] + k for _, ids in groups for i in ids for k in range(t.actuator_outnum[i])]
    owner = np.repeat(np.arange(t.nactuator), t.actuator_outnum)
    pulled = np.where(t.actuator_trntype == TrnType.TENDON, t.actuator_trnid[:, 0], t.ntendon)[owner]
    limited = np.append(t.tendon_actfrclimited, False)[pulled]
    clamped = np.flatnonzero(t.jnt_actfrclimited)
    return ActuatorPlan(
        transmission=groups,
        out_order=_inverse(np.array(rows, np.int32), t.nout),
        out_owner=owner,
        enabled=_enabled(t),
        periodic=_periodic(t),
        tendon_limit=np.where(limited, pulled, t.ntendon),
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
        for what, value, built in (
            ("transmission", TrnType(t.actuator_trntype[i]), TRANSMITTED),
            ("dyntype", DynType(t.actuator_dyntype[i]), DYNAMICS),
            ("gaintype", GainType(t.actuator_gaintype[i]), GAINS),
            ("biastype", BiasType(t.actuator_biastype[i]), BIASES),
        ):
            if value not in built:
                lacks.append(f"actuator {name!r}: {what} {value.name.lower()} is not built yet")
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
        elif kind == TrnType.SO3:
            groups.setdefault("ball_rotation" if target[1] < 0 else "site_rotation", []).append(i)
        elif kind == TrnType.SITE:
            groups.setdefault("site" if target[1] < 0 else "refsite", []).append(i)
    return tuple((name, np.array(ids, np.int32)) for name, ids in groups.items())


def _activations(t: Topology) -> dict:
    """Lay out the activations by what advances them; a lone one, or the last, takes the place of the control."""
    controllers = [kind for kind, law in GAINS.items() if law.kernel is None and not law.hook]
    other = np.isin(t.actuator_gaintype, controllers)
    stateful = np.flatnonzero((t.actuator_actnum > 0) & ~other)
    several = stateful[t.actuator_actnum[stateful] > 1]
    return dict(
        stateful=stateful,
        act_adr=t.actuator_actadr[stateful] + t.actuator_actnum[stateful] - 1,
        act_order=_inverse(stateful, t.nactuator),
        user=tuple((int(i), t.actuator_actadr[i] + np.arange(t.actuator_actnum[i] - 1)) for i in several),
        pid=_controllers(t, GainType.PID, _pid_slots),
        dcmotor=_controllers(t, GainType.DCMOTOR, _dcmotor_slots),
        orientation=_orientations(t),
        single=~other,
    )


def _pid_slots(t: Topology, i: int) -> tuple[str, ...]:
    """Return the activations of a PID controller in their order.  Source: actuator/pid of the XML reference."""
    if t.actuator_dyntype[i] != DynType.PID:
        return ()
    slots = {"slew": t.has["actuator_dynprm"][i, 1], "integral": t.has["actuator_gainprm"][i, 0]}
    return tuple(name for name, there in slots.items() if there)


def _dcmotor_slots(t: Topology, i: int) -> tuple[str, ...]:
    """Return the activations of a DC motor in their order.  Source: mj_dcmotorSlots."""
    gain, dyn = t.has["actuator_gainprm"][i], t.has["actuator_dynprm"][i]
    slots = {"slew": dyn[7], "integral": gain[5], "temperature": dyn[2], "bristle": dyn[5], "current": dyn[0]}
    return tuple(name for name, there in slots.items() if there)


def _controllers(t: Topology, kind: GainType, slots_of: Callable) -> tuple[ControllerGroup, ...]:
    """Return the controllers of a kind, grouped by inputs and activations."""
    members: dict[tuple, list[int]] = {}
    for i in np.flatnonzero(t.actuator_gaintype == kind):
        members.setdefault((int(t.actuator_ctrlspec[i]), slots_of(t, i)), []).append(int(i))
    groups = []
    for (spec, slots), ids in members.items():
        inputs = [name for bit, name in _INPUTS.items() if spec & bit]
        ctrl, act = t.actuator_ctrladr[ids], t.actuator_actadr[ids]
        groups.append(
            ControllerGroup(
                ids=np.array(ids, np.int32),
                inputs={name: ctrl + k for k, name in enumerate(inputs)},
                slots={name: act + k for k, name in enumerate(slots)},
            )
        )
    return tuple(groups)


def _orientations(t: Topology) -> tuple[OrientationGroup, ...]:
    """Return the orientation servos by where their setpoint is and in which chart."""
    servo, stored = t.actuator_gaintype == GainType.SO3, t.actuator_dyntype == DynType.INTEGRATOR
    quat = t.actuator_ctrlspec == CtrlChart.QUAT
    groups = []
    for mask, source, width in (
        (servo & ~stored & ~quat, "ctrl", 3),
        (servo & ~stored & quat, "ctrl", 4),
        (servo & stored, "act", 3),
    ):
        ids = np.flatnonzero(mask)
        start = (t.actuator_ctrladr if source == "ctrl" else t.actuator_actadr)[ids]
        if ids.size:
            groups.append(OrientationGroup(ids, source, start[:, None] + np.arange(width)))
    return tuple(groups)


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
    servo |= t.actuator_gaintype == GainType.PID
    joint = np.isin(t.actuator_trntype, (TrnType.JOINT, TrnType.JOINTINPARENT))
    kind = np.append(t.jnt_type, -1)[np.where(joint, t.actuator_trnid[:, 0], t.njnt)]
    site = (t.actuator_trntype == TrnType.SITE) & (t.actuator_trnid[:, 1] >= 0)
    return servo & (site | (kind == JointType.BALL))
