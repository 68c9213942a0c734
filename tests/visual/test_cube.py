"""Cube maps: each side is where MuJoCo's renderer shows it, coordinates stay in its picture, cuts lose nothing."""

import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.types.enums import GeomType
from mjx_like.visual.cube import cubed
from mjx_like.visual.look import mean_color
from mjx_like.visual.part import parts
from mjx_like.visual.surface import primitive

# Sides in the picture: right, left, up, down, front, back, which are +x, -x, +y, -y, +z, -z of an object.
AXES = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
SIZE = np.array([0.1, 0.2, 0.3])
SHAPES = (GeomType.SPHERE, GeomType.CAPSULE, GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX)
DICE = """<mujoco><asset><texture name="t" type="cube" builtin="flat" width="8" height="48" rgb1="1 0 0" rgb2="0 0 1"/>
  <material name="dice" texture="t" rgba=".5 1 1 1"/></asset><worldbody>
  <geom type="box" size=".1 .2 .3" material="dice"/>
  <site type="sphere" size=".1" material="dice"/></worldbody></mujoco>"""


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("sides", [1, 6])
def test_cuts_keep_the_shape_and_coordinates_stay_in_a_side(kind, sides):
    plain = primitive(kind, SIZE, 1.0)
    s = cubed(plain, kind, SIZE, False, 64, sides)
    before, after = trimesh.Trimesh(plain.vertex, plain.face), trimesh.Trimesh(s.vertex, s.face, process=False)
    np.testing.assert_allclose([after.area, after.volume], [before.area, before.volume], rtol=1e-9)
    side = np.floor(sides * s.texcoord[s.face][..., 1])
    assert (side == side[:, :1]).all() and s.texcoord.min() > 0 and s.texcoord.max() < 1


def test_the_sides_of_a_box_are_those_of_the_map():
    s = cubed(primitive(GeomType.BOX, SIZE, 1.0), GeomType.BOX, SIZE, False, 64, 6)
    a, b, c = (s.vertex[s.face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    side = np.floor(6 * s.texcoord[s.face].mean(axis=1)[:, 1]).astype(int)
    np.testing.assert_allclose(AXES[side], normal, atol=1e-9)


@pytest.mark.parametrize("kind", SHAPES)
def test_coordinates_are_those_of_the_direction(kind):
    """On +x the picture lies with -z to the right and -y down, seen from the middle of the object."""
    s = cubed(primitive(kind, SIZE, 1.0), kind, SIZE, False, 1 << 20, 6)
    extent = {GeomType.SPHERE: SIZE[[0, 0, 0]], GeomType.ELLIPSOID: SIZE, GeomType.BOX: SIZE}.get(kind, SIZE[[0, 0, 1]])
    own = s.face[np.floor(6 * s.texcoord[s.face].mean(axis=1)[:, 1]) == 0]
    x, y, z = np.moveaxis(s.vertex[own] / extent, -1, 0)
    expected = np.stack([(1 - z / x) / 2, (1 - y / x) / 12], axis=-1)
    np.testing.assert_allclose(s.texcoord[own], expected, atol=1e-5)


def test_smooth_shapes_have_shared_vertices_and_boxes_have_edges():
    ball = cubed(primitive(GeomType.SPHERE, SIZE, 1.0), GeomType.SPHERE, SIZE, False, 64, 6)
    assert len(ball.vertex) < 0.75 * len(ball.face)
    box = cubed(primitive(GeomType.BOX, SIZE, 1.0), GeomType.BOX, SIZE, False, 64, 1)
    assert len(box.vertex) >= 24


def test_geoms_and_sites_of_a_model():
    m = mjx.Model.from_xml_string(DICE)
    box, ball = parts(m)
    for part in (box, ball):
        assert part.look.picture.shape == (48, 8, 3) and part.look.sides == 6 and part.surface.texcoord is not None
        mean = np.array([0.5 * 5 / 6, 0, 1 / 6, 1])  # all sides but the lower one are rgb1
        np.testing.assert_allclose(mean_color(part.look), mean, atol=0.005)
