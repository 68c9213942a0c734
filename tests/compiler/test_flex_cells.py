"""Interpolated flexes against MuJoCo: cells filled in part, shells, strain constraints."""

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.flexcomp.shapes import surface
from tests.compiler.compare import array_differences, compile_source, differences, oracle

SOLID = '<elasticity young="1e4" poisson=".2"/>'
TET = 'type="direct" dim="3" point="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 3"'
LINES = 'type="direct" dim="1" point="0 0 0 1 0 0 1 1 0 1 1 1" element="0 1 1 2 2 3"'
STRAIN = '<edge equality="strain"/>'


def sized(kind: str, dim: int) -> str:
    """Return attributes of a flexcomp with points on a surface."""
    return f'type="{kind}" count="4 3 4" spacing=".3 .2 .1" dim="{dim}"'


def closed(inwards: bool) -> str:
    """Return attributes of a flexcomp whose triangles close an ellipsoid."""
    shape = surface("ellipsoid", np.array([4, 3, 4]), np.array([0.3, 0.2, 0.1]), solid=True)
    point, face = shape.point[1:], shape.element[:, 1:] - 1
    a, b, c = np.moveaxis(point[face], 1, 0)
    turned = np.sum(np.cross(b - a, c - a) * a, axis=1) < 0
    face = np.where((turned ^ inwards)[:, None], face[:, [0, 2, 1]], face)
    numbers = " ".join(map(repr, point.ravel().tolist()))
    return f'type="direct" dim="2" point="{numbers}" element="{" ".join(map(str, face.ravel()))}"'


def bowl(turn: float, split: bool = False) -> str:
    """Return attributes of a flexcomp whose triangles are part of an ellipsoid, with a point that none of them has.

    turn: angle from one pole to the edge of the surface; split: every triangle has its own points, and there is a
    triangle to the pole.
    """
    angle, round_ = np.meshgrid(np.linspace(0.01, turn, 8), np.arange(12) * np.pi / 6, indexing="ij")
    axes = [np.sin(angle) * np.cos(round_), 0.7 * np.sin(angle) * np.sin(round_), 0.9 * np.cos(angle)]
    point = np.concatenate([np.stack(axes, axis=-1).reshape(-1, 3), [[0, 0, 1.1]]])
    i, j = np.divmod(np.arange(84), 12)
    a, b = i * 12 + j, i * 12 + (j + 1) % 12
    face = np.concatenate([np.stack([a, a + 12, b], axis=1), np.stack([b, a + 12, b + 12], axis=1)])
    if split:
        face = np.concatenate([face, np.stack([np.full(12, 96), a[:12], b[:12]], axis=1)])
        point, face = point[face].reshape(-1, 3), np.arange(3 * len(face)).reshape(-1, 3)
    numbers = " ".join(map(repr, point.ravel().tolist()))
    return f'type="direct" dim="2" point="{numbers}" element="{" ".join(map(str, face.ravel()))}"'


PYRAMID = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]])
SIDES = [[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
SPLIT = " ".join(map(str, PYRAMID[SIDES].ravel()))


def shell(kind: str) -> str:
    """Return the elasticity of a shell."""
    return f'<elasticity young="1e4" poisson=".2" thickness=".01" elastic2d="{kind}"/>'


def model(attributes: str, dof: str, cells: str, children: str) -> str:
    """Return a model with an interpolated flexcomp."""
    return (
        f"<mujoco><worldbody><flexcomp name='f' radius='.001' mass='1' dof='{dof}' cellcount='{cells}' {attributes}>"
        f"{children}</flexcomp></worldbody></mujoco>"
    )


INSIDE = {
    "tetrahedron": (TET, SOLID),
    "ellipsoid": (sized("ellipsoid", 3) + ' pos="1 2 3" euler="10 20 30"', SOLID + '<pin id="0 1"/>'),
    "cylinder": (sized("cylinder", 3), SOLID.replace("/>", ' yield=".1"/>')),
    "closed surface": (closed(False), SOLID),
    "inwards": (closed(True), SOLID),
    "open box": (sized("box", 2), SOLID),
    "lines": (LINES, SOLID),
    "shell": (sized("box", 2), shell("stretch")),
    "bending shell": (sized("box", 2), shell("bend")),
    "both": (sized("box", 2) + ' euler="10 20 30"', shell("both")),
}


@pytest.mark.parametrize("cells", ["1 1 1", "2 1 3"])
@pytest.mark.parametrize("dof", ["trilinear", "quadratic"])
@pytest.mark.parametrize("name", INSIDE)
def test_same_model(name, dof, cells):
    assert differences(model(INSIDE[name][0], dof, cells, INSIDE[name][1])) == {}


OPEN = {
    "open cylinder": (sized("cylinder", 2), SOLID),
    "bowl": (bowl(1.3), SOLID),
    "vase": (bowl(2.7) + ' euler="10 20 30"', SOLID),
    "open, points of its own": (bowl(2.5, split=True), SOLID),
    "closed, points of its own": (
        f'type="direct" dim="2" point="{SPLIT}" element="{" ".join(map(str, range(18)))}"',
        SOLID,
    ),
}


@pytest.mark.parametrize(("dof", "cells"), [("trilinear", "2 1 3"), ("quadratic", "1 1 1")])
@pytest.mark.parametrize("name", OPEN)
def test_open_surface(name, dof, cells):
    assert differences(model(OPEN[name][0], dof, cells, OPEN[name][1])) == {}


STRAINED = {
    "tetrahedron": (TET, STRAIN),
    "block": ('type="grid" count="4 3 3" spacing=".3 .2 .1" dim="3"', STRAIN),
    "ellipsoid": (sized("ellipsoid", 3), STRAIN),
    "shell": (sized("box", 2), shell("bend") + STRAIN),
}


@pytest.mark.parametrize("cells", ["1 1 1", "2 1 2"])
@pytest.mark.parametrize("dof", ["trilinear", "quadratic"])
@pytest.mark.parametrize("name", STRAINED)
def test_strain(name, dof, cells):
    """The modes of a strain constraint are free in their signs and order; what they measure together is not."""
    xml = model(STRAINED[name][0], dof, cells, STRAINED[name][1])
    ours, theirs = compile_source(xml), oracle(xml)
    assert set(array_differences(ours, theirs)) <= {"flex_stiffness"}
    size = 3 * (2 if dof == "trilinear" else 3) ** (2 if name == "shell" else 3)
    records = [np.reshape(arrays.fields["flex_stiffness"], (-1, size * size)) for arrays in (ours, theirs)]
    assert len(records[0]) == len(records[1])
    for mine, reference in zip(*records, strict=True):
        assert mine[0] == reference[0]
        a, b = (row[1 : 1 + size * int(row[0])].reshape(-1, size) for row in (mine, reference))
        assert np.allclose(a.T @ a, b.T @ b, rtol=0, atol=1e-9 * max(np.abs(b.T @ b).max(), 1e-12))


def test_errors():
    flat = model('type="grid" count="3 3 1" dim="2" spacing=".3 .3 .3"', "trilinear", "1 1 1", SOLID)
    with pytest.raises(ValueError, match="rotation R0 is not orthonormal"):
        mujoco.MjModel.from_xml_string(flat)
    with pytest.raises(ModelError, match="the nodes do not form a grid with right angles"):
        compile_source(flat)
    both = model(TET, "trilinear", "1 1 1", SOLID + STRAIN)
    with pytest.raises(ValueError, match="cannot both be present"):
        mujoco.MjModel.from_xml_string(both)
    with pytest.raises(ModelError, match="equality constraints and young exclude one another"):
        compile_source(both)
