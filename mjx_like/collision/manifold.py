"""Several points for nearly flat contacts of cylinders: two caps, a cap and a box face, or a straight edge on a face.

A cap stands for a regular polygon of 16 corners. Faces within 0.0889 rad of each other are clipped, and so is an
edge within that angle of a face. Source: the multiple-contact rules of MuJoCo's native convex collision, measured on
4.0.0. Where MuJoCo picks four of many corners, ties are decided there by rounding; here the first widest four count.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.clip import clip_polygon, four_corners
from mjx_like.collision.shape import Point, Shape
from mjx_like.math import vector as v
from mjx_like.types.enums import GeomType

Array = jax.Array

_FLAT = np.sin(0.0889)  # sine of the largest angle between an edge and a face
_FACING = np.cos(0.0889)
_CORNERS = 16
_TURN = 2 * np.pi / _CORNERS * np.arange(_CORNERS)
_SIDES = np.stack([np.cos(_TURN + np.pi / _CORNERS), np.sin(_TURN + np.pi / _CORNERS)], axis=1)
_RECTANGLE = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])


class _Face:
    """A face of each pair: its middle, axes in it, outward normal, and its sides."""

    def __init__(self, middle: v.Vector, x: v.Vector, y: v.Vector, normal: v.Vector, sides: np.ndarray, limits: Array):
        self.middle, self.x, self.y, self.normal, self.sides, self.limits = middle, x, y, normal, sides, limits

    def coordinates(self, p: v.Vector) -> tuple[Array, Array, Array]:
        """Return x, y and height of a point."""
        offset = v.sub(p, self.middle)
        return v.dot(offset, self.x), v.dot(offset, self.y), v.dot(offset, self.normal)


def several(kinds: tuple[GeomType, GeomType], a: Shape, b: Shape, single: Point, detect: Array) -> list[Point]:
    """Return two points for a capsule and a cylinder, else four; without a flat contact, `single` and none."""
    n = single.normal
    if kinds[0] == GeomType.CAPSULE:
        cap, steep = _cap(b, v.scale(n, -1))
        flat = steep & (jnp.abs(v.dot(a.axes[2], cap.normal)) < _FLAT)
        line = _capsule_line(a, n, 0.5 * detect)
        return _merge([], _line(*line, cap, -1, flat, detect, 0.5 * detect), single)
    own, steep = _cap(a, n)
    line = _cylinder_line(a, n)
    if kinds[1] == GeomType.CYLINDER:
        other, other_steep = _cap(b, v.scale(n, -1))
        level = jnp.abs(v.dot(a.axes[2], b.axes[2])) < _FLAT
        two_caps = _opposed(own.normal, other.normal, n)
        lines = _either(
            other_steep,
            _line(*line, other, -1, level & other_steep, detect),
            _line(*_cylinder_line(b, v.scale(n, -1)), own, 1, level & steep & ~other_steep, detect),
        )
        return _merge(_faces(own, other.normal, _rim(b, other), two_caps, detect), lines, single)
    face, corners = _opposing_face(b, own.normal)
    two_faces = _opposed(own.normal, face, n)
    side, level = _level_face(b, n, a.axes[2])
    return _merge(
        _faces(own, face, corners, two_faces, detect), _line(*line, side, -1, level & ~two_faces, detect), single
    )


def _opposed(normal1: v.Vector, normal2: v.Vector, n: v.Vector) -> Array:
    """Return whether two faces lie on each other: nearly parallel, and both across the contact normal."""
    return (v.dot(normal1, normal2) < -_FACING) & (v.dot(normal1, n) > _FLAT) & (v.dot(normal2, n) < -_FLAT)


def _cap(cylinder: Shape, towards: v.Vector) -> tuple[_Face, Array]:
    """Return the cap that faces a direction, and whether it does so at all."""
    x, y, z = cylinder.axes
    rise = v.dot(z, towards)
    normal = v.scale(z, jnp.where(rise >= 0, 1, -1))
    limits = jnp.broadcast_to(cylinder.size[0] * np.cos(np.pi / _CORNERS), (_CORNERS, *rise.shape))
    middle = v.along(cylinder.pos, normal, cylinder.size[1])
    return _Face(middle, x, y, normal, _SIDES, limits), jnp.abs(rise) > _small(rise)


def _small(x: Array) -> float:
    return float(np.sqrt(np.finfo(x.dtype).eps))


def _rim(cylinder: Shape, cap: _Face) -> list[v.Vector]:
    """Return the corners of the polygon that stands for a cap."""
    x, y = v.scale(cylinder.axes[0], cylinder.size[0]), v.scale(cylinder.axes[1], cylinder.size[0])
    return [v.along(v.along(cap.middle, x, np.cos(t)), y, np.sin(t)) for t in _TURN]


def _capsule_line(capsule: Shape, n: v.Vector, margin: Array) -> tuple[v.Vector, v.Vector]:
    """Return the ends of the line on the side that faces n of a capsule that is thicker by a margin."""
    z, radius = capsule.axes[2], capsule.size[0] + margin
    middle = v.along(v.along(capsule.pos, n, radius), z, -radius * v.dot(n, z))
    return v.along(middle, z, -capsule.size[1]), v.along(middle, z, capsule.size[1])


def _cylinder_line(cylinder: Shape, n: v.Vector) -> tuple[v.Vector, v.Vector]:
    """Return the ends of the line on a cylinder's side that faces n."""
    z = cylinder.axes[2]
    outward, _ = v.normalize(v.along(n, z, -v.dot(n, z)), otherwise=cylinder.axes[0])
    middle = v.along(cylinder.pos, outward, cylinder.size[0])
    return v.along(middle, z, -cylinder.size[1]), v.along(middle, z, cylinder.size[1])


def _opposing_face(box: Shape, normal: v.Vector) -> tuple[v.Vector, list[v.Vector]]:
    """Return outward normal and corners of the face of a box that most opposes a direction."""
    rise = v.project(box.axes, normal)
    lean = [jnp.abs(r) for r in rise]
    z = (lean[2] > lean[0]) & (lean[2] > lean[1])
    y = ~z & (lean[1] > lean[0])

    def pick(values: tuple, shift: int):
        p, q, r = (values[(k + shift) % 3] for k in range(3))
        if isinstance(p, tuple):
            return v.select(z, r, v.select(y, q, p))
        return jnp.where(z, r, jnp.where(y, q, p))

    outward = v.scale(pick(box.axes, 0), jnp.where(pick(rise, 0) > 0, -1, 1))
    middle = v.along(box.pos, outward, pick(box.size, 0))
    first, second = (v.scale(pick(box.axes, k), pick(box.size, k)) for k in (1, 2))
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    return outward, [v.along(v.along(middle, first, p), second, q) for p, q in signs]


def _level_face(box: Shape, n: v.Vector, axis: v.Vector) -> tuple[_Face, Array]:
    """Return the first face towards -n of a box that is level with an axis, and whether there is one."""
    rise, lean = v.project(box.axes, n), v.project(box.axes, axis)
    found = jnp.zeros(n[0].shape, bool)
    face = None
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        outward = v.scale(box.axes[k], jnp.where(rise[k] > 0, -1, 1))
        limits = jnp.stack([box.size[i], box.size[i], box.size[j], box.size[j]])
        own = (v.along(box.pos, outward, box.size[k]), box.axes[i], box.axes[j], outward, limits)
        level = (jnp.abs(lean[k]) < _FLAT) & (jnp.abs(rise[k]) > _small(n[0]))
        if face is None:
            face = own
        else:
            new = level & ~found
            face = (
                *(v.select(new, p, q) for p, q in zip(own[:4], face[:4], strict=True)),
                jnp.where(new, own[4], face[4]),
            )
        found |= level
    return _Face(*face[:4], _RECTANGLE, face[4]), found


def _line(start, end, face: _Face, sense: int, flat: Array, detect: Array, margin: Array | float = 0.0) -> list[Point]:
    """Return the ends of a line clipped by the sides of a face; `sense` is 1 if the face is of the first geom.

    margin: by how much the line already stands out of its geom [m].
    """
    p, q = face.coordinates(start), face.coordinates(end)
    sides = face.sides.astype(p[0].dtype)
    outside1, outside2 = (sides[:, :1] * c[0] + sides[:, 1:] * c[1] - face.limits for c in (p, q))
    crosses = (outside1 > 0) != (outside2 > 0)
    share = jnp.where(crosses, outside1 / jnp.where(crosses, outside1 - outside2, 1), 0)
    low = jnp.max(jnp.where(crosses & (outside1 > 0), share, 0), axis=0)
    high = jnp.min(jnp.where(crosses & (outside1 <= 0), share, 1), axis=0)
    missed = jnp.any((outside1 > 0) & (outside2 > 0), axis=0) | (low > high)
    points = []
    for place in (low, high):
        at = v.along(start, v.sub(end, start), place)
        height = p[2] + place * (q[2] - p[2])
        normal = v.scale(face.normal, sense)
        valid = flat & ~missed & (height + margin <= detect)
        points.append(Point(height + margin, v.along(at, face.normal, 0.5 * (margin - height)), normal, valid))
    return points


def _faces(face: _Face, opposed: v.Vector, corners: list[v.Vector], flat: Array, detect: Array) -> list[Point]:
    """Return up to four corners of the second geom's face, of normal `opposed`, clipped by the first one's."""
    rows = [face.coordinates(c) for c in corners]
    polygon = jnp.stack([jnp.stack([row[i] for row in rows]) for i in range(3)])
    slots = len(corners) + face.sides.shape[0]
    polygon, count = clip_polygon(polygon, slots, face.sides, face.limits)
    valid = (np.arange(slots)[:, None] < count) & (polygon[2] <= detect) & flat
    points = []
    for corner, exists in zip(*four_corners(polygon, valid), strict=True):
        on_face = v.along(v.along(face.middle, face.x, corner[0]), face.y, corner[1])
        dist = -corner[2] * v.dot(face.normal, opposed)
        points.append(Point(dist, v.along(on_face, opposed, -0.5 * dist), v.scale(opposed, -1), exists))
    return points


def _either(first: Array, a: list[Point], b: list[Point]) -> list[Point]:
    return [
        Point(
            jnp.where(first, p.dist, q.dist),
            v.select(first, p.pos, q.pos),
            v.select(first, p.normal, q.normal),
            jnp.where(first, p.valid, q.valid),
        )
        for p, q in zip(a, b, strict=True)
    ]


def _merge(faces: list[Point], lines: list[Point], single: Point) -> list[Point]:
    """Return the points of two faces if there are any, else those of a line, else the single one."""
    by_line = lines[0].valid | lines[1].valid
    none = jnp.zeros_like(by_line)
    out = _either(by_line, lines, [single._replace(valid=~none), single._replace(valid=none)])
    if not faces:
        return out
    by_face = faces[0].valid
    out += [single._replace(valid=none)] * 2
    return _either(by_face, faces, out)
