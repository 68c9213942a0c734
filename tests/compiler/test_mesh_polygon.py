"""The flat sides of convex hulls are MuJoCo's in number, order and first vertex; so are triangles cut from polygons."""

import numpy as np
import pytest

from tests.compiler.compare import compile_source, oracle
from tests.compiler.meshes import model, obj, text

FIELDS = ("mesh_polynum", "mesh_polyadr", "mesh_polyvertadr", "mesh_polyvertnum", "mesh_polyvert", "mesh_polynormal",
          "mesh_polymapadr", "mesh_polymapnum", "mesh_polymap")  # fmt: skip


def _prism(sides: int, low: float) -> np.ndarray:
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([np.insert(ring, 2, z, axis=1) for z in (low, 1.0)])


def _ball(count: int) -> np.ndarray:
    point = np.random.default_rng(count).normal(size=(count, 3))
    return point / np.linalg.norm(point, axis=1, keepdims=True)


SHAPES = {
    "prism": _prism(7, -1.0),
    "finely cut ball": _ball(600),
    "ball": _ball(40),
    "two cones": np.concatenate([_prism(40, 0.97), [[0, 0, -0.3], [0, 0, 1.2]]]),
    "grid": np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("scale", ["1 1 1", "1 -2 .5"])
def test_sides(name, scale):
    source = model(f'vertex="{text(SHAPES[name])}" scale="{scale}"')
    ours, theirs = compile_source(source).fields, oracle(source).fields
    assert ours["nmeshpoly"] == theirs["nmeshpoly"]
    for field in FIELDS:
        np.testing.assert_allclose(ours[field], theirs[field], atol=1e-9, err_msg=field)


def _polygons(sides: int, seed: int) -> np.ndarray:
    """Return polygons, shape (30, sides, 3), anywhere in space: some are not convex, not flat or not simple."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2 * np.pi, (30, sides)), axis=1)
    radius = np.where(rng.random((30, 1)) < 0.5, 1, rng.uniform(0.3, 1, (30, sides)))
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros((30, sides))], axis=2)
    points[20:, :, 2] = rng.normal(size=(10, sides)) / 10
    points[28:] = rng.normal(size=(2, sides, 3))
    points[::2] = points[::2, ::-1]
    turn, _ = np.linalg.qr(rng.normal(size=(30, 3, 3)))
    points[::3] = points[::3] @ turn[::3]
    return points + 2 * rng.normal(size=(30, 1, 3))


@pytest.mark.parametrize("sides", range(4, 10))
def test_triangles_of_polygons(sides):
    """A file with them all, and a tetrahedron, so that the mesh has a volume."""
    points = np.concatenate([_polygons(sides, sides).reshape(-1, 3), 9 + np.eye(4, 3)])
    block, last = np.arange(len(points) - 4).reshape(-1, sides), len(points) - np.arange(1, 5)
    faces = [*block.tolist(), *(np.delete(last, k)[:: 1 - 2 * (k % 2)].tolist() for k in range(4))]
    source = model('file="a.obj" inertia="shell"', '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>')
    assets = {"a.obj": obj(points, faces)}
    ours, theirs = compile_source(source, assets).fields, oracle(source, assets).fields
    np.testing.assert_array_equal(ours["mesh_face"], theirs["mesh_face"])
    np.testing.assert_allclose(ours["body_inertia"], theirs["body_inertia"], rtol=1e-6)
