"""Colours of textures at points of geoms, linear between pixels."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.types.enums import GeomType, TextureRole, TextureType
from mjx_like.types.model import Model

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
    material = np.maximum(m.geom_matid, 0)
    chosen = np.where(
        m.mat_texid[:, TextureRole.RGB] >= 0, m.mat_texid[:, TextureRole.RGB], m.mat_texid[:, TextureRole.RGBA]
    )
    found = np.where(m.geom_matid >= 0, chosen[material], -1)
    return (
        np.where((found >= 0) & (m.tex_adr[np.maximum(found, 0)] >= 0), found, -1) if m.ntex else np.full(m.ngeom, -1)
    )


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
    height, width = int(m.tex_height[texture]), int(m.tex_width[texture])
    at = at * np.array([width, height]) - 0.5
    low = jnp.floor(jax.lax.stop_gradient(at))
    share = at - low
    low = low.astype(jnp.int32)
    color: Array = jnp.zeros((at.shape[0], 3), at.dtype)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = jnp.where(dx, share[:, 0], 1 - share[:, 0]) * jnp.where(dy, share[:, 1], 1 - share[:, 1])
        pixel = _pixel(m, texture, (low[:, 1] + dy) % height, (low[:, 0] + dx) % width)
        color += weight[:, None] * pixel
    return color


def cube(m: Model, texture: int, direction: Array) -> Array:
    """Return the colour of a cube map in directions, shape (n, 3)."""
    width = int(m.tex_width[texture])
    sides = jnp.einsum("sij,nj->nsi", _SIDES.astype(direction.dtype), direction)
    side = jnp.argmax(sides[..., 2], axis=1)
    chosen = (np.arange(6) == side[:, None])[..., None]
    right, down, ahead = jnp.moveaxis(jnp.sum(jnp.where(chosen, sides, 0), axis=1), 1, 0)
    ahead = jnp.where(ahead > 0, ahead, 1)
    at = jnp.stack([right / ahead + 1, down / ahead + 1], axis=1) / 2 * width - 0.5
    low = jnp.floor(jax.lax.stop_gradient(at))
    share = at - low
    low = low.astype(jnp.int32)
    first = jnp.where(m.tex_height[texture] > width, side * width, 0)  # one picture may stand for all sides
    color: Array = jnp.zeros((at.shape[0], 3), at.dtype)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = jnp.where(dx, share[:, 0], 1 - share[:, 0]) * jnp.where(dy, share[:, 1], 1 - share[:, 1])
        row, column = (jnp.clip(low[:, k] + step, 0, width - 1) for k, step in ((1, dy), (0, dx)))
        color += weight[:, None] * _pixel(m, texture, first + row, column)
    return color


def _pixel(m: Model, texture: int, row: Array, column: Array) -> Array:
    """Return pixels, from 0 to 1, shape (n, 3)."""
    height, width, channels = (int(x[texture]) for x in (m.tex_height, m.tex_width, m.tex_nchannel))
    start = int(m.tex_adr[texture])
    pixels = m.tex_data[start : start + height * width * channels].reshape(-1, channels)
    pixels = pixels[:, :3] if channels >= 3 else np.repeat(pixels[:, :1], 3, axis=1)
    return jnp.asarray(pixels).at[row * width + column].get(mode="promise_in_bounds").astype(m.qpos0.dtype) / 255
