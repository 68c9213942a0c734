"""The plan of passive/: which passive forces exist."""

import numpy as np

from mjx_like.types.enums import DisableBit, ObjType, TrnType
from mjx_like.types.plans import PassivePlan
from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> PassivePlan:
    """Return the PassivePlan of a Topology."""
    spring, damper = not t.disabled(DisableBit.SPRING), not t.disabled(DisableBit.DAMPER)
    given = t.has["actuator_damping"] | t.has["actuator_dampingpoly"]
    on_tendon = t.actuator_trntype == TrnType.TENDON
    on_joint = np.isin(t.actuator_trntype, (TrnType.JOINT, TrnType.JOINTINPARENT))
    fluid = (t.has["density"] | t.has["viscosity"]) and (spring or damper)
    ellipsoid = t.has["geom_fluid"] & bool(fluid) & (t.geom_bodyid > 0)
    body = np.arange(t.nbody)
    by_box = (body > 0) & ~np.isin(body, t.geom_bodyid[ellipsoid]) & bool(fluid)
    cable_joint = t.body_jntadr[t.cable_bodyid] if spring or damper else np.zeros(0, int)
    return PassivePlan(
        active=spring or damper,
        spring=bool(spring and (t.has["jnt_stiffness"] | t.has["jnt_stiffnesspoly"]).any()),
        damper=bool(damper and ((t.has["dof_damping"] | t.has["dof_dampingpoly"]).any() or (given & on_joint).any())),
        tendon_spring=bool(spring and (t.has["tendon_stiffness"] | t.has["tendon_stiffnesspoly"]).any()),
        tendon_damper=bool(
            damper and ((t.has["tendon_damping"] | t.has["tendon_dampingpoly"]).any() or (given & on_tendon).any())
        ),
        gravcomp=bool(t.has["body_gravcomp"].any() and not t.disabled(DisableBit.GRAVITY) and (spring or damper)),
        passive_gravcomp=~t.jnt_actgravcomp[t.dof_jntid],
        adhesion=t.adhesive and (spring or damper),
        box_body=np.flatnonzero(by_box),
        ellipsoid_geom=np.flatnonzero(ellipsoid),
        cable_qpos=t.jnt_qposadr[cable_joint][:, None] + np.arange(4),
        cable_dof=t.jnt_dofadr[cable_joint][:, None] + np.arange(3),
    )


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return what of the passive forces the engine cannot run yet."""
    return tuple(f"flex {name or i!r}: dynamics are not built yet" for i, name in enumerate(t.names[ObjType.FLEX]))
