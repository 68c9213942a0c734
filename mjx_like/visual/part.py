"""What is drawn with each body: triangles in its frame, of one colour or with one picture."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mjx_like.types.enums import GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.visual.cube import cubed
from mjx_like.visual.look import Look, look_of
from mjx_like.visual.surface import Surface, geom_surface, planar_texcoord, site_surface

GROUPS = (0, 1, 2)  # drawn unless something else is asked for, as in MuJoCo's viewer


class Part(NamedTuple):
    """Triangles that move with a body.

    body: its id; kind: geom or site; id: of the first of them; group: theirs; ground: whether it is a plane of the
    world; surface: in the frame of the body; look: theirs.
    """

    body: int
    kind: ObjType
    id: int
    group: int
    ground: bool
    surface: Surface
    look: Look


def parts(m: Model, groups: Iterable[int] = GROUPS, sites: bool = True) -> list[Part]:
    """Return all that moves with bodies: a Part for each body, group and colour, and for each geom with a picture.

    Args:
      m: one model, without a batch axis.
      groups: of the geoms and sites.
      sites: whether sites are drawn.
    """
    groups = frozenset(groups)
    found: dict[tuple, list[Part]] = {}
    kinds = (ObjType.GEOM, ObjType.SITE) if sites else (ObjType.GEOM,)
    for part in (_part(m, kind, index) for kind in kinds for index in _visible(m, kind, groups)):
        key = (part.body, part.kind, part.group, part.ground, tuple(part.look.rgba), part.look[4:])
        if part.look.picture is not None:
            key = (len(found),)
        found.setdefault(key, []).append(part)
    return [merged[0]._replace(surface=_merged([part.surface for part in merged])) for merged in found.values()]


def _visible(m: Model, kind: ObjType, groups: frozenset[int]) -> list[int]:
    prefix = kind.name.lower()
    group, rgba = getattr(m, f"{prefix}_group"), np.asarray(getattr(m, f"{prefix}_rgba"))
    return [index for index in range(len(group)) if group[index] in groups and rgba[index, 3] > 0]


def _part(m: Model, kind: ObjType, index: int) -> Part:
    prefix = kind.name.lower()
    body, group, material = (int(getattr(m, f"{prefix}_{name}")[index]) for name in ("bodyid", "group", "matid"))
    look = look_of(m, getattr(m, f"{prefix}_rgba")[index], material)
    own = geom_surface(m, index) if kind == ObjType.GEOM else site_surface(m, index)
    if look.sides:
        shape, size = (getattr(m, f"{prefix}_{name}")[index] for name in ("type", "size"))
        own = cubed(own, GeomType(int(shape)), np.asarray(size, float), look.uniform, look.picture.shape[1], look.sides)
    elif look.picture is not None and own.texcoord is None:
        size = np.asarray(getattr(m, f"{prefix}_size")[index], float)[:2]
        own = own._replace(texcoord=planar_texcoord(own.vertex, size, look.repeat, look.uniform))
    pos, quat = (np.asarray(getattr(m, f"{prefix}_{name}")[index], float) for name in ("pos", "quat"))
    ground = kind == ObjType.GEOM and body == 0 and m.geom_type[index] == GeomType.PLANE
    return Part(body, kind, index, group, ground, own._replace(vertex=own.vertex @ rotation(quat).T + pos), look)


def bounds(
    m: Model, drawn: list[Part], xpos: np.ndarray, xquat: np.ndarray, soft: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box around all that can move, around everything but the ground if nothing can.

    drawn: as `parts` returns them; xpos, xquat: of the bodies, shapes (nbody, 3) and (nbody, 4) [m; wxyz, world]; soft:
    points that are no body's, shape (n, 3) [m, world].
    """
    soft = np.zeros((0, 3)) if soft is None else soft
    solid = [part for part in drawn if not part.ground]
    chosen = [part for part in solid if m.body_weldid[part.body] or m.body_mocapid[part.body] >= 0]
    chosen = chosen if chosen or len(soft) else solid
    if not chosen and not len(soft):
        center, half = np.asarray(m.stat.center, float), 0.5 * float(m.stat.extent)
        return center - half, center + half
    corner = np.concatenate([p.surface.vertex @ rotation(xquat[p.body]).T + xpos[p.body] for p in chosen] + [soft])
    return corner.min(axis=0), corner.max(axis=0)


def _merged(surfaces: list[Surface]) -> Surface:
    if len(surfaces) == 1:
        return surfaces[0]
    start = np.cumsum([0] + [len(s.vertex) for s in surfaces[:-1]])
    return Surface(
        np.concatenate([s.vertex for s in surfaces]),
        np.concatenate([s.face + k for s, k in zip(surfaces, start, strict=True)]),
    )


def rotation(quat: np.ndarray) -> np.ndarray:
    """Return the matrices of quaternions wxyz, shape (..., 3, 3)."""
    from scipy.spatial.transform import Rotation  # here: it takes 0.1 s to import

    flat = Rotation.from_quat(np.asarray(quat, float).reshape(-1, 4), scalar_first=True).as_matrix()
    return flat.reshape(*np.shape(quat)[:-1], 3, 3)
