"""Keyframes of attached models: which of their numbers belongs to which joint, mocap body and actuator."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mjx_like.mjcf.element import Element
from mjx_like.types.enums import JointType

NQ = {kind.name.lower(): kind.qpos_width() for kind in JointType}
NV = {kind.name.lower(): kind.dof_width() for kind in JointType}


@dataclass(eq=False)
class Layout:
    """The order of a keyframe's vectors; an object that was not attached is None.

    joints: with the numbers that each has in qpos and in qvel.
    mocaps: mocap bodies.
    actuators: with the numbers that each has in act; in ctrl each has one.
    """

    joints: list[tuple[Element | None, int, int]]
    mocaps: list[Element | None]
    actuators: list[tuple[Element | None, int]]

    def moved(self, made: Mapping[Element, Element]) -> "Layout":
        """The same layout over the copies of the elements; what was not copied is None."""
        return Layout(
            [(made.get(joint), nq, nv) for joint, nq, nv in self.joints],
            [made.get(body) for body in self.mocaps],
            [(made.get(actuator), na) for actuator, na in self.actuators],
        )

    def replaced(self, made: Mapping[Element, Element]) -> "Layout":
        """The same layout, some of its elements replaced."""
        return Layout(
            [(made.get(joint, joint), nq, nv) for joint, nq, nv in self.joints],
            [made.get(body, body) for body in self.mocaps],
            [(made.get(actuator, actuator), na) for actuator, na in self.actuators],
        )

    def sizes(self) -> dict[str, int]:
        """Length of each vector of a keyframe."""
        return {
            "qpos": sum(nq for _, nq, _ in self.joints),
            "qvel": sum(nv for _, _, nv in self.joints),
            "act": sum(na for _, na in self.actuators),
            "ctrl": len(self.actuators),
            "mpos": 3 * len(self.mocaps),
            "mquat": 4 * len(self.mocaps),
        }

    def parts(self, vector: str) -> Iterator[tuple[Element | None, int]]:
        """The elements that a vector of a keyframe goes through, each with how many numbers it has there."""
        if vector in ("qpos", "qvel"):
            yield from ((joint, nq if vector == "qpos" else nv) for joint, nq, nv in self.joints)
        elif vector in ("mpos", "mquat"):
            yield from ((body, 3 if vector == "mpos" else 4) for body in self.mocaps)
        elif vector in ("act", "ctrl"):
            yield from ((actuator, na if vector == "act" else 1) for actuator, na in self.actuators)


def layout(spec: Any) -> Layout:
    """Layout of the keyframes of a model whose tree is complete.

    Source: mjCModel::SaveDofOffsets, which gives every actuator one control and, without actdim, one activation.
    """
    joints: list[tuple[Element | None, int, int]] = []
    mocaps: list[Element | None] = []

    def enter(body: Element, childclass: str | None) -> None:
        bodies: list[tuple[Element, str | None]] = []
        collect(body, childclass, bodies)
        for inner, inherited in bodies:
            if inner.get("mocap"):
                mocaps.append(inner)
            enter(inner, inner.get("childclass", inherited))

    def collect(holder: Element, childclass: str | None, bodies: list[tuple[Element, str | None]]) -> None:
        for child in holder.children:
            if child.tag == "frame":
                collect(child, child.get("childclass", childclass), bodies)
            elif child.tag == "body":
                bodies.append((child, childclass))
            elif child.tag in ("joint", "freejoint"):
                kind = "free" if child.tag == "freejoint" else spec.resolve(child, childclass)["type"]
                joints.append((child, NQ[kind], NV[kind]))

    enter(spec.worldbody, None)
    actuators: list[tuple[Element | None, int]] = []
    for element in spec.sections["actuator"]:
        record = spec.resolve(element)
        actdim = record.get("actdim", -1)
        actuators.append((element, actdim if actdim > 0 else int(record.get("dyntype", "none") != "none")))
    return Layout(joints, mocaps, actuators)
