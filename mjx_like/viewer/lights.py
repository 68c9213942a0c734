"""The lights of a model in the scene of a viser server, or an even light from above in their stead."""

from typing import Any, NamedTuple

import numpy as np

from mjx_like.types.enums import LightType
from mjx_like.types.model import Model
from mjx_like.viewer.material import rgb
from mjx_like.viewer.server import import_viser
from mjx_like.visual.frames import Frames

_FULL = 3.5  # intensity of a light of diffuse 1, at which colours look as in MuJoCo
_SHADOWS = 2  # lights that cast shadows, at most: each takes maps that graphics cards have 16 of
_HEAD = 0.9  # share of the headlight, which viser cannot fix to the eye, that comes from all sides
_GAMMA = 1.6  # MuJoCo adds light as pixels have it, three.js before pixels are made of it
_DISTANCE = 10.0  # of the nodes of directional lights from the origin, which they shine at [m]
_KINDS = (LightType.SPOT, LightType.DIRECTIONAL, LightType.POINT)


class Fade(NamedTuple):
    """How light weakens with distance: intensity / distance**decay."""

    intensity: float
    decay: int


class Lights:
    """The lights of one world; those of a model that has none, or of several worlds in a grid, are an even light.

    A spot or point that casts shadows shines in parallel along its direction: viser covers what such a light shines at
    with stripes of shadow.

    Args:
      scene: `server.scene` of a viser.ViserServer.
      m: one model, without a batch axis.
      worlds: how many are drawn.
    """

    def __init__(self, scene: Any, m: Model, worlds: int):
        self.m, self._scene = m, scene
        active = [i for i in range(m.nlight) if m.light_active[i] and m.light_type[i] in _KINDS]
        self.model = active if worlds == 1 else []
        self._handles: list[Any] = []
        self._moving: dict[int, Any] = {}
        self._posed: np.ndarray | None = None
        self.own = bool(self.model)
        scene.configure_default_lights(False)
        scene.configure_environment_map(None)

    def show(self, frames: Frames, frame: int = 0) -> None:
        """Put the lights where they are at a frame, if they moved or others are wanted: `own` says which."""
        pose = np.concatenate([frames.light_xpos[frame, 0], frames.light_xdir[frame, 0]], axis=-1)
        if self._handles and self.own == bool(self._moving):
            if self.own and not np.array_equal(pose, self._posed):
                for light, handle in self._moving.items():
                    _move(handle, pose[light])
        else:
            self._remove()
            self._add_own(pose) if self.own else self._add_even()
        self._posed = pose

    def _remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self._moving = [], {}

    def _add_even(self) -> None:
        """Light the scene evenly from above, with shadows from one side."""
        self._handles = [
            self._scene.add_light_hemisphere(
                "/lights/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 160), intensity=2.0
            ),
            self._scene.add_light_directional(
                "/lights/sun", color=(255, 250, 240), intensity=2.8, cast_shadow=True, position=(3, -4, 8)
            ),
        ]

    def _add_own(self, pose: np.ndarray) -> None:
        ambient = ambient_light(self.m)
        self._handles = [
            self._scene.add_light_hemisphere(
                "/lights/sky", sky_color=rgb(ambient / ambient.max()), ground_color=rgb(0.7 * ambient / ambient.max()),
                intensity=_FULL * float(ambient.max()) ** _GAMMA,
            )
        ] if ambient.any() else []  # fmt: skip
        shadows = [i for i in self.model if self.m.light_castshadow[i]][:_SHADOWS]
        for light in self.model:
            self._moving[light] = self._add(light, pose[light], light in shadows)
        self._handles += self._moving.values()

    def _add(self, light: int, pose: np.ndarray, shadow: bool) -> Any:
        m, name, kind = self.m, f"/lights/{light}", self.m.light_type[light]
        diffuse = np.asarray(m.light_diffuse[light], float)
        most = max(float(diffuse.max()), 1e-6)
        color, intensity = rgb(diffuse / most), _FULL * most
        far = float(np.linalg.norm(pose[:3] - np.asarray(m.stat.center)))
        fade = fading(np.asarray(m.light_attenuation[light], float), far)
        cutoff = np.deg2rad(float(m.light_cutoff[light]))
        if kind == LightType.DIRECTIONAL or shadow:
            weaker = 1.0 if kind == LightType.DIRECTIONAL else fade.intensity / far**fade.decay
            handle = self._scene.add_light_directional(
                name, color=color, intensity=weaker * intensity, cast_shadow=shadow
            )
        elif kind == LightType.SPOT and cutoff < np.pi / 2:
            handle = self._scene.add_light_spot(
                name, color=color, intensity=intensity * fade.intensity, decay=fade.decay, angle=cutoff,
                penumbra=1.0 if m.light_exponent[light] > 0 else 0.0,
            )  # fmt: skip
        else:
            handle = self._scene.add_light_point(
                name, color=color, intensity=intensity * fade.intensity, decay=fade.decay
            )
        _move(handle, pose)
        return handle


def ambient_light(m: Model) -> np.ndarray:
    """Return the light from all sides, shape (3,): ambient parts of all lights, and a share of the headlight."""
    found, head = np.zeros(3), m.vis.headlight
    if head.active:
        found += np.asarray(head.ambient) + _HEAD * np.asarray(head.diffuse)
    for light in np.flatnonzero(m.light_active):
        found += np.asarray(m.light_ambient[light], float)
    return found


def fading(attenuation: np.ndarray, far: float) -> Fade:
    """Return the nearest power of the distance to a light's attenuation, the same at a distance.

    Args:
      attenuation: constant, linear and quadratic coefficient, shape (3,).
      far: where both are equal [m].
    """
    decay = int(np.flatnonzero(attenuation > 0)[-1]) if (attenuation > 0).any() else 0
    whole = float(attenuation @ far ** np.arange(3)) or 1.0
    return Fade(far**decay / whole, decay)


def _move(handle: Any, pose: np.ndarray) -> None:
    """Put a light at its position, and let it shine along its direction; shape (6,)."""
    position, direction = pose[:3], pose[3:]
    if isinstance(handle, import_viser().DirectionalLightHandle):
        position = -_DISTANCE * direction
    elif isinstance(handle, import_viser().SpotLightHandle):
        handle.direction = tuple(map(float, direction))
    handle.position = position
