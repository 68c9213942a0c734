"""A model in the scene of a viser server: what is drawn once, and what moves."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mjx_like.types.model import Model
from mjx_like.viewer.flexes import Flexes
from mjx_like.viewer.lights import Lights
from mjx_like.viewer.material import color_bytes, linear_bytes, opacity, pictured, rgb
from mjx_like.visual.frames import Frames
from mjx_like.visual.grid import SPACING, offsets
from mjx_like.visual.look import look_of, mean_color
from mjx_like.visual.part import GROUPS, Part, bounds, parts
from mjx_like.visual.skin import Skin, skins


class Scene:
    """A model drawn in the scene of a viser server, for one world or several in a grid.

    Args:
      scene: `server.scene` of a viser.ViserServer.
      m: one model, without a batch axis.
      worlds: how many are drawn.
      groups: of geoms and sites, those drawn.
      sites: whether sites are drawn.
      spacing: between worlds [m]; None for 1.5 times the size of what moves.
      frames: the poses at first, from which sizes are taken.
    """

    def __init__(
        self, scene: Any, m: Model, frames: Frames, groups: Iterable[int] = GROUPS, sites: bool = True,
        spacing: float | None = None,
    ):  # fmt: skip
        self.m, self._scene, worlds = m, scene, frames.xpos.shape[1]
        groups = tuple(groups)
        drawn, self._flexes = parts(m, groups, sites), Flexes(scene, m, groups)
        self.low, self.high = bounds(m, drawn, frames.xpos[0, 0], frames.xquat[0, 0], self._flexes.points(frames, 0, 0))
        self.offset = offsets(worlds, SPACING * float(max(self.high - self.low)) if spacing is None else spacing)
        self._moving: list[tuple[int, Any]] = []
        self._skins: list[tuple[Skin, list[Any]]] = []
        scene.set_up_direction("+z")
        self.lights = Lights(scene, m, worlds)
        for number, part in enumerate(drawn):
            if part.ground and part.look.picture is None:
                self._draw_grid(f"/ground/{number}", part)
            elif part.ground:
                self._draw(f"/ground/{number}", part)
            else:
                self._moving.append((part.body, self._draw(f"/bodies/{number}", part)))
        for number, skin in enumerate(skins(m)):
            self._skins.append((skin, [self._draw_skin(f"/skins/{number}/{world}", skin) for world in range(worlds)]))
        self._tendons = [look_of(m, m.tendon_rgba[i], int(m.tendon_matid[i])) for i in range(m.ntendon)]
        self._lines: dict[int, Any] = {}

    def _draw(self, name: str, part: Part) -> Any:
        """Add the triangles of a part, once for each world; a ground once alone, for it is large."""
        position = np.zeros((1, 3)) if part.ground else self.offset
        pose = {"batched_wxyzs": np.tile([1.0, 0, 0, 0], (len(position), 1)), "batched_positions": position}
        surface, look = part.surface, part.look
        if look.picture is not None:
            return self._scene.add_batched_meshes_trimesh(
                name, pictured(surface, look, part.ground), **pose, lod="off", cast_shadow=not part.ground
            )
        return self._scene.add_batched_meshes_simple(
            name, surface.vertex.astype(np.float32), surface.face.astype(np.uint32), **pose, lod="off",
            batched_colors=linear_bytes(look.rgba), opacity=opacity(look), side="double" if part.ground else "front",
            cast_shadow=not part.ground,
        )  # fmt: skip

    def _draw_grid(self, name: str, part: Part) -> None:
        """Add a ground of one colour as a plane with lines a metre apart, so that motion shows."""
        size, color = np.asarray(self.m.geom_size[part.id], float), part.look.rgba[:3]
        line = np.clip(color * (0.85 if color.mean() > 0.4 else 1.3), 0, 1)
        self._scene.add_grid(
            name, width=2 * float(size[0]), height=2 * float(size[1]), infinite_grid=not (size[:2] > 0).all(),
            cell_size=1.0, section_size=5.0, cell_color=rgb(line), section_color=rgb(line), section_thickness=2.0,
            plane_color=rgb(color), plane_opacity=1.0, shadow_opacity=0.35, fade_distance=60.0,
            position=np.asarray(self.m.geom_pos[part.id]), wxyz=np.asarray(self.m.geom_quat[part.id]),
        )  # fmt: skip

    def _draw_skin(self, name: str, skin: Skin) -> Any:
        return self._scene.add_mesh_skinned(
            name, skin.surface.vertex.astype(np.float32), skin.surface.face.astype(np.uint32),
            bone_wxyzs=skin.bind_quat, bone_positions=skin.bind_pos, skin_weights=skin.weight.astype(np.float32),
            color=rgb(mean_color(skin.look)), opacity=opacity(skin.look), side="double",
        )  # fmt: skip

    def show(self, frames: Frames, frame: int = 0) -> None:
        """Move everything to where it is at a frame; one call sends what changed."""
        xpos, xquat = frames.xpos[frame], frames.xquat[frame]
        for body, handle in self._moving:
            if self.m.body_weldid[body] or self.m.body_mocapid[body] >= 0 or not frame:
                handle.batched_wxyzs = xquat[:, body].astype(np.float32)
                handle.batched_positions = (xpos[:, body] + self.offset).astype(np.float32)
        for skin, handles in self._skins:
            for world, handle in enumerate(handles):
                for bone, body in zip(handle.bones, skin.body, strict=True):
                    bone.wxyz, bone.position = xquat[world, body], xpos[world, body] + self.offset[world]
        self._show_tendons(frames, frame)
        self._flexes.show(frames, frame, self.offset)
        self.lights.show(frames, frame)

    def on_drag(self, act: Callable[[str, int, int, np.ndarray, np.ndarray], None]) -> None:
        """Call `act` when somebody drags a body: phase (start, update, end), world, body, grip, target [m, world]."""
        for body, handle in self._moving:
            if self.m.body_weldid[body]:

                async def dragged(event: Any, body: int = body) -> None:
                    grip, target = np.asarray(event.start_position), np.asarray(event.end_position)
                    act(event.phase, int(event.instance_index or 0), body, grip, target)

                handle.on_drag(dragged)

    def _show_tendons(self, frames: Frames, frame: int) -> None:
        if frames.path is None:
            return
        for index, look in enumerate(self._tendons):
            worlds = [frames.segments(frame, w, index) + self.offset[w] for w in range(len(self.offset))]
            points = np.concatenate(worlds).astype(np.float32)
            if not len(points) or look.rgba[3] <= 0:
                continue
            colors = np.tile(color_bytes(mean_color(look)), (len(points), 2, 1))
            if index in self._lines:
                self._lines[index].points, self._lines[index].colors = points, colors
            else:
                width = 2 * float(self.m.tendon_width[index])
                self._lines[index] = self._scene.add_line_segments(f"/tendons/{index}", points, colors, thickness=width)
