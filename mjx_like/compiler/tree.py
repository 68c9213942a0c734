"""The kinematic tree of a Spec, flattened: bodies parents first, each with what it holds."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.compiler.limits import MAX_BODIES, MAX_DOFS
from mjx_like.compiler.pose import IDENTITY, compose
from mjx_like.compiler.scale.asset import scale_assets
from mjx_like.compiler.scale.factors import UNSCALED, Attributes, Scale, in_frame
from mjx_like.compiler.scale.section import scale_sections
from mjx_like.compiler.scale.stretch import direction, stretched
from mjx_like.mjcf.default import schema_defaults
from mjx_like.mjcf.reading.xml import MAX_DEPTH
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import Element

Pose = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass
class Placed:
    """An element of a body, with its resolved attributes and the pose of the frame around it, None for the body's.

    scale: factors of the frames around it, in its own axes; they are in the attributes and the pose.
    """

    element: Element
    attributes: Mapping[str, Any]
    frame: Pose | None
    scale: Scale = UNSCALED


@dataclasses.dataclass(eq=False)
class Body:
    """A body of the tree; `parent` is None for the world. The pose and inertia are set when it is compiled.

    given: mass, inertial frame and inertia that it keeps whatever it holds, None if they are compiled.
    adjusted: whether compiler settings changed its mass or inertia.
    scale, around: factors of the frames around it, in its own axes and in those in which it is placed.
    """

    element: Element
    attributes: Mapping[str, Any]
    parent: "Body | None"
    frame: Pose | None
    id: int
    inertial: Placed | None = None
    plugin: Element | None = None
    children: list["Body"] = dataclasses.field(default_factory=list)
    joints: list[Placed] = dataclasses.field(default_factory=list)
    geoms: list[Placed] = dataclasses.field(default_factory=list)
    sites: list[Placed] = dataclasses.field(default_factory=list)
    cameras: list[Placed] = dataclasses.field(default_factory=list)
    lights: list[Placed] = dataclasses.field(default_factory=list)
    weldid: int = 0
    rootid: int = 0
    pos: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    quat: np.ndarray = dataclasses.field(default_factory=lambda: IDENTITY)
    ipos: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    iquat: np.ndarray = dataclasses.field(default_factory=lambda: IDENTITY)
    mass: float = 0.0
    inertia: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    given: tuple[float, np.ndarray, np.ndarray, np.ndarray] | None = None
    adjusted: bool = False
    scale: Scale = UNSCALED
    around: Scale = UNSCALED
    unscaled: Pose | None = None

    @property
    def moving(self) -> bool:
        """Whether the body has joints of its own."""
        return bool(self.joints)


_DOFS = {"free": 6, "ball": 3, "slide": 1, "hinge": 1}
_MAX_DEPTH = MAX_DEPTH + 250  # a cable has 250 bodies
_PARTS = {
    "joint": "joints", "freejoint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras",
    "light": "lights",
}  # fmt: skip


def flatten(ctx: Context) -> list[Body]:
    """Return the bodies of the model in MuJoCo's order: depth first, the world at 0.

    Raises:
      ModelError: an element that has no place in its body, or is too deep in the tree.
    """
    ctx.spec.worldbody.check_depth(_MAX_DEPTH)
    world = Body(ctx.spec.worldbody, {}, None, None, 0)
    _fill(ctx, world, world.element, None, None, UNSCALED, None)
    bodies = numbered(world)
    if any(
        frame.get(name) is not None for frame in ctx.spec.worldbody.iter("frame") for name in ("scale", "massscale")
    ):
        scale_assets(ctx, bodies)
        scale_sections(ctx, bodies)
    return bodies


def check_counts(bodies: list[Body]) -> None:
    """Raise ModelError for the first body or joint beyond what tables with a cell for every two can hold."""
    if len(bodies) > MAX_BODIES:
        raise bodies[MAX_BODIES].element.error(f"is one of {len(bodies)} bodies; {MAX_BODIES} are the most")
    joints = [joint for body in bodies for joint in body.joints]
    count = np.cumsum([_DOFS[joint.attributes["type"]] for joint in joints])
    if len(joints) and count[-1] > MAX_DOFS:
        joint = joints[int(np.argmax(count > MAX_DOFS))]
        raise joint.element.error(f"is of a model with {count[-1]} degrees of freedom; {MAX_DOFS} are the most")


def numbered(world: Body) -> list[Body]:
    """Return the bodies of a tree in MuJoCo's order, their ids set."""
    bodies: list[Body] = []
    stack = [world]
    while stack:
        body = stack.pop()
        body.id = len(bodies)
        bodies.append(body)
        parent = body.parent
        if parent is not None:
            mocap = bool(body.attributes.get("mocap"))
            body.weldid = body.id if body.moving or mocap else parent.weldid
            body.rootid = body.id if parent.id == 0 else parent.rootid
        stack.extend(reversed(body.children))
    return bodies


def _fill(
    ctx: Context, body: Body, element: Element, frame: Pose | None, childclass: str | None, scale: Scale,
    unscaled: Pose | None,
) -> None:  # fmt: skip
    for child in element.children:
        tag = child.tag
        if tag == "body":
            attributes, own = _in_frame(ctx, child, ctx.spec.resolve(child, childclass), scale)
            inner = Body(child, attributes, body, frame, -1, scale=own, around=scale, unscaled=unscaled)
            body.children.append(inner)
            _fill(ctx, inner, child, None, child.get("childclass") or childclass, own, None)
        elif tag == "frame":
            given = ctx.spec.resolve(child, None)
            attributes, own = _in_frame(ctx, child, given, scale)
            quat = ctx.orientation(child, attributes)
            pose = compose(*frame, attributes["pos"], quat) if frame else (attributes["pos"], quat)
            plain = compose(*unscaled, given["pos"], quat) if unscaled else (given["pos"], quat)
            _fill(ctx, body, child, pose, child.get("childclass") or childclass, own.within(child), plain)
        elif tag == "inertial":
            if body.parent is None:
                raise child.error("the world body has no inertia")
            body.inertial = Placed(child, _in_frame(ctx, child, ctx.spec.resolve(child), scale)[0], frame)
        elif tag in _PARTS:
            if body.parent is None and _PARTS[tag] == "joints":
                raise child.error("the world body has no joints")
            attributes = ctx.spec.resolve(child, childclass)
            if tag == "freejoint":
                attributes = schema_defaults(ELEMENTS["joint"]) | {"type": "free"} | attributes
            getattr(body, _PARTS[tag]).append(Placed(child, *_placed(ctx, child, attributes, frame, scale)))
        elif tag == "plugin" and body.parent is not None:
            body.plugin = child
        else:
            raise child.error(f"a body holds no {tag}")


def _placed(
    ctx: Context, element: Element, attributes: Attributes, frame: Pose | None, scale: Scale
) -> tuple[Attributes, Pose | None, Scale]:  # fmt: skip
    """Return the attributes, frame and factors of what a body holds; a joint has the axes of its body."""
    found, own = _in_frame(ctx, element, attributes, scale)
    return found, frame, scale if element.tag in ("joint", "freejoint") else own


def _in_frame(ctx: Context, element: Element, attributes: Attributes, scale: Scale) -> tuple[Attributes, Scale]:
    """Return the attributes of an element with the factors around it, and these factors in its own axes."""
    found = in_frame(element.tag, attributes, scale)
    if scale.stretch is None:
        return found, scale
    quat = direction(attributes)
    if quat is None:
        quat = IDENTITY if "joint" in element.tag else ctx.orientation(element, attributes)
    return stretched(element, attributes, found, scale, quat), scale.rotated(quat)
