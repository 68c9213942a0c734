"""User hooks: pure functions that stand in for MuJoCo's callbacks."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Hooks:
    """Functions given to the loader, static in the Topology by identity; None means no code.

    Source: the mjcb_* callbacks of MuJoCo (APIglobals).
    """

    control: Callable | None = None  # (m, d) -> ctrl, shape (nu,)
    passive: Callable | None = None  # (m, d) -> force added to qfrc_passive, shape (nv,)
    act_dyn: Callable | None = None  # (m, d, id) -> act_dot of a `user` dyntype
    act_gain: Callable | None = None  # (m, d, id) -> gain of a `user` gaintype
    act_bias: Callable | None = None  # (m, d, id) -> bias of a `user` biastype
    sensor: Callable | None = None  # (m, d, id) -> values of a `user` sensor, shape (dim,)
    contact_filter: Callable | None = None  # (topology, geom1, geom2) -> True to discard the pair
    # ((geom1, geom2, npoint, function), ...), names or ids; function: (pos1, mat1, pos2, mat2), poses of the geoms in
    # the world -> dist (npoint,) [m], pos (npoint, 3) midway, unit normal (npoint, 3) from geom1 to geom2
    collision: tuple = ()


NO_HOOKS = Hooks()
