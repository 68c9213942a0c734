"""URDF -> the elements of the MJCF model that MuJoCo makes of it.

Links become bodies, each posed by the joint that has it as its child; a link that is no joint's child stands in the
world, without a joint. A link called world is the world itself. Effort limits become actuatorfrcrange; velocity limits
have no counterpart. What is not part of a model for MuJoCo (transmission, gazebo, unknown attributes) is passed over.
Source: mjXURDF; mimic joints and the limits of continuous joints by trial (MuJoCo 4.0.0).
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import EPS, normalized, principal_axes, quat_from_z, quat_mul, quat_to_mat
from mjx_like.mjcf.reading.include import Source
from mjx_like.mjcf.reading.validate import read_element
from mjx_like.mjcf.reading.xml import MAX_DEPTH
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.grammar import real
from mjx_like.mjcf.urdf.geom import Geoms
from mjx_like.mjcf.urdf.node import POINT, Node

WORLD = "world"
TYPES = {
    "revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "fixed": "", "floating": "free",
    "planar": "planar", "spherical": "ball",
}  # fmt: skip
MIMIC = ("revolute", "continuous", "prismatic")
DEFAULTS = {"fusestatic": True, "discardvisual": True}
TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
NUMBER = real()


@dataclass
class Link:
    """A link, the body it becomes, and how it hangs in the tree."""

    node: Node
    body: Element
    parent: "Link | None" = None
    children: list["Link"] = field(default_factory=list)


def read_robot(robot: Node, source: Source) -> Element:
    """The mujoco element that a robot element stands for, ready for build_spec.

    Raises ModelError, with location and element, for what MuJoCo refuses.
    """
    sections = extension(robot, source)
    settings = sections[0].attrib
    links, joints = read_links(robot), list(robot.children("joint"))
    for joint in joints:
        connect(joint, links)
    world = assemble(robot, links)
    geoms = Geoms(robot, settings.get("strippath", False), settings["discardvisual"])
    for link in links.values():
        fill(link, geoms, settings)
    made: dict[str, str] = {}
    for joint in joints:
        attach_child(joint, links, made)
    found = robot.element("mujoco", {"model": robot.text("name")} if robot.text("name") else {})
    asset, equality = robot.element("asset", {}), robot.element("equality", {})
    asset.children = geoms.assets()
    equality.children = [mimic for joint in joints for mimic in mimics(joint, made)]
    found.children = [*sections, asset, world, equality]
    return found


def extension(robot: Node, source: Source) -> list[Element]:
    """Compiler, option and size elements of the mujoco extension, the compiler with what URDF asks for."""
    mujoco = robot.find("mujoco")
    found = {}
    for tag in ("compiler", "option", "size"):
        node = mujoco.find(tag) if mujoco else None
        if node is not None:
            prune(node, tag)
            found[tag] = read_element(node.xml, node.file, tag, source)
    compiler = found.pop("compiler", None) or robot.element("compiler", {})
    compiler.attrib = DEFAULTS | compiler.attrib | {"angle": "radian"}
    return [compiler, *found.values()]


def prune(node: Node, kind: str) -> None:
    """Take out the attributes and children that the table does not have, with a warning."""
    row = ELEMENTS[kind]
    for name in [name for name in node.xml.attrib if name not in row.attributes]:
        warnings.warn(f"{node.where}: element <{kind}>: attribute '{name}' has no meaning here", stacklevel=2)
        del node.xml.attrib[name]
    for child in list(node.children()):
        if child.tag in row.children:
            prune(child, row.children[child.tag].type)
        else:
            warnings.warn(f"{child.where}: element <{child.tag}> has no meaning here", stacklevel=2)
            node.xml.remove(child.xml)


def read_links(robot: Node) -> dict[str, Link]:
    """Name -> link. Raises ModelError for a missing or repeated name."""
    links: dict[str, Link] = {}
    for node in robot.children("link"):
        name = node.text("name", required=True)
        if name in links:
            raise node.error(f"name '{name}' is already taken by a link at {links[name].node.where}")
        if name == WORLD:
            links[name] = Link(node, node.element("worldbody", {}))
        else:
            links[name] = Link(node, node.element("body", {"name": name} if name else {}))
    return links


def link_of(joint: Node, role: str, links: dict[str, Link]) -> Link:
    """Link that a joint's parent or child element names."""
    end = joint.need(role)
    name = end.text("link", required=True)
    if name not in links:
        raise end.error(f"attribute 'link' names link '{name}', which does not exist")
    return links[name]


def connect(joint: Node, links: dict[str, Link]) -> None:
    """Hang a joint's child under its parent. Raises ModelError if it already hangs somewhere."""
    parent, child = link_of(joint, "parent", links), link_of(joint, "child", links)
    if child.parent is not None:
        raise joint.error(f"link '{child.node.text('name')}' is the child of another joint already")
    child.parent = parent
    parent.children.append(child)


def assemble(robot: Node, links: dict[str, Link]) -> Element:
    """The worldbody with all bodies in it, none of them filled yet.

    Raises ModelError for links in a loop, which hang on nothing, and for too long chains.
    """
    world = links[WORLD].body if WORLD in links else robot.element("worldbody", {})
    pending = [(link, world, 1) for link in reversed(links.values()) if link.parent is None]
    seen = 0
    while pending:
        link, above, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise link.node.error(f"is deeper in the tree than {MAX_DEPTH} links")
        seen += 1
        if link.body is not world:
            above.children.append(link.body)
        pending += [(child, link.body, depth + 1) for child in reversed(link.children)]
    if seen < len(links):
        loose = next(link for link in links.values() if loops(link))
        raise loose.node.error("hangs on itself through a loop of joints; a robot must be a tree")
    return world


def loops(link: Link) -> bool:
    """Whether the joints above a link lead back to it."""
    above, steps = link.parent, set()
    while above is not None and id(above) not in steps:
        if above is link:
            return True
        steps.add(id(above))
        above = above.parent
    return False


def fill(link: Link, geoms: Geoms, settings: dict[str, Any]) -> None:
    """Put the inertia and the geoms of a link before its child bodies."""
    inertial = link.node.find("inertial")
    own = [] if inertial is None else [inertia(inertial, settings)]
    link.body.children[:0] = own + geoms.of_link(link.node)


def inertia(node: Node, settings: dict[str, Any]) -> Element:
    """Inertial element with principal moments and axes; a tensor of zeros stays undefined, that is zero."""
    pos, quat = node.origin()
    mass = node.need("mass").value("value", NUMBER, required=True)
    tensor = node.need("inertia")
    xx, yy, zz, xy, xz, yz = (tensor.value(name, NUMBER, required=True) for name in TENSOR)
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not np.isfinite([*full.ravel(), mass]).all():
        raise tensor.error("mass and inertia must be finite")
    moments = np.zeros(3)
    if full.any():
        moments, axes = principal_axes(full)
        quat = quat_mul(quat, axes)
        if moments[2] < EPS and settings.get("boundinertia", 0) <= 0:
            raise tensor.error("the inertia must have positive eigenvalues")
    return node.element("inertial", {"pos": pos, "quat": quat, "mass": mass, "diaginertia": moments})


def attach_child(joint: Node, links: dict[str, Link], types: dict[str, str]) -> None:
    """Pose the child of a joint and give it the joint's degrees of freedom.

    types: name -> type of the MJCF joints made so far; those made here are added.
    """
    kind = joint.text("type", required=True)
    if kind not in TYPES:
        raise joint.error(f"attribute 'type' has keyword '{kind}', needs one of: {', '.join(TYPES)}")
    name = joint.text("name", required=True)
    child = link_of(joint, "child", links)
    pos, quat = joint.origin()
    axis = joint.find("axis")
    axis = np.array([1.0, 0, 0]) if axis is None else axis.value("xyz", POINT, required=True)
    world = child.body.tag == "worldbody"
    if not world:
        child.body.attrib |= {"pos": pos, "quat": quat}
    made = [joint.element("joint", attrib) for attrib in degrees_of_freedom(name, TYPES[kind], axis)]
    if world and made:
        raise joint.error("moves the link 'world', but the world cannot move")
    if not made:
        return
    limits(joint, kind, made[0].attrib)
    dynamics(joint, made)
    for element in made:
        name = element.attrib["name"]
        if name in types:
            warnings.warn(f"{joint.where}: joint name '{name}' is taken; this joint stays unnamed", stacklevel=2)
        if name in types or not name:
            del element.attrib["name"]
        types.setdefault(name, element.attrib["type"])
    child.body.children[:0] = made


def degrees_of_freedom(name: str, kind: str, axis: np.ndarray) -> list[dict[str, Any]]:
    """Attributes of the MJCF joints of a URDF joint; a planar one slides along two axes and rotates about the third."""
    if kind in ("hinge", "slide"):
        return [{"name": name, "type": kind, "axis": axis}]
    if kind in ("free", "ball"):
        return [{"name": name, "type": kind}]
    if kind == "planar":
        x, y, _ = quat_to_mat(quat_from_z(normalized(axis)[0])).T
        return [
            {"name": f"{name}_TX", "type": "slide", "axis": x},
            {"name": f"{name}_TY", "type": "slide", "axis": y},
            {"name": f"{name}_RZ", "type": "hinge", "axis": axis},
        ]
    return []


def limits(joint: Node, kind: str, attrib: dict[str, Any]) -> None:
    """Read a joint's limit element: a whole and proper range limits, effort bounds what actuators may do.

    A planar joint's limits hold for its first axis; a continuous joint has no range.
    """
    limit = joint.find("limit")
    if kind == "continuous":
        attrib["limited"] = "false"
    if limit is None:
        return
    if kind != "continuous":
        lower, upper = limit.value("lower", NUMBER), limit.value("upper", NUMBER)
        attrib["range"] = np.array([lower or 0.0, upper or 0.0])
        if (lower is None) != (upper is None) or not attrib["range"][0] < attrib["range"][1]:
            attrib["limited"] = "false"
    effort = abs(limit.value("effort", NUMBER) or 0.0)
    if effort > 0:
        attrib["actuatorfrcrange"] = np.array([-effort, effort])


def dynamics(joint: Node, made: list[Element]) -> None:
    """Read a joint's damping and friction, which every one of its degrees of freedom gets."""
    node = joint.find("dynamics")
    if node is None:
        return
    damping, friction = node.value("damping", NUMBER), node.value("friction", NUMBER)
    for element in made:
        if damping is not None:
            element.attrib["damping"] = np.array([damping])
        if friction is not None:
            element.attrib["frictionloss"] = friction


def mimics(joint: Node, types: dict[str, str]) -> list[Element]:
    """Equality that makes a joint follow another; none, with a warning, where one of them is not a scalar joint."""
    mimic = joint.find("mimic")
    if mimic is None:
        return []
    name, other = joint.text("name"), mimic.text("joint", required=True)
    multiplier, offset = mimic.value("multiplier", NUMBER), mimic.value("offset", NUMBER)
    if joint.text("type") not in MIMIC or types.get(other) not in ("hinge", "slide"):
        warnings.warn(
            f"{mimic.where}: element <mimic>: joint '{name}' does not follow '{other}'; both must be "
            "revolute, continuous or prismatic",
            stacklevel=2,
        )
        return []
    polynomial = np.array([offset or 0.0, 1.0 if multiplier is None else multiplier, 0, 0, 0])
    attrib = {"joint1": name, "joint2": other, "polycoef": polynomial}
    return [mimic.element("joint", attrib, "equality_joint")]
