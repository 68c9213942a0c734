"""Objects that others refer to, in scaled frames."""

import dataclasses

import numpy as np

from mjx_like.compiler.scale.factors import UNSCALED, Scale


@dataclasses.dataclass
class Target:
    """An object of the tree, or a tendon, that others refer to: its factors, and whether it moves along a length.

    stretch: of a slide, the factor of lengths along it, which depends on its direction.
    free: whether it is a free joint, which moves along lengths and turns.
    """

    scale: Scale
    along: bool = True
    stretch: float | None = None
    free: bool = False

    @property
    def length(self) -> float:
        """Factor of its position."""
        return (self.stretch or self.scale.length) if self.along else 1.0

    @property
    def unit(self) -> float:
        """Factor of the unit of its position."""
        return self.scale.unit_length if self.along else 1.0

    @property
    def force(self) -> float:
        return self.scale.force if self.along else self.scale.torque


Targets = dict[tuple[str, str], Target]


def between(first: Scale, second: Scale) -> Scale:
    """The geometric means of two factors."""
    names = ("length", "mass", "unit_length", "unit_mass")
    return Scale(*(float(np.sqrt(getattr(first, name) * getattr(second, name))) for name in names))


def shared(found: list[Target]) -> Scale:
    """The factors of the innermost scaled frame that holds several objects, none if there is none."""
    scale = UNSCALED
    for level in zip(*(target.scale.frames for target in found), strict=False):
        if any(frame is not level[0] for frame in level):
            break
        scale = level[0]
    return scale
