"""Skins: surfaces whose vertices follow several bodies."""

from typing import NamedTuple

import numpy as np

from mjx_like.types.model import Model
from mjx_like.visual.look import Look, look_of
from mjx_like.visual.surface import Surface


class Skin(NamedTuple):
    """A surface at its bind pose, and how its vertices follow bodies.

    body: of each bone, shape (nbone,); bind_pos, bind_quat: of the bones, shapes (nbone, 3) [m] and (nbone, 4) wxyz;
    weight: share of each bone in each vertex, shape (nvert, nbone).
    """

    group: int
    surface: Surface
    look: Look
    body: np.ndarray
    bind_pos: np.ndarray
    bind_quat: np.ndarray
    weight: np.ndarray


def skins(m: Model) -> list[Skin]:
    """Return the skins of a model."""
    return [_skin(m, index) for index in range(m.nskin)]


def _skin(m: Model, index: int) -> Skin:
    vertex = slice(m.skin_vertadr[index], m.skin_vertadr[index] + m.skin_vertnum[index])
    face = slice(m.skin_faceadr[index], m.skin_faceadr[index] + m.skin_facenum[index])
    bone = slice(m.skin_boneadr[index], m.skin_boneadr[index] + m.skin_bonenum[index])
    weight = np.zeros((int(m.skin_vertnum[index]), int(m.skin_bonenum[index])))
    shares = np.asarray(m.skin_bonevertweight, float)
    for number, (start, count) in enumerate(zip(m.skin_bonevertadr[bone], m.skin_bonevertnum[bone], strict=True)):
        weight[m.skin_bonevertid[start : start + count], number] = shares[start : start + count]
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-9)
    texcoord, start = None, m.skin_texcoordadr[index]
    if start >= 0:
        texcoord = np.asarray(m.skin_texcoord, float)[start : start + len(weight)]
    return Skin(
        int(m.skin_group[index]),
        Surface(np.asarray(m.skin_vert, float)[vertex], m.skin_face[face], texcoord),
        look_of(m, m.skin_rgba[index], int(m.skin_matid[index])),
        m.skin_bonebodyid[bone],
        np.asarray(m.skin_bonebindpos, float)[bone],
        np.asarray(m.skin_bonebindquat, float)[bone],
        weight,
    )
