"""The flat sides of convex hulls are MuJoCo's in number, order and first vertex."""

import numpy as np
import pytest

from tests.compiler.compare import compile_source, oracle
from tests.compiler.meshes import model, text

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
