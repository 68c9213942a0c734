"""Meshes for the tests, as arrays and in the file formats."""

import struct

import numpy as np

BLOCK = np.array([[x, y, z] for x in (0, 1.1) for y in (0, 0.7) for z in (0, 0.4)])
BLOCK_FACES = np.array([
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
    [1, 5, 7], [1, 7, 3],
])  # fmt: skip


def blob(count: int = 30, seed: int = 0) -> np.ndarray:
    """Return points on an uneven ellipsoid."""
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True) * [1.0, 0.6, 0.3] + [0.2, -0.1, 0.4]


def notched() -> tuple[np.ndarray, np.ndarray]:
    """Return a block with a point pushed into one side: closed, oriented, not convex."""
    vert = np.concatenate([BLOCK, [[0.55, 0.35, 0.15]]])
    top = [[1, 5, 8], [5, 7, 8], [7, 3, 8], [3, 1, 8]]
    return vert, np.concatenate([BLOCK_FACES[:10], top])


def text(values) -> str:
    return " ".join(f"{v:.9g}" for v in np.ravel(values))


def stl(vert, face) -> bytes:
    facet = np.zeros(len(face), np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")]))
    facet["corner"] = np.asarray(vert)[face]
    return bytes(80) + struct.pack("<I", len(face)) + facet.tobytes()


def ascii_stl(vert, face) -> bytes:
    lines = ["solid x"]
    for triangle in np.asarray(vert)[face]:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid x"]).encode()


def msh(vert, face=(), normal=(), texcoord=()) -> bytes:
    sizes = struct.pack("<4i", len(vert), len(normal), len(texcoord), len(face))
    floats = b"".join(np.asarray(x, "<f4").tobytes() for x in (vert, normal, texcoord))
    return sizes + floats + np.asarray(face, "<i4").tobytes()


def obj(vert, face=(), extra: str = "") -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vert]
    lines += ["f " + " ".join(str(i + 1) for i in f) for f in face]
    return "\n".join([*lines, extra]).encode()


def model(mesh: str, geom: str = '<geom type="mesh" mesh="m"/>', compiler: str = "", rest: str = "") -> str:
    """Return a model of one body with a mesh; `mesh` has the attributes of the asset named m."""
    return (
        f'<mujoco><compiler {compiler}/><asset><material name="red"/><mesh name="m" {mesh}/></asset><worldbody>'
        f'<body><joint axis="1 2 3"/>{geom}</body></worldbody>{rest}</mujoco>'
    )
