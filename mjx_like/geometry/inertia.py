"""Volume, mass distribution and fluid coefficients of the primitive shapes.

Arrays are of NumPy or of JAX: `size` decides, and in JAX everything can be differentiated.
"""

import math

import numpy as np

from mjx_like.types.enums import GeomType

_EPS = 1e-14  # mjEPS, the compiler's smallest length
_SHELL_STEP = 1e-6  # thickness by which an ellipsoid's shell is differenced
_THOMSEN = 1.6075  # exponent of the approximate surface area of an ellipsoid


def volume(kind: GeomType, size: np.ndarray, shell: bool = False) -> float:
    """Return the volume [m^3], or the surface area [m^2] of a shell, of a primitive; 0 for a plane.

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      shell: whether the mass lies on the surface.
    Source: mjCGeom::GetVolume.
    """
    measure = _VOLUME.get(kind)
    return measure(size, shell) if measure else 0.0


def diagonal_inertia(kind: GeomType, size: np.ndarray, mass: float, shell: bool = False) -> np.ndarray:
    """Return the principal inertia about the centre in the geom's frame, shape (3,) [kg m^2]; zeros for a plane.

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      mass: mass [kg].
      shell: whether the mass lies on the surface.
    Source: mjCGeom::SetInertia.
    """
    distribute = _INERTIA.get(kind)
    return distribute(size, mass, shell) if distribute else 0 * size


def fluid_coefficients(kind: GeomType, size: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return geom_fluid of the ellipsoid model: flag, five user coefficients, virtual mass and inertia, shape (12,).

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      coefficients: blunt drag, slender drag, angular drag, Kutta lift, Magnus lift, shape (5,).
    Source: mjCGeom::SetFluidCoefs.
    """
    xp, axes = size.__array_namespace__(), _semiaxes(kind, size)
    kappa = xp.stack([_added_mass(*xp.roll(axes, -i)) for i in range(3)])
    content = 4 / 3 * math.pi * axes[0] * axes[1] * axes[2]
    first, second = (xp.roll(axes**2, shift) for shift in (-1, 1))
    low, high = (xp.roll(kappa, shift) for shift in (-1, 1))
    denominator = xp.abs(2 * (first - second) + (first + second) * (low - high))
    factor = (first - second) ** 2 * xp.abs(high - low) / xp.maximum(denominator, _EPS * xp.ones_like(axes))
    virtual = content * kappa / xp.maximum(2 - kappa, _EPS * xp.ones_like(axes))
    return xp.concat([xp.ones_like(axes[:1]), xp.asarray(coefficients), virtual, content * factor / 5])


def _volume_sphere(size, shell):
    return 4 * math.pi * size[0] ** 2 * (1 if shell else size[0] / 3)


def _volume_capsule(size, shell):
    radius, height = size[0], 2 * size[1]
    if shell:
        return 2 * math.pi * radius * (2 * radius + height)
    return math.pi * radius**2 * (height + 4 * radius / 3)


def _volume_cylinder(size, shell):
    radius, height = size[0], 2 * size[1]
    return 2 * math.pi * radius * (radius + height) if shell else math.pi * radius**2 * height


def _volume_ellipsoid(size, shell):
    if not shell:
        return 4 / 3 * math.pi * size[0] * size[1] * size[2]
    products = sum((size[i] * size[j]) ** _THOMSEN for i, j in ((0, 1), (1, 2), (2, 0)))
    return 4 * math.pi * (products / 3) ** (1 / _THOMSEN)


def _volume_box(size, shell):
    if not shell:
        return 8 * size[0] * size[1] * size[2]
    return 8 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0])


def _inertia_sphere(size, mass, shell):
    return _triple(size, *3 * [2 * mass * size[0] ** 2 / (3 if shell else 5)])


def _inertia_capsule(size, mass, shell):
    radius, height = size[0], 2 * size[1]
    if shell:
        ball = mass * 2 * radius / (2 * radius + height)
        com = radius / 2  # of a hemispherical shell, from its base
        offset = (size[1] + com) ** 2 - com**2
    else:
        ball = mass * 4 * radius / (4 * radius + 3 * height)
        offset = height * (3 * radius + 2 * height) / 8
    tube = mass - ball
    around = 2 * ball * radius**2 / (3 if shell else 5)
    across = tube * ((6 if shell else 3) * radius**2 + height**2) / 12 + around + ball * offset
    return _triple(size, across, across, tube * radius**2 / (1 if shell else 2) + around)


def _inertia_cylinder(size, mass, shell):
    radius, half = size[0], size[1]
    if not shell:
        across = mass * (3 * radius**2 + 4 * half**2) / 12
        return _triple(size, across, across, mass * radius**2 / 2)
    lid = mass * radius / (2 * radius + 4 * half)  # of each end; area pi r^2 of 2 pi r^2 + 4 pi r h
    side = mass - 2 * lid
    across = side * (6 * radius**2 + 4 * half**2) / 12 + 2 * lid * (radius**2 / 4 + half**2)
    return _triple(size, across, across, side * radius**2 + lid * radius**2)


def _inertia_ellipsoid(size, mass, shell):
    def solid(axes, weight):
        return weight * _others(axes**2) / 5

    if not shell:
        return solid(size, mass)
    outer = size + _SHELL_STEP
    inner_volume, outer_volume = _volume_ellipsoid(size, False), _volume_ellipsoid(outer, False)
    density = mass / (outer_volume - inner_volume)
    return solid(outer, outer_volume * density) - solid(size, inner_volume * density)


def _inertia_box(size, mass, shell):
    if not shell:
        return mass * _others(size**2) / 3
    x, y, z = size
    areas = _triple(size, y * z, z * x, x * y)  # of a face normal to each axis, over 4
    faces = mass * areas / (2 * sum(areas))
    second = size**2 * (2 * sum(faces) / 3 + 4 / 3 * faces)  # second moment of mass along each axis
    return _others(second)


def _others(x):
    """The sums of the other two of three numbers, without the rounding of a difference."""
    xp = x.__array_namespace__()
    return xp.roll(x, -1) + xp.roll(x, 1)


def _triple(size, *values):
    return size.__array_namespace__().stack(values)


_VOLUME = {
    GeomType.SPHERE: _volume_sphere,
    GeomType.CAPSULE: _volume_capsule,
    GeomType.CYLINDER: _volume_cylinder,
    GeomType.ELLIPSOID: _volume_ellipsoid,
    GeomType.BOX: _volume_box,
    GeomType.HFIELD: _volume_box,
}

_INERTIA = {
    GeomType.SPHERE: _inertia_sphere,
    GeomType.CAPSULE: _inertia_capsule,
    GeomType.CYLINDER: _inertia_cylinder,
    GeomType.ELLIPSOID: _inertia_ellipsoid,
    GeomType.BOX: _inertia_box,
    GeomType.HFIELD: _inertia_box,
}


def _semiaxes(kind: GeomType, size: np.ndarray) -> np.ndarray:
    """The semiaxes of the ellipsoid that stands for a shape in a fluid."""
    if kind == GeomType.SPHERE:
        return _triple(size, size[0], size[0], size[0])
    if kind == GeomType.CAPSULE:
        return _triple(size, size[0], size[0], size[0] + size[1])
    if kind == GeomType.CYLINDER:
        return _triple(size, size[0], size[0], size[1])
    return size


# Weights of the 15-point Gauss-Kronrod rule, with points l and slopes dl of the substitution l = x^3 / (1-x)^2.
_KRONROD_W = np.array([
    0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107,
    0.10221647, 0.09517529, 0.08450236, 0.07032663, 0.05239501, 0.03154605, 0.01146766,
])  # fmt: skip
_KRONROD_L = np.array([
    7.865151709349917e-08, 1.7347976913907274e-05, 0.0003548008144506193, 0.002846636252924549,
    0.014094260903596077, 0.053063261727396636, 0.17041978741317773, 0.5, 1.4036301548686991,
    3.9353484827022642, 11.644841677041734, 39.53187807410903, 177.5711362220801, 1429.4772912937397,
    54087.416549217705,
])  # fmt: skip
_KRONROD_D = np.array([
    5.538677720489877e-05, 0.002080868285293228, 0.016514126520723166, 0.07261900344370877,
    0.23985243401862602, 0.6868318249020725, 1.8551129519182894, 5.0, 14.060031152313941, 43.28941239611009,
    156.58546376397112, 747.9826085305024, 5827.4042950027115, 116754.0197944512, 25482945.327264845,
])  # fmt: skip


def _added_mass(dx, dy, dz):
    """The coefficient of added mass of an ellipsoid along its first axis.  Source: mjCGeom::GetAddedMassKappa."""
    scale = (dx**3 * dy * dz) ** 0.4
    first, second, third = (1 + scale * _KRONROD_L / d**2 for d in (dx, dy, dz))
    integrand = scale * _KRONROD_D / (first * (first * second * third) ** 0.5)
    return (integrand * _KRONROD_W).sum() / dx**2
