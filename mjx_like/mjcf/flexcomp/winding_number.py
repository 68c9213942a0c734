"""How often a surface winds around points: its solid angle there, from afar by the expansion of groups of triangles."""

import dataclasses

import numpy as np

_LEAF = 16  # triangles in the smallest groups
_FAR = 2.0  # radii from a group's middle beyond which it is expanded
_TINY = 1e-30  # below which a product of lengths is a point on the surface
_FLAT = 1e-12  # below which a solid angle is that of a triangle seen from its edge


@dataclasses.dataclass
class Surface:
    """Triangles in groups of groups.

    corner: of the triangles, shape (n, 3, 3); middle: weighted by area; radius: of the corners around it; normal: sum
    of half the cross products of the edges; moment: sum of the outer products of the triangles' offsets from the
    middle and their normals, shape (3, 3); parts: the two halves, none in the smallest groups.
    """

    corner: np.ndarray
    middle: np.ndarray
    radius: float
    normal: np.ndarray
    moment: np.ndarray
    parts: tuple["Surface", ...]

    @staticmethod
    def make(corner: np.ndarray) -> "Surface":
        """Return the surface of triangles, shape (n, 3, 3)."""
        center = corner.mean(axis=1)
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) / 2
        area = np.linalg.norm(normal, axis=1)
        middle = (area / area.sum()) @ center if area.sum() > _TINY else center.mean(axis=0)
        radius = np.sqrt(np.sum((corner - middle) ** 2, axis=-1).max())
        parts, extent = (), np.ptp(center, axis=0)
        if len(corner) > _LEAF and extent.max() > 0:
            rank = np.argsort(center[:, np.argmax(extent)], kind="stable")
            parts = tuple(Surface.make(corner[half]) for half in (rank[: len(rank) // 2], rank[len(rank) // 2 :]))
        return Surface(corner, middle, radius, normal.sum(axis=0), (center - middle).T @ normal, parts)

    def winding(self, point: np.ndarray) -> np.ndarray:
        """Return how often the surface winds around points, shape (n,); infinite at points on the surface.

        Source: Barill et al., Fast Winding Numbers for Soups and Clouds, 2018, expansion to second order.
        """
        offset = self.middle - point
        square = np.sum(offset**2, axis=1)
        far = (square > _TINY) & (square > (_FAR * self.radius) ** 2)
        found = np.empty(len(point))
        found[far] = self._expanded(offset[far], square[far])
        near = point[~far]
        if len(near):
            parts = [part.winding(near) for part in self.parts] if self.parts else [_angles(self.corner, near)]
            found[~far] = np.sum(parts, axis=0)
        return found

    def _expanded(self, offset: np.ndarray, square: np.ndarray) -> np.ndarray:
        bent = np.einsum("ni,ij,nj->n", offset, self.moment, offset)
        terms = offset @ self.normal + np.trace(self.moment) - 3 * bent / square
        return terms / (4 * np.pi * square**1.5)


def _angles(corner: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Solid angles of triangles summed at each point, in units of a full sphere.

    Source: Van Oosterom and Strackee, The Solid Angle of a Plane Triangle, 1983.
    """
    a, b, c = np.moveaxis(corner[None] - point[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(v, axis=-1) for v in (a, b, c))
    lengths = la * lb * lc
    volume = np.sum(a * np.cross(b, c), axis=-1)
    dots = lengths + la * np.sum(b * c, axis=-1) + lb * np.sum(c * a, axis=-1) + lc * np.sum(a * b, axis=-1)
    flat = np.abs(volume) <= _FLAT * lengths
    on = (lengths < _TINY) | (flat & (dots <= _FLAT * lengths))
    angle = np.where(flat, 0, np.arctan2(volume, dots)) / (2 * np.pi)
    return np.where(on.any(axis=1), np.inf, np.sum(np.where(on, 0, angle), axis=1))
