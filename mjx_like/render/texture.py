"""Colours of textures at points of geoms, linear between pixels."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.types.enums import GeomType, TextureType
from mjx_like.types.model import Model
from mjx_like.visual.look import pixels, texture_of_material

Array = jax.Array

# Of a direction (x, y, z) and each side right, left, up, down, front, back: the axis that points at it, and the rows
# that give the coordinates in it, to the right and down.  Source: OpenGL 4.6, table 8.19.
_SIDES = np.array(
    [
        [[0, 0, -1], [0, -1, 0], [1, 0, 0]],
        [[0, 0, 1], [0, -1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[1, 0, 0], [0, -1, 0], [0, 0, 1]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
    ],
    float,
)
_SKY = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # the world in the frame of a skybox
_SIZED = (GeomType.MESH, GeomType.HFIELD, GeomType.SDF, GeomType.PLANE)


def texture_of_geom(m: Model) -> np.ndarray:
    """Return the id of the texture of each geom, -1 for none, shape (ngeom,)."""
    if not m.nmat:
        return np.full(m.ngeom, -1)
    return np.where(m.geom_matid >= 0, texture_of_material(m)[np.maximum(m.geom_matid, 0)], -1)


def geom_color(m: Model, geom: Array, local: Array) -> Array:
    """Return the colour of the textures at points of geoms, 1 where there is none, shape (n, 3).

    Args:
      m: the model.
      geom: ids, shape (n,); those that are negative have none.
      local: the points in the frames of the geoms, shape (n, 3) [m].
    Source: settexture in render_gl3.c.
    """
    textures = texture_of_geom(m)
    color = jnp.ones_like(local)
    for texture in np.unique(textures[textures >= 0]):
        geoms = np.flatnonzero(textures == texture)
        own = geom[:, None] == geoms
        pick = own.astype(local.dtype)
        material, extent = m.geom_matid[geoms], _extent(m, geoms)
        uniform = m.mat_texuniform[material][:, None]
        if m.tex_type[texture] == TextureType.TEXTURE_2D:
            scale = pick @ (0.5 * m.mat_texrepeat[material] * jnp.where(uniform, 1, 1 / extent[:, :2]))
            found = flat(m, int(texture), local[:, :2] * scale * np.array([1.0, -1.0]) - 0.5)
        else:
            sized = np.isin(m.geom_type[geoms], _SIZED)[:, None]  # the others are unit shapes, scaled when drawn
            scale = pick @ jnp.where(sized, jnp.where(uniform, extent, 1), jnp.where(uniform, 1, 1 / extent))
            found = cube(m, int(texture), _from_caps(m, geoms, pick, local) * scale)
        color = jnp.where(own.any(axis=1)[:, None], found, color)
    return color


def _from_caps(m: Model, geoms: np.ndarray, pick: Array, local: Array) -> Array:
    """Return the points, those on the caps of capsules from the middle of the cap, where MuJoCo's unit sphere is."""
    capsule = (m.geom_type[geoms] == GeomType.CAPSULE)[:, None]
    radius, half = (pick @ jnp.where(capsule, m.geom_size[geoms], 1)[:, :2]).T
    z = local[:, 2]
    beyond = (jnp.abs(z) > half) & ((pick @ capsule.astype(local.dtype))[:, 0] > 0)
    cap = (z - jnp.sign(z) * half) * half / jnp.where(radius > 0, radius, 1)
    return jnp.concatenate([local[:, :2], jnp.where(beyond, cap, z)[:, None]], axis=1)


def _extent(m: Model, geoms: np.ndarray) -> Array:
    """Return by what MuJoCo scales the unit shapes of geoms, shape (k, 3) [m]."""
    size, kind = m.geom_size[geoms], m.geom_type[geoms][:, None]
    same = kind == GeomType.SPHERE
    round_ = np.isin(kind, (GeomType.CAPSULE, GeomType.CYLINDER))
    out = jnp.where(round_, size[:, [0, 0, 1]], jnp.where(same, size[:, :1], size))
    return jnp.where(out > 0, out, 1)


def sky_color(m: Model, direction: Array) -> Array:
    """Return the colour of the first skybox in directions, black without one, shape (n, 3)."""
    found = np.flatnonzero((m.tex_type == TextureType.SKYBOX) & (m.tex_adr >= 0))
    if not found.size:
        return jnp.zeros_like(direction)
    return cube(m, int(found[0]), direction @ _SKY.T.astype(direction.dtype))


def flat(m: Model, texture: int, at: Array) -> Array:
    """Return the colour of a flat texture that repeats, shape (n, 3); at: from its upper left corner, shape (n, 2)."""
    image = pixels(m, texture)
    height, width = image.shape[:2]
    return _between(image, at * np.array([width, height]), lambda row, column: (row % height, column % width))


def cube(m: Model, texture: int, direction: Array) -> Array:
    """Return the colour of a cube map in directions, shape (n, 3)."""
    image = pixels(m, texture)
    width = image.shape[1]
    sides = jnp.einsum("sij,nj->nsi", _SIDES.astype(direction.dtype), direction)
    side = jnp.argmax(sides[..., 2], axis=1)
    chosen = (np.arange(6) == side[:, None])[..., None]
    right, down, ahead = jnp.moveaxis(jnp.sum(jnp.where(chosen, sides, 0), axis=1), 1, 0)
    ahead = jnp.where(ahead > 0, ahead, 1)
    first = side * width if image.shape[0] > width else 0  # one picture may stand for all sides
    at = jnp.stack([right / ahead + 1, down / ahead + 1], axis=1) / 2 * width
    return _between(
        image, at, lambda row, column: (first + jnp.clip(row, 0, width - 1), jnp.clip(column, 0, width - 1))
    )


def _between(image: np.ndarray, at: Array, inside: Callable[[Array, Array], tuple[Array, Array]]) -> Array:
    """Return the colours of an image, from 0 to 1, linear between the middles of its pixels, shape (n, 3).

    at: to the right and down [pixels], shape (n, 2); inside: which row and column stand for those beyond the image.
    """
    image = image[..., :3] if image.shape[-1] >= 3 else np.repeat(image[..., :1], 3, axis=-1)
    table, at = jnp.asarray(image.reshape(-1, 3)), at - 0.5
    low = jnp.floor(jax.lax.stop_gradient(at))
    share, low = at - low, low.astype(jnp.int32)
    color: Array = jnp.zeros((at.shape[0], 3), at.dtype)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = (share[:, 0] if dx else 1 - share[:, 0]) * (share[:, 1] if dy else 1 - share[:, 1])
        row, column = inside(low[:, 1] + dy, low[:, 0] + dx)
        pixel = table.at[row * image.shape[1] + column].get(mode="promise_in_bounds").astype(at.dtype) / 255
        color += weight[:, None] * pixel
    return color
