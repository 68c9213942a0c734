"""The order in which MuJoCo's tree of boxes over the faces of a mesh is searched."""

import numpy as np

_SAME = 1e-14  # lengths that differ by less are equal


def face_order(vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return the faces of a mesh as a search without misses visits them, shape (nface,).

    Each box of the tree is halved along its longest side at the median of the centers of the circles through the
    corners of faces, and the second half is visited first.  Source: mjCBoundingVolumeHierarchy::MakeBVH, collideBVH.
    """
    corner = vert[face]
    middle, low, high = _circumcenter(corner), corner.min(axis=1), corner.max(axis=1)
    work, order = [np.arange(len(face))], []
    while work:
        faces = work.pop()
        if len(faces) == 1:
            order.append(faces[0])
            continue
        side = np.maximum(high[faces].max(axis=0) - low[faces].min(axis=0), 2 * _SAME)
        axis = int(side[1] >= side[0] + _SAME)
        axis = 2 if side[2] >= side[axis] + _SAME else axis
        coordinate = middle[faces, axis]
        rank = np.lexsort((faces, _merged(coordinate)))
        half = len(faces) // 2
        work += [faces[rank[:half]], faces[rank[half:]]]
    return np.array(order, int)


def order_of_tree(child: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return the faces of a tree of MuJoCo in the order of a search without misses, shape (nface,).

    child: nodes below each, -1 for none, shape (n, 2); face: that of a leaf, -1 within the tree, shape (n,).
    """
    work, order = [0] if len(face) else [], []
    while work:
        node = work.pop()
        if face[node] >= 0:
            order.append(face[node])
        else:
            work += [below for below in child[node] if below >= 0]
    return np.array(order, int)


def _circumcenter(corner: np.ndarray) -> np.ndarray:
    """Return the centers of the circles through the corners of triangles, shape (n, 3); the mean of corners in line."""
    a, b = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    normal = np.cross(a, b)
    square = np.sum(normal * normal, axis=1)
    long, short = np.sum(b * b, axis=1)[:, None], np.sum(a * a, axis=1)[:, None]
    way = np.cross(normal, a) * long + np.cross(b, normal) * short
    center = corner[:, 0] + way / np.where(square > 0, 2 * square, 1)[:, None]
    return np.where(square[:, None] > 0, center, corner.mean(axis=1))


def _merged(x: np.ndarray) -> np.ndarray:
    """Return numbers with those replaced that a chain of equal ones joins to a smaller one."""
    order = np.argsort(x, kind="stable")
    starts = np.concatenate([[True], np.diff(x[order]) > _SAME])
    out = np.empty_like(x)
    out[order] = x[order][starts][np.cumsum(starts) - 1]
    return out
