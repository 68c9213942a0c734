"""Volume, mass distribution and fluid coefficients of the primitive shapes, in NumPy."""

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
    return distribute(np.asarray(size, float), mass, shell) if distribute else np.zeros(3)


def fluid_coefficients(kind: GeomType, size: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return geom_fluid of the ellipsoid model: flag, five user coefficients, virtual mass and inertia, shape (12,).

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      coefficients: blunt drag, slender drag, angular drag, Kutta lift, Magnus lift, shape (5,).
    Source: mjCGeom::SetFluidCoefs.
    """
    axes = _semiaxes(kind, size)
    kappa = np.array([_added_mass(*np.roll(axes, -i)) for i in range(3)])
    content = 4 / 3 * math.pi * np.prod(axes)
    squared, following = axes**2, [1, 2, 0]
    first, second = squared[following], squared[[2, 0, 1]]
    low, high = kappa[following], kappa[[2, 0, 1]]
    denominator = np.abs(2 * (first - second) + (first + second) * (low - high))
    factor = (first - second) ** 2 * np.abs(high - low) / np.maximum(_EPS, denominator)
    return np.concatenate(
        [[1.0], coefficients, content * kappa / np.maximum(_EPS, 2 - kappa), content * factor / 5],
    )


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
    products = np.array([size[0] * size[1], size[1] * size[2], size[2] * size[0]]) ** _THOMSEN
    return 4 * math.pi * (products.sum() / 3) ** (1 / _THOMSEN)


def _volume_box(size, shell):
    if not shell:
        return 8 * size[0] * size[1] * size[2]
    return 8 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0])


def _inertia_sphere(size, mass, shell):
    return np.full(3, 2 * mass * size[0] ** 2 / (3 if shell else 5))


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
    return np.array([across, across, tube * radius**2 / (1 if shell else 2) + around])


def _inertia_cylinder(size, mass, shell):
    radius, half = size[0], size[1]
    if not shell:
        across = mass * (3 * radius**2 + 4 * half**2) / 12
        return np.array([across, across, mass * radius**2 / 2])
    lid = mass * radius / (2 * radius + 4 * half)  # of each end; area pi r^2 of 2 pi r^2 + 4 pi r h
    side = mass - 2 * lid
    across = side * (6 * radius**2 + 4 * half**2) / 12 + 2 * lid * (radius**2 / 4 + half**2)
    return np.array([across, across, side * radius**2 + lid * radius**2])


def _inertia_ellipsoid(size, mass, shell):
    def solid(axes, weight):
        return weight * (np.sum(axes**2) - axes**2) / 5

    if not shell:
        return solid(size, mass)
    outer = size + _SHELL_STEP
    inner_volume, outer_volume = 4 * math.pi * np.prod(size) / 3, 4 * math.pi * np.prod(outer) / 3
    density = mass / (outer_volume - inner_volume)
    return solid(outer, outer_volume * density) - solid(size, inner_volume * density)


def _inertia_box(size, mass, shell):
    if not shell:
        return mass * (np.sum(size**2) - size**2) / 3
    areas = np.prod(size) / size  # of a face normal to each axis, over 4
    faces = mass * areas / (2 * areas.sum())
    second = np.zeros(3)  # second moment of mass along each axis
    for axis in range(3):
        inside = size**2 / 3
        inside[axis] = size[axis] ** 2
        second += 2 * faces[axis] * inside
    return second.sum() - second


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
        return np.full(3, size[0])
    if kind == GeomType.CAPSULE:
        return np.array([size[0], size[0], size[0] + size[1]])
    if kind == GeomType.CYLINDER:
        return np.array([size[0], size[0], size[1]])
    return np.asarray(size, float)


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


def _added_mass(dx: float, dy: float, dz: float) -> float:
    """The coefficient of added mass of an ellipsoid along its first axis.  Source: mjCGeom::GetAddedMassKappa."""
    scale = (dx**3 * dy * dz) ** 0.4
    first, second, third = (1 + scale * _KRONROD_L / d**2 for d in (dx, dy, dz))
    integrand = scale * _KRONROD_D / (first * np.sqrt(first * second * third))
    return float(np.sum(integrand * _KRONROD_W)) / dx**2
