"""Soft composites: types box, cylinder and ellipsoid, bodies on the surface, each with one slide.

MuJoCo 3.1.6 leaves the bodies in the orientation of their parent, so that every slide is along its z axis, where the
Modeling chapter has them point away from the centre; its results count here.
"""

from itertools import product

import numpy as np

from mjx_like.mjcf.composite.plan import Plan
from mjx_like.mjcf.composite.skin import block_skin, cylinder_skin, ellipsoid_skin
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import normalized

_SKINS = {"box": block_skin, "cylinder": cylinder_skin, "ellipsoid": ellipsoid_skin}


def shell(plan: Plan) -> list[Element]:
    """What the body around a soft object holds: a geom at the centre, and the bodies of the surface.

    Raises ModelError for an object that is not in three dimensions.
    """
    if plan.dim != 3:
        raise plan.element.error(f"a {plan.kind} must have three dimensions")
    size = plan.geom.get("size", np.zeros(3))
    centre = plan.a_geom(
        name=f"{plan.prefix}Gcenter", type="sphere", pos=np.zeros(3), size=np.array([2 * size[0], 0.0, 0.0])
    )
    last = plan.count - 1
    indices = [index for index in product(*map(range, plan.count)) if _outside(np.array(index), last)]
    bodies = [_body(plan, index, size) for index in indices]
    for index in indices:
        _keep_smooth(plan, np.array(index), last)
    path = [plan.made("fixed_joint", {"joint": f"{plan.prefix}{_joint(p)}", "coef": 1.0}, tag="joint") for p in indices]
    name = f"{plan.prefix}T"
    plan.add("tendon", plan.made("fixed", _fixed(plan) | {"name": name}, path))
    plan.add_equality("tendon", plan.fix["main"], tendon1=name)
    if plan.skin is not None:
        _SKINS[plan.kind](plan)
    return [centre, *bodies]


def _outside(index: np.ndarray, last: np.ndarray) -> bool:
    return bool(((index == 0) | (index == last)).any())


def _joint(index) -> str:
    return "J{}_{}_{}".format(*index)


def _fixed(plan: Plan) -> dict:
    """Attributes of the tendon, without those of its looks, which a fixed tendon has none of."""
    return {name: value for name, value in plan.tendons["main"].items() if name not in ("material", "rgba", "width")}


def _body(plan: Plan, index: tuple[int, int, int], size: np.ndarray) -> Element:
    pos = _project(plan, 2.0 * np.array(index) / (plan.count - 1) - 1)
    tail = "{}_{}_{}".format(*index)
    capsule = plan.geom.get("type") == "capsule"
    depth = size[0] + size[1] if capsule else size[0]
    geom = plan.a_geom(
        name=f"{plan.prefix}G{tail}", type="capsule" if capsule else "sphere", pos=np.array([0, 0, -depth])
    )
    joint = plan.a_joint(name=plan.prefix + _joint(index), type="slide", pos=np.zeros(3), axis=np.eye(3)[2])
    return plan.body(f"B{tail}", pos, [joint, geom])


def _project(plan: Plan, unit: np.ndarray) -> np.ndarray:
    """A point of the cube from -1 to 1, moved onto the surface."""
    size = 0.5 * plan.spacing * (plan.count - 1)
    if plan.kind == "cylinder":
        reach = np.abs(unit[:2]).max()
        return np.array([*(normalized(unit[:2])[0] * size[:2] * reach), unit[2] * size[2]])
    return (normalized(unit)[0] if plan.kind == "ellipsoid" else unit) * size


def _keep_smooth(plan: Plan, index: np.ndarray, last: np.ndarray) -> None:
    """Append the equalities of a joint: with its first position, and with its neighbours."""
    name = plan.prefix + _joint(index)
    plan.add_equality("joint", plan.fix["joint"], joint1=name)
    for step in np.eye(3, dtype=int):
        other = np.minimum(index + step, last)
        if (other != index).any() and _outside(other, last):
            plan.add_equality("joint", plan.smooth, joint1=name, joint2=plan.prefix + _joint(other))
