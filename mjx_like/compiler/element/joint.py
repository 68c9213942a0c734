"""Joints and degrees of freedom."""

from typing import NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, choice, keyword, numbers
from mjx_like.compiler.pose import EPS, normalized, rotate
from mjx_like.compiler.tree import Body, Placed
from mjx_like.types.enums import AlignFree, JointType, Limited

NQ = {kind: kind.qpos_width() for kind in JointType}
NV = {kind: kind.dof_width() for kind in JointType}
_ROTATES = (JointType.BALL, JointType.HINGE)
_TURNS = (JointType.FREE, JointType.BALL)


def joint_type(placed: Placed) -> JointType:
    """Return the type of a <joint> or <freejoint>."""
    return JointType(keyword(JointType, placed.attributes["type"]))


def align_free(ctx: Context, body: Body) -> bool:
    """Return whether the frame of a free body is to be moved into its inertial frame.  Source: mjCBody::Compile."""
    if len(body.joints) != 1 or body.children or joint_type(body.joints[0]) != JointType.FREE:
        return False
    align = choice(body.joints[0].attributes.get("align", "auto"))
    return align == AlignFree.TRUE or (align == AlignFree.AUTO and ctx.settings(body.element).alignfree)


def check_joints(body: Body) -> None:
    """Raise ModelError for a combination of joints that a body cannot have."""
    kinds = [joint_type(j) for j in body.joints]
    if sum(NV[kind] for kind in kinds) > 6:
        raise body.element.error(f"has {sum(NV[kind] for kind in kinds)} degrees of freedom; 6 are the most")
    if JointType.FREE in kinds and body.parent.id != 0:
        raise body.element.error("has a free joint, which only a child of the world can have")
    ball = False
    for kind in kinds:
        if ball and kind in _ROTATES:
            raise body.element.error("has a rotation after a ball joint")
        ball = ball or kind == JointType.BALL


class Joint(NamedTuple):
    """A compiled joint."""

    row: Row
    dof: Row  # of each of its degrees of freedom
    ref: float
    springref: float
    springdamper: np.ndarray  # time constant [s] and damping ratio, 0 if not given


def compile_joint(ctx: Context, placed: Placed) -> Joint:
    """Return a joint, without ids and addresses.

    Raises:
      ModelError: a bad range, axis or springdamper.
    Source: mjCJoint::Compile.
    """
    element, a = placed.element, placed.attributes
    kind, radians = joint_type(placed), ctx.settings(element).radians
    limits, force_limits = a["range"], a["actuatorfrcrange"]
    axis, pos = _axis_and_anchor(element, a, kind, placed.frame)
    springdamper = a["springdamper"]
    if springdamper.any() and (springdamper <= 0).any():
        raise element.error(f"springdamper {numbers(springdamper)}: both values must be positive")
    springyield = a["springyield"]
    if springyield < 0:
        raise element.error(f"springyield {springyield:g} is negative")
    if springyield and kind == JointType.FREE:
        raise element.error("a free joint cannot have springyield")
    limited = False if kind == JointType.FREE else _joint_limited(ctx, element, a, kind, limits)
    if limited and kind in _ROTATES:
        limits = radians(limits)
    force_limited = False
    if kind not in _TURNS:
        force_limited = ctx.limited(element, choice(a["actuatorfrclimited"]), force_limits, "actuatorfrcrange")
        if force_limited and force_limits[0] >= force_limits[1]:
            raise element.error(f"actuatorfrcrange {numbers(force_limits)}: the first value must be the smaller")
    angle = radians if kind == JointType.HINGE else float
    rotation = radians if kind in _ROTATES else float
    stiffness, damping = a["stiffness"], a["damping"]
    dof = {
        "dof_solref": a["solreffriction"],
        "dof_solimp": a["solimpfriction"],
        "dof_frictionloss": a["frictionloss"],
        "dof_armature": a["armature"],
        "dof_damping": damping[0],
        "dof_dampingpoly": damping[1:],
    }
    row = {
        "jnt_type": int(kind),
        "jnt_group": a["group"],
        "jnt_limited": limited,
        "jnt_actfrclimited": force_limited,
        "jnt_actgravcomp": a["actuatorgravcomp"],
        "jnt_solref": a["solreflimit"],
        "jnt_solimp": a["solimplimit"],
        "jnt_pos": pos,
        "jnt_axis": axis,
        "jnt_stiffness": stiffness[0],
        "jnt_stiffnesspoly": stiffness[1:],
        "jnt_springyield": rotation(springyield),
        "jnt_range": limits,
        "jnt_actfrcrange": force_limits,
        "jnt_margin": a["margin"],
        "jnt_user": ctx.user_data(element, a, "nuser_jnt"),
    }
    return Joint(row, dof, angle(a["ref"]), angle(a["springref"]), springdamper)


def _axis_and_anchor(element, a, kind, frame) -> tuple[np.ndarray, np.ndarray]:
    axis = np.array([0, 0, 1.0])
    pos = a["pos"]
    if kind not in _TURNS:
        axis = a["axis"]
        if frame:
            axis = rotate(frame[1], axis)
    axis, length = normalized(axis)
    if length < EPS:
        raise element.error("axis is too small")
    if kind == JointType.FREE:
        return axis, np.zeros(3)
    return axis, frame[0] + rotate(frame[1], pos) if frame else pos


def _joint_limited(ctx, element, a, kind, limits) -> bool:
    selected = choice(a["limited"])
    limited = ctx.limited(element, selected, limits, "range")
    if limited and kind != JointType.BALL and limits[0] >= limits[1]:
        raise element.error(f"range {numbers(limits)}: the first value must be smaller than the second")
    if limited and kind == JointType.BALL and limits[0] != 0:
        raise element.error(f"range {numbers(limits)}: the first value must be 0 for a ball joint")
    return limited and selected != Limited.FALSE
