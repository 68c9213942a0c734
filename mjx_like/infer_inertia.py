"""Masses and inertias of bodies from the shapes of their geoms, in JAX."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.geometry.inertia import diagonal_inertia, volume
from mjx_like.math import quaternion, safe
from mjx_like.math.linalg import matmul
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import put, take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

_SOLID = (GeomType.SPHERE, GeomType.CAPSULE, GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX)
_EQUAL = 1e-9  # share of the largest moment by which two must differ for their axes to have a derivative


def infer_inertia(
    m: Model,
    density: Array | float = 1000.0,
    mass: Array | None = None,
    shell: Sequence[int] = (),
    bodies: Sequence[int] | None = None,
) -> Model:
    """Return the Model with masses, inertias and inertial frames of bodies as the sizes of their geoms imply.

    A compiled model does not hold densities; they are given here. Call `set_const` on the result. Differentiable; where
    two principal moments are equal, as in a capsule, turning their axes has no derivative.

    Args:
      m: the model.
      density: of each geom, shape (ngeom,), or of all [kg/m^3, of shells kg/m^2].
      mass: of each geom, shape (ngeom,) [kg], in place of a density.
      shell: geoms whose mass lies on their surface.
      bodies: the bodies to change; None for all that have geoms, the world excepted.

    Raises:
      InputError: a body has no geom, or one that is not a primitive shape.
    Source: mjCBody::InertiaFromGeom.
    """
    bodies = np.unique(m.geom_bodyid[m.geom_bodyid > 0]) if bodies is None else np.asarray(bodies, int)
    _check(m, bodies)
    mass, inertia = _of_geoms(m, jnp.broadcast_to(density, (m.ngeom,)), mass, shell)
    changes: dict[str, list] = {name: [] for name in ("body_mass", "body_ipos", "body_iquat", "body_inertia")}
    for body in bodies:
        total = _of_body(m, np.flatnonzero(m.geom_bodyid == body), mass, inertia)
        for name, value in zip(changes, total, strict=True):
            width = value.size
            changes[name].append((width * body + np.arange(width), value))
    old = {name: getattr(m, name) for name in changes}
    return m.replace(
        **{name: put(old[name].ravel(), parts).reshape(old[name].shape) for name, parts in changes.items()}
    )


def _check(m: Model, bodies: np.ndarray) -> None:
    for body in bodies:
        kinds = m.geom_type[m.geom_bodyid == body]
        odd = [GeomType(kind).name.lower() for kind in kinds if kind not in _SOLID]
        if odd or not kinds.size:
            found = f"a geom of type {odd[0]}" if odd else "no geom"
            raise InputError(f"infer_inertia: body {body} has {found}; leave it out by bodies=, or set its inertia")


def _of_geoms(m: Model, density: Array, mass: Array | None, shell: Sequence[int]) -> tuple[Array, Array]:
    """Return masses, shape (ngeom,), and inertias about their own axes, (ngeom, 3); 0 where not a primitive."""
    masses, inertias = jnp.zeros_like(m.geom_rbound), jnp.zeros_like(m.geom_size)
    hollow = np.isin(np.arange(m.ngeom), shell)
    for kind in _SOLID:
        for thin in (False, True):
            ids = np.flatnonzero((m.geom_type == kind) & (hollow == thin))
            if not ids.size:
                continue
            size = take(m.geom_size, ids)
            content = jax.vmap(lambda s, kind=kind, thin=thin: volume(kind, s, thin))(size)
            own = take(density, ids) * content if mass is None else take(mass, ids)
            each = jax.vmap(lambda s, w, kind=kind, thin=thin: diagonal_inertia(kind, s, w, thin))(size, own)
            masses = put(masses, [(ids, own)])
            inertias = put(inertias.ravel(), [((3 * ids[:, None] + np.arange(3)).ravel(), each)]).reshape(-1, 3)
    return masses, inertias


def _of_body(m: Model, geoms: np.ndarray, mass: Array, inertia: Array) -> tuple[Array, Array, Array, Array]:
    """Return mass, centre, orientation and principal inertia of the geoms of one body."""
    own, pos, quat = take(mass, geoms), take(m.geom_pos, geoms), quaternion.normalize(take(m.geom_quat, geoms))
    if geoms.size == 1:
        return own[0], pos[0], quat[0], take(inertia, geoms)[0]
    total = jnp.sum(own)
    center = safe.divide(jnp.sum(own[:, None] * pos, axis=0), total)
    axes, offset = quaternion.matrix(quat), pos - center
    tensor = matmul(axes * take(inertia, geoms)[:, None, :], jnp.swapaxes(axes, 1, 2))
    square = jnp.sum(offset * offset, axis=1)[:, None, None] * np.eye(3) - offset[:, :, None] * offset[:, None, :]
    moments, axes = principal_axes(jnp.sum(tensor + own[:, None, None] * square, axis=0))
    return total, center, quaternion.from_matrix(axes), moments


@custom_jvp
def principal_axes(tensor: Array) -> tuple[Array, Array]:
    """Return the principal moments, largest first, and the axes as columns of a rotation, of a symmetric tensor."""
    moments, axes = jnp.linalg.eigh(tensor)
    first, second = axes[:, 2], axes[:, 1]
    return moments[::-1], jnp.stack([first, second, quaternion.cross(first, second)], axis=1)


@principal_axes.defjvp
def _principal_axes_jvp(primals, tangents):
    moments, axes = principal_axes(*primals)
    rate = matmul(axes.T, matmul(tangents[0], axes))
    gap = moments[None, :] - moments[:, None]
    apart = jnp.abs(gap) > _EQUAL * jnp.max(jnp.abs(moments))
    rotation = safe.divide(rate, gap, where=apart)
    return (moments, axes), (jnp.diag(rate), matmul(axes, rotation))
