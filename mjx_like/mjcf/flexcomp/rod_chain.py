"""Rods: flexes of dimension 1 with elasticity, their chain, and the bodies that carry the twist of their edges."""

from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element

TWIST_MASS = 1e-9  # of a twist body, which only turns [kg]


def open_chain(element: np.ndarray) -> np.ndarray | None:
    """Vertices of the single open chain of two or more edges that the elements form, end to end; None if they do not.

    It starts at the first end that an element begins with, else at the lower end.

    element: vertex numbers, shape (n, 2).
    """
    edges = np.unique(np.sort(element, axis=1), axis=0)
    vertices, degree = np.unique(edges, return_counts=True)
    ends = vertices[degree == 1]
    if len(edges) < 2 or len(edges) != len(vertices) - 1 or len(ends) != 2 or degree.max() > 2:
        return None
    neighbours: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    chain = [next((v for v in element[:, 0].tolist() if v in ends), int(ends.min()))]
    while len(chain) < len(vertices):
        following = [v for v in neighbours[chain[-1]] if len(chain) < 2 or v != chain[-2]]
        if not following:
            return None
        chain.append(following[0])
    return np.array(chain)


def twist_names(name: str, nedge: int) -> list[str]:
    """Names of the twist joints of a rod's edges, clamped ones included."""
    return [*(f"{name}_twist_{i}" for i in range(nedge - 1)), f"{name}_twist"]


def clamped_edges(fixed: np.ndarray) -> np.ndarray:
    """Which edges of a chain have no twist joint: the first, and the last of three or more, if both ends are fixed.

    fixed: per vertex in the order of the chain, whether it belongs to the body that holds the rod.
    """
    clamped = np.zeros(len(fixed) - 1, bool)
    clamped[0] = fixed[0] and fixed[1]
    if len(clamped) >= 3:
        clamped[-1] = fixed[-1] and fixed[-2]
    return clamped


def twist_bodies(plan: Any, body: Any) -> list[Element]:
    """Bodies with the hinge joints of a rod's edges, children of the world; none if the flexcomp is no open rod.

    plan: the flexcomp's Plan; body: makes a body of a Plan.
    """
    elasticity = plan.elasticity
    if plan.dim != 1 or elasticity["young"] <= 0 or plan.rigid or plan.a["dof"] != "full":
        return []
    chain = open_chain(plan.shape.element)
    if chain is None:
        return []
    clamped = clamped_edges(plan.pinned[chain])
    mass = plan.a["mass"] / len(clamped)
    first, second = elasticity["sectionsize"]
    inertia = (
        mass * (first**2 + second**2) / 3 if elasticity["section"] == "box" else 0.5 * mass * plan.a["radius"] ** 2
    )
    return [
        body(plan, name, np.zeros(3), TWIST_MASS, inertia, [{"name": name, "type": "hinge", "axis": np.eye(3)[0]}])
        for name, omitted in zip(twist_names(plan.name, len(clamped)), clamped, strict=True)
        if not omitted
    ]
