"""The flexcomp element: the bodies, the flex and the equality constraints that it stands for.

Bodies of the points take the place of the flexcomp in its parent body, with the frames around it worked into their
positions; a frame that holds one is therefore split around it. Twist bodies of a rod go into the world, after the
top-level body that holds the flexcomp. Source: XML reference, flexcomp; mjCFlexcomp::Make.
"""

from typing import Any

import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.mjcf.attach.frame_split import Piece, split
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexcomp import node_grid, rod_chain
from mjx_like.mjcf.flexcomp.plan import Plan, make_plan
from mjx_like.mjcf.frame import PoseError, compose, given_quat, orientation
from mjx_like.mjcf.spec import Spec

_FLAT = ("box", "cylinder")
_LOOK = ("group", "material", "rgba", "flatskin", "radius")
_AXES = {"full": (0, 1, 2), "2d": (0, 1)}
Pose = tuple[np.ndarray, np.ndarray]


def expand_flexcomps(spec: Spec) -> None:
    """Replace every flexcomp of a model by what it stands for.

    Raises ModelError for one that is not well-formed.
    """
    if any(True for _ in spec.worldbody.iter("flexcomp")):
        _Walk(spec).expand()


class _Walk:
    """The walk over the tree; `twists` holds bodies that wait for their place in the world."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.twists: list[Element] = []

    def expand(self) -> None:
        self._into(self.spec.worldbody, [self.spec.worldbody])

    def _into(self, holder: Element, owners: list[Element]) -> None:
        holder.children = [child for _, child in self._pieces(holder, owners, None)]

    def _pieces(self, holder: Element, owners: list[Element], pose: Pose | None) -> list[Piece]:
        """Children of a body or frame after expansion, each with whether it stands outside the frames of `pose`."""
        out: list[Piece] = []
        for child in holder.children:
            if child.tag == "flexcomp":
                out += [(True, body) for body in self._made(child, owners, pose)]
            elif child.tag == "frame":
                inner = self._pieces(child, owners, self._frame(child, pose))
                out += split(child, inner)
            else:
                if child.tag in ("body", "replicate"):
                    self._into(child, [*owners, child] if child.tag == "body" else owners)
                out.append((False, child))
            if len(owners) == 1:
                out += [(True, body) for body in self.twists]
                self.twists = []
        return out

    def _frame(self, element: Element, outer: Pose | None) -> Pose:
        record = self.spec.resolve(element)
        pos, quat = record["pos"], self._orientation(element, record)
        return compose(*outer, pos, quat) if outer else (pos, quat)

    def _orientation(self, element: Element, record: dict[str, Any]) -> np.ndarray:
        compiler = self.spec.compiler
        try:
            return orientation(record, compiler["angle"] == "degree", compiler["eulerseq"])
        except PoseError as error:
            raise element.error(str(error)) from None

    def _made(self, element: Element, owners: list[Element], pose: Pose | None) -> list[Element]:
        owner = owners[-1]
        parent = "world" if owner is self.spec.worldbody else owner.get("name")
        if not parent:
            raise element.error("the body around it must have a name")
        for name in (element.get("name", ""), parent):
            if name.split() != [name]:
                raise element.error(f"name '{name}' has a blank in it, which the list of a flex's bodies cannot hold")
        plan = make_plan(self.spec, element)
        local = self.spec.resolve(element)
        rotation = given_quat(local)
        rotation = self._orientation(element, local) if rotation is None else rotation
        local = local["pos"], rotation
        pose = compose(*pose, *local) if pose else local
        plan.shape.point, plan.unused = _moved(plan.shape.point, pose), _moved(plan.unused, pose)
        bodies, flex = _bodies_and_flex(plan, parent)
        jointed = next((o for o in reversed(owners) if o.find_all("joint", "freejoint")), None)
        if jointed and plan.a["dof"] not in ("radial", "2d") and not plan.pinned.any():
            raise element.error(
                f"body '{jointed.get('name', '')}' has joints but none of the points is pinned to it; "
                "pin a point or remove the joints"
            )
        self.spec.sections["deformable"].append(flex)
        self.spec.sections["equality"] += _equalities(plan)
        self.twists += rod_chain.twist_bodies(plan, _body)
        return bodies


def _moved(point: np.ndarray, pose: Pose) -> np.ndarray:
    """Points in the frame around; a quaternion that is no unit turns them as MuJoCo does.  Source: mju_rotVecQuat."""
    pos, quat = pose
    if not quat[1:].any():
        return point + pos
    axis = np.asarray(quat[1:], float)
    return point + 2 * np.cross(axis, quat[0] * point + np.cross(axis, point)) + pos


def _body(plan: Plan, name: str, pos: np.ndarray, mass: float, inertia: float, joints: list[dict]) -> Element:
    """A generated body; what it holds is of class main, as bodies made by the program are."""
    where = plan.element.where
    children = [
        Element(
            "inertial", {"pos": np.zeros(3), "mass": mass, "diaginertia": np.full(3, inertia)}, [], where, "inertial"
        )
    ]
    children += [Element("joint", {"class": "main", "pos": np.zeros(3)} | a, [], where, "joint") for a in joints]
    return Element("body", {"name": name, "pos": pos, "childclass": "main"}, children, where, "body")


def _bodies_and_flex(plan: Plan, parent: str) -> tuple[list[Element], Element]:
    """The bodies of points or nodes, and the flex."""
    point, names = plan.shape.point.copy(), [parent] * len(plan.shape.point)
    if plan.rigid:
        return [], _flex(plan, {"body": parent, "vertex": point.ravel()})
    if plan.order:
        bodies, nodes = node_grid.node_bodies(plan, parent, _body)
        return bodies, _flex(plan, {"body": " ".join(names), "vertex": point.ravel()} | nodes)
    bodies = []
    mass = plan.a["mass"] / len(point)
    inertia = mass * (2.0 * plan.a["inertiabox"] ** 2) / 3.0
    for i in np.flatnonzero(~plan.pinned):
        names[i] = f"{plan.name}_{plan.used[i]}"
        bodies.append(_body(plan, names[i], point[i].copy(), mass, inertia, _slides(plan, point[i])))
    centered = not plan.pinned.any()
    point[~plan.pinned] = 0
    return bodies, _flex(plan, {"body": " ".join(names)} | ({} if centered else {"vertex": point.ravel()}))


def _slides(plan: Plan, point: np.ndarray) -> list[dict[str, Any]]:
    if plan.a["dof"] == "radial":
        length = np.linalg.norm(point)
        return [{"type": "slide", "axis": point / length if length > MINVAL else np.array([1.0, 0, 0])}]
    return [{"type": "slide", "axis": np.eye(3)[axis]} for axis in _AXES[plan.a["dof"]]]


def _flex(plan: Plan, attrib: dict[str, Any]) -> Element:
    """The flex element, its vertices and nodes in `attrib`."""
    a, shape = plan.a, plan.shape
    attrib |= {"name": plan.name, "dim": plan.dim, "element": shape.element.ravel()}
    attrib |= {key: a[key] for key in _LOOK if key in a}
    if a["type"] in _FLAT or (a["type"] == "grid" and plan.dim == 3):
        attrib["flatskin"] = True
    if len(shape.texcoord):
        attrib["texcoord"] = np.ravel(shape.texcoord)
    if len(shape.elemtexcoord):
        attrib["elemtexcoord"] = np.ravel(shape.elemtexcoord)
    if plan.order and not plan.rigid:
        attrib |= {"cellcount": a["cellcount"], "dof": a["dof"]}
    children = [child for child in plan.element.children if child.tag in ("contact", "elasticity")]
    if "radius" not in plan.element.attrib and plan.elasticity["section"] == "box":
        attrib.pop("radius")
    edge = {key: plan.edge[key] for key in ("stiffness", "damping")}
    children.append(Element("edge", edge, [], plan.element.where, "flex_edge"))
    return Element("flex", attrib, children, plan.element.where, "flex")


def _equalities(plan: Plan) -> list[Element]:
    """The equality constraints that the edges ask for, of class main."""
    kind = plan.edge["equality"]
    if kind == "false" or plan.rigid:
        return []
    attrib = {key: plan.edge[key] for key in ("solref", "solimp")} | {"flex": plan.name, "class": "main"}
    if kind == "true":
        return [Element("flex", attrib, [], plan.element.where, "equality_flex")]
    return [
        Element("flexstrain", attrib | {"cell": np.array(cell)}, [], plan.element.where, "flexstrain")
        for cell in node_grid.strained_cells(plan)
    ]
