"""Colours of textures at points of shapes."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.render.corner import Between
from mjx_like.render.drawn import Drawn
from mjx_like.render.mipmap import Levels, color_at, make_levels
from mjx_like.render.unwrap import UNWRAP, on_capsule
from mjx_like.types.enums import ColorSpace, GeomType, TextureType
from mjx_like.types.model import Model
from mjx_like.visual.cube import SIDES
from mjx_like.visual.look import pixels

Array = jax.Array

_SKY = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # the world in the frame of a skybox
_SIZED = (GeomType.MESH, GeomType.HFIELD, GeomType.SDF, GeomType.PLANE)


class Spot(NamedTuple):
    """Points in the frames of shapes, shape (n, 3), and their steps to neighbours, shape (2, n, 3).

    corner: what they have as points of faces of meshes, None without meshes.
    """

    point: Array
    step: Array
    corner: Between | None = None


def textures(m: Model, drawn: Drawn) -> dict[int, Levels]:
    """Return the textures that the shapes and the sky need, by id."""
    sky = sky_texture(m)
    needed = set(drawn.texture[drawn.include & (drawn.texture >= 0)].tolist()) | ({sky} if sky >= 0 else set())
    return {texture: _levels(m, texture) for texture in sorted(needed)}


def _levels(m: Model, texture: int) -> Levels:
    image, plane = pixels(m, texture), bool(m.tex_type[texture] == TextureType.TEXTURE_2D)
    sides = 6 if not plane and image.shape[0] > image.shape[1] else 1  # one picture may stand for all sides
    return make_levels(image, sides, plane, plane and bool(m.tex_colorspace[texture] == ColorSpace.SRGB))


def shape_color(m: Model, drawn: Drawn, found: dict[int, Levels], shape: Array, spot: Spot) -> Array:
    """Return the colour of the textures at points of shapes, 1 where there is none, shape (n, 3).

    Args:
      m: the model.
      drawn: the shapes.
      found: the textures by id.
      shape: numbers of shapes, shape (n,); those that are negative have none.
      spot: the points.
    Source: settexture in render_gl3.c.
    """
    color = jnp.ones_like(spot.point)
    for texture in np.unique(drawn.texture[drawn.include & (drawn.texture >= 0)]):
        own = np.flatnonzero(drawn.include & (drawn.texture == texture))
        here = shape[:, None] == own
        pick = here.astype(color.dtype)
        if m.tex_type[texture] == TextureType.TEXTURE_2D:
            image = flat(found[texture], *_coordinates(m, drawn, own, pick, spot))
        else:
            mapped, scale = _from_caps(drawn, own, pick, spot), pick @ _cube_scale(m, drawn, own)
            image = cube(found[texture], mapped.point * scale, mapped.step * scale)
        color = jnp.where(here.any(axis=1)[:, None], image, color)
    return color


def _with_texcoord(m: Model, drawn: Drawn, own: np.ndarray) -> np.ndarray:
    """Return which shapes are meshes or skins with texture coordinates of their own, shape (k,)."""
    kind, data, given = drawn.shapes.kind[own], drawn.shapes.data[own], np.zeros(own.size, bool)
    for surface, start in ((GeomType.MESH, m.mesh_texcoordadr), (GeomType.SKIN, m.skin_texcoordadr)):
        given[kind == surface] = start[data[kind == surface]] >= 0
    return given


def _coordinates(m: Model, drawn: Drawn, own: np.ndarray, pick: Array, spot: Spot) -> tuple[Array, Array]:
    """Return coordinates of points in flat textures, shape (n, 2), and their steps to neighbours, shape (2, n, 2)."""
    material, extent, kinds = drawn.material[own], _extent(drawn, own), drawn.shapes.kind[own]
    uniform, repeat = m.mat_texuniform[material][:, None], m.mat_texrepeat[material]
    # where nothing gives coordinates the picture lies across x and y
    scale = pick @ (0.5 * repeat * jnp.where(uniform, 1, 1 / extent[:, :2]) * np.array([1.0, -1.0]))
    at, step = spot.point[:, :2] * scale - 0.5, spot.step[..., :2] * scale
    repeat = pick @ (repeat * jnp.where(uniform, extent[:, :2], 1))
    unit, moved = (x / (pick @ (extent - 1) + 1) for x in spot[:2])
    given = _with_texcoord(m, drawn, own)
    if given.any():
        slope = jnp.einsum("nij,knj->kni", spot.corner.slope, spot.step)
        at, step = _where(pick, given, (spot.corner.texcoord * repeat, slope * repeat), (at, step))
    for kind, unwrap in (UNWRAP | {GeomType.CAPSULE: _on_capsule(drawn, own, pick)}).items():
        if (kinds == kind).any():
            value, slope = jax.vmap(lambda t, f=unwrap: jax.jvp(f, (unit,), (t,)))(moved)
            at, step = _where(pick, kinds == kind, (value[0] * repeat, slope * repeat), (at, step))
    endless = pick @ ((kinds == GeomType.PLANE)[:, None] & (drawn.shapes.size[own][:, :2] == 0)).astype(at.dtype)
    return at - endless * repeat / 2, step


def _on_capsule(drawn: Drawn, own: np.ndarray, pick: Array) -> Callable[[Array], Array]:
    size = pick @ jnp.where((drawn.shapes.kind[own] == GeomType.CAPSULE)[:, None], drawn.shapes.size[own], 1)
    return lambda unit: on_capsule(unit, safe.divide(size[:, 1], size[:, 0]))


def _where(pick: Array, chosen: np.ndarray, new: tuple[Array, Array], old: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the new coordinates and steps of points on chosen shapes, the old ones of others."""
    here = (pick @ chosen.astype(pick.dtype) > 0)[:, None]
    return jnp.where(here, new[0], old[0]), jnp.where(here, new[1], old[1])


def _cube_scale(m: Model, drawn: Drawn, own: np.ndarray) -> Array:
    """Return by what points of shapes are scaled to directions in cubes, shape (k, 3)."""
    uniform, extent = m.mat_texuniform[drawn.material[own]][:, None], _extent(drawn, own)
    sized = np.isin(drawn.shapes.kind[own], _SIZED)[:, None]  # the others are unit shapes, scaled when drawn
    return jnp.where(sized, jnp.where(uniform, extent, 1), jnp.where(uniform, 1, 1 / extent))


def _from_caps(drawn: Drawn, own: np.ndarray, pick: Array, spot: Spot) -> Spot:
    """Return the points, those on the caps of capsules from the middle of the cap, where MuJoCo's unit sphere is."""
    capsule = (drawn.shapes.kind[own] == GeomType.CAPSULE)[:, None]
    radius, half = (pick @ jnp.where(capsule, drawn.shapes.size[own], 1)[:, :2]).T
    z = spot.point[:, 2]
    beyond = (jnp.abs(z) > half) & ((pick @ capsule.astype(z.dtype))[:, 0] > 0)
    stretch = jnp.where(beyond, half / jnp.where(radius > 0, radius, 1), 1)
    z = jnp.where(beyond, z - jnp.sign(z) * half, z) * stretch
    point = jnp.concatenate([spot.point[:, :2], z[:, None]], axis=1)
    return Spot(point, spot.step * jnp.stack([jnp.ones_like(z), jnp.ones_like(z), stretch], axis=1))


def _extent(drawn: Drawn, own: np.ndarray) -> Array:
    """Return by what MuJoCo scales the unit shapes, shape (k, 3) [m]."""
    size, kind = drawn.shapes.size[own], drawn.shapes.kind[own][:, None]
    same = kind == GeomType.SPHERE
    round_ = np.isin(kind, (GeomType.CAPSULE, GeomType.CYLINDER))
    out = jnp.where(round_, size[:, np.array([0, 0, 1])], jnp.where(same, size[:, :1], size))
    return jnp.where(out > 0, out, 1)


def sky_texture(m: Model) -> int:
    """Return the id of the first skybox, -1 if there is none."""
    found = np.flatnonzero((m.tex_type == TextureType.SKYBOX) & (m.tex_adr >= 0))
    return int(found[0]) if found.size else -1


def sky_color(m: Model, found: dict[int, Levels], direction: Array, step: Array) -> Array:
    """Return the colour of the sky in directions, black without one, shape (n, 3); step: to neighbours, (2, n, 3)."""
    sky = sky_texture(m)
    if sky < 0:
        return jnp.zeros_like(direction)
    turn = _SKY.T.astype(direction.dtype)
    return cube(found[sky], direction @ turn, step @ turn)


def flat(levels: Levels, at: Array, step: Array) -> Array:
    """Return the colour of a flat texture that repeats, shape (n, 3).

    at: from its upper left corner, 1 for its size, shape (n, 2); step: to the neighbours, shape (2, n, 2).
    """
    size = np.array([levels.width[0], levels.height[0]])
    return color_at(levels, at * size, step * size)


def cube(levels: Levels, direction: Array, step: Array) -> Array:
    """Return the colour of a cube map in directions, shape (n, 3); step: to the neighbours, shape (2, n, 3)."""
    width = int(levels.width[0])
    frames = SIDES.astype(direction.dtype)
    sides = jnp.einsum("sij,nj->nsi", frames, direction)
    side = jnp.argmax(sides[..., 2], axis=1)
    frame = jnp.einsum("ns,sij->nij", (np.arange(6) == side[:, None]).astype(direction.dtype), frames)
    right, down, ahead = jnp.einsum("nij,nj->in", frame, direction)
    ahead = jnp.where(ahead > 0, ahead, 1)
    at = jnp.stack([right / ahead, down / ahead], axis=1)
    moved = jnp.einsum("nij,knj->kni", frame, jnp.broadcast_to(step, (2, *direction.shape)))
    slope = (moved[..., :2] - at * moved[..., 2:]) / ahead[:, None]
    one = int(levels.first[1]) == width * width if levels.first.size > 1 else True
    return color_at(levels, (at + 1) / 2 * width, slope / 2 * width, 0 if one else side)
