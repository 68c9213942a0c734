"""Every plan: what the compiler works out once from a Topology, as static NumPy arrays.

Each family's `plan.py` builds its record; stages read it as `m.plans.<family>`.
"""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class TreePlan:
    """Kinematic levels and ancestor masks; made by `tree.plan`."""

    body_ancestor: np.ndarray  # (nbody, nbody) 1 where column is the row's body or one of its ancestors
    body_dof: np.ndarray  # (nbody, nv) 1 where the column's dof moves the row's body
    dof_ancestor: np.ndarray  # (nv, nv) 1 where the column's dof is the row's dof or one of its ancestors
    levels: tuple[np.ndarray, ...]  # body ids by depth, the world excluded


@dataclasses.dataclass(frozen=True)
class Plans:
    """The plans of all families; a family's helper types its own field."""

    tree: TreePlan
    smooth: Any
    tendon: Any
    actuator: Any
    passive: Any
    collision: Any
    constraint: Any
    sensor: Any
    integrator: Any
