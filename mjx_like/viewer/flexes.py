"""The flexes of a model in the scene of a viser server: meshes whose vertices move."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mjx_like.types.model import Model
from mjx_like.viewer.material import opacity, pictured, rgb
from mjx_like.visual.flex import Flex, flex_points, flexes
from mjx_like.visual.frames import Frames


class Flexes:
    """The flexes of some worlds.

    Args:
      scene: `server.scene` of a viser.ViserServer.
      m: one model, without a batch axis.
      groups: of the flexes that are drawn.
    """

    def __init__(self, scene: Any, m: Model, groups: Iterable[int]):
        self.m, self._scene, self._drawn = m, scene, flexes(m, groups)
        self._handles: dict[str, Any] = {}
        self._shown: dict[int, np.ndarray] = {}

    def points(self, frames: Frames, frame: int, world: int) -> np.ndarray:
        """Return the vertices of what is drawn, shape (n, 3) [m, world]."""
        if not self._drawn:
            return np.zeros((0, 3))
        point = flex_points(self.m, frames.xpos[frame, world], frames.xquat[frame, world])
        return np.concatenate([point[flex.vertex] for flex in self._drawn])

    def show(self, frames: Frames, frame: int, offset: np.ndarray) -> None:
        """Move the vertices to where they are at a frame; offset: of the worlds, shape (worlds, 3) [m]."""
        if not self._drawn:
            return
        for world, start in enumerate(offset):
            point = flex_points(self.m, frames.xpos[frame, world], frames.xquat[frame, world]) + start
            if world in self._shown and np.array_equal(point, self._shown[world]):
                continue
            self._shown[world] = point
            for number, flex in enumerate(self._drawn):
                self._show(f"/flexes/{number}/{world}", flex, point)

    def _show(self, name: str, flex: Flex, point: np.ndarray) -> None:
        surface, look = flex.surface(point), flex.look
        vertex = surface.vertex.astype(np.float32)
        if look.picture is not None:  # viser has no way to move the vertices of a mesh with a picture: it is sent anew
            two_sided = flex.dim == 2
            self._handles[name] = self._scene.add_mesh_trimesh(
                name, pictured(surface, look, two_sided), receive_shadow=not two_sided
            )
        elif name in self._handles:
            self._handles[name].vertices = vertex
        else:
            self._handles[name] = self._scene.add_mesh_simple(
                name, vertex, surface.face.astype(np.uint32), color=rgb(look.rgba), opacity=opacity(look),
                side="double", flat_shading=bool(self.m.flex_flatskin[flex.id]),
            )  # fmt: skip
