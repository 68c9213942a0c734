"""Contacts, forces, frames, joints, centres of mass and cameras of one world, drawn over a scene."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from mjx_like.constraint.contact_force import contact_wrench
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.visual import overlay


class Overlays:
    """Switches by name, all off at first; `show` draws those that are on.

    Args:
      scene: `server.scene` of a viser.ViserServer.
      m: one model, without a batch axis.
      offset: where the world stands, shape (3,) [m].
    """

    def __init__(self, scene: Any, m: Model, offset: np.ndarray):
        self.m, self._scene, self._offset = m, scene, offset
        self._wrench = jax.jit(contact_wrench)
        self._frustums: list[Any] = []
        self._kinds: dict[str, Callable[[Data], None]] = {
            "contact points": self._contact_points,
            "contact forces": self._contact_forces,
            "frames": self._frames,
            "joints": self._joints,
            "centre of mass": self._centers,
            "cameras": self._cameras,
        }
        self.on = dict.fromkeys(self._kinds, False)
        self._drawn: dict[str, Any] = {}

    def show(self, d: Data) -> None:
        """Draw what is on for one world; d: that world."""
        for name, draw in self._kinds.items():
            if self.on[name]:
                draw(d)
            else:
                self._hide(name)

    def shown(self) -> list[str]:
        """Return the names of all that is drawn now."""
        return sorted(self._drawn)

    def _hide(self, name: str) -> None:
        if name in self._drawn:
            self._drawn.pop(name).remove()

    def _points(self, name: str, points: np.ndarray, color: tuple[float, ...], size: float) -> None:
        if not len(points):
            return self._hide(name)
        points = (points + self._offset).astype(np.float32)
        if name in self._drawn:
            self._drawn[name].points = points
            return None
        self._drawn[name] = self._scene.add_point_cloud(
            _path(name), points, _rgb(color), point_size=size, point_shape="circle", precision="float32"
        )
        return None

    def _arrows(self, name: str, arrows: overlay.Arrows, color: tuple[float, ...]) -> None:
        if not len(arrows.points):
            return self._hide(name)
        points, width = (arrows.points + self._offset).astype(np.float32), arrows.width
        if name in self._drawn:
            self._drawn[name].points = points
            return None
        self._drawn[name] = self._scene.add_arrows(
            _path(name), points, _rgb(color), shaft_radius=width, head_radius=2 * width, head_length=4 * width
        )
        return None

    def _contact_points(self, d: Data) -> None:
        size = self.m.vis.scale.contactwidth * float(self.m.stat.meansize)
        self._points("contact points", overlay.contact_points(d), self.m.vis.rgba.contactpoint, size)

    def _contact_forces(self, d: Data) -> None:
        arrows = overlay.contact_arrows(self.m, d, np.asarray(self._wrench(self.m, d)))
        self._arrows("contact forces", arrows, self.m.vis.rgba.contactforce)

    def _joints(self, d: Data) -> None:
        self._arrows("joints", overlay.joint_arrows(self.m, d), self.m.vis.rgba.joint)

    def _centers(self, d: Data) -> None:
        size = self.m.vis.scale.com * float(self.m.stat.meansize)
        self._points("centre of mass", overlay.mass_centers(self.m, d), self.m.vis.rgba.com, size)

    def _frames(self, d: Data) -> None:
        pos, quat, length = overlay.body_frames(self.m, d)
        pos, quat = (pos + self._offset).astype(np.float32), quat.astype(np.float32)
        if "frames" in self._drawn:
            self._drawn["frames"].batched_positions, self._drawn["frames"].batched_wxyzs = pos, quat
        else:
            width = self.m.vis.scale.framewidth * float(self.m.stat.meansize)
            self._drawn["frames"] = self._scene.add_batched_axes(
                _path("frames"), quat, pos, axes_length=length, axes_radius=width / 2
            )

    def _cameras(self, d: Data) -> None:
        """Draw each camera as a pyramid; all of them hang on one node, which goes as a whole."""
        scale, views = self.m.vis.scale.camera * float(self.m.stat.meansize), overlay.cameras(self.m, d)
        if "cameras" not in self._drawn:
            self._drawn["cameras"] = self._scene.add_frame(_path("cameras"), show_axes=False)
            self._frustums = [
                self._scene.add_camera_frustum(
                    f"{_path('cameras')}/{n}", view.fovy, 4 / 3, scale=scale, color=_rgb(self.m.vis.rgba.camera)
                )
                for n, view in enumerate(views)
            ]
        for handle, view in zip(self._frustums, views, strict=True):
            handle.position, handle.wxyz = view.pos + self._offset, view.quat


def _path(name: str) -> str:
    return f"/overlay/{name.replace(' ', '_')}"


def _rgb(rgba: tuple[float, ...]) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in rgba[:3])
    return red, green, blue
