"""How a model is drawn: MuJoCo's visualization options, static."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

Rgb = tuple[float, float, float]
Rgba = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True)
class Global:
    """The free camera, the size of offscreen images and what is drawn.  Source: mjVisual.global."""

    cameraid: int  # of the first view; -1: the free camera
    orthographic: int
    fovy: float  # of the free camera [deg]; its height, if orthographic [m]
    ipd: float  # between the eyes of the free camera [m]
    azimuth: float  # of the free camera at first [deg]
    elevation: float
    linewidth: float  # [pixels]
    glow: float
    realtime: float  # speed at first, 1 for real time
    offwidth: int  # of offscreen images [pixels]
    offheight: int
    ellipsoidinertia: int
    bvactive: int


@dataclasses.dataclass(frozen=True)
class Quality:
    """How finely is drawn.  Source: mjVisual.quality."""

    shadowsize: int
    offsamples: int
    numslices: int
    numstacks: int
    numquads: int


@dataclasses.dataclass(frozen=True)
class Headlight:
    """The light that moves with the camera.  Source: mjVisual.headlight."""

    ambient: Rgb
    diffuse: Rgb
    specular: Rgb
    active: int  # 0: off, 1: on, 2: on where no other light is


@dataclasses.dataclass(frozen=True)
class Map:
    """Ranges and factors; distances are in units of `stat.extent`.  Source: mjVisual.map."""

    stiffness: float
    stiffnessrot: float
    force: float
    torque: float
    alpha: float
    fogstart: float
    fogend: float
    znear: float
    zfar: float
    haze: float
    shadowclip: float
    shadowscale: float
    actuatortendon: float


@dataclasses.dataclass(frozen=True)
class Scale:
    """Sizes of what is drawn beside the model, in units of `stat.meansize`.  Source: mjVisual.scale."""

    forcewidth: float
    contactwidth: float
    contactheight: float
    connect: float
    com: float
    camera: float
    light: float
    selectpoint: float
    jointlength: float
    jointwidth: float
    actuatorlength: float
    actuatorwidth: float
    framelength: float
    framewidth: float
    constraint: float
    slidercrank: float
    frustum: float


@dataclasses.dataclass(frozen=True)
class Colors:
    """Colours of what is drawn beside the model.  Source: mjVisual.rgba."""

    fog: Rgba
    haze: Rgba
    force: Rgba
    inertia: Rgba
    joint: Rgba
    actuator: Rgba
    actuatornegative: Rgba
    actuatorpositive: Rgba
    com: Rgba
    camera: Rgba
    light: Rgba
    selectpoint: Rgba
    connect: Rgba
    contactpoint: Rgba
    contactforce: Rgba
    contactfriction: Rgba
    contacttorque: Rgba
    contactgap: Rgba
    rangefinder: Rgba
    constraint: Rgba
    slidercrank: Rgba
    crankbroken: Rgba
    frustum: Rgba
    bv: Rgba
    bvactive: Rgba


@dataclasses.dataclass(frozen=True)
class Visual:
    """All visualization options, by MuJoCo's names; `global` is a word of Python's, so it has an underscore.

    Source: mjVisual.
    """

    global_: Global
    quality: Quality
    headlight: Headlight
    map: Map
    scale: Scale
    rgba: Colors


SECTIONS: dict[str, type[Any]] = {
    "global": Global, "quality": Quality, "headlight": Headlight, "map": Map, "scale": Scale, "rgba": Colors,
}  # fmt: skip


def visual_from(values: Mapping[str, Mapping[str, Any]]) -> Visual:
    """Return the options from values by section and name.

    Numbers are those of single precision, as mjModel has them.
    """
    made = {}
    for section, kind in SECTIONS.items():
        made[section] = kind(**{f.name: _plain(f.type, values[section][f.name]) for f in dataclasses.fields(kind)})
    return Visual(made.pop("global"), **made)


def visual_values(visual: Visual) -> dict[str, dict[str, Any]]:
    """Return the values by section and name, of which `visual_from` makes the options again."""
    return {name.removesuffix("_"): values for name, values in dataclasses.asdict(visual).items()}


def _plain(kind: Any, value: Any) -> Any:
    """Return a number of single precision, a whole number or a tuple of numbers, as the field has it."""
    if kind is int:
        return int(value)
    numbers = tuple(float(number) for number in np.asarray(value, np.float32).reshape(-1))
    return numbers[0] if kind is float else numbers
