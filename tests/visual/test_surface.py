"""Triangles of shapes: closed, turned outwards, of the size that the shape has."""

import mujoco
import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.visual.part import rotation
from mjx_like.visual.surface import geom_surface, planar_texcoord, site_surface
from tests.support.oracle import GYM

SHAPES = """<mujoco><asset><mesh name="tet" vertex="0 0 0 1 0 0 0 2 0 .2 .3 3" texcoord="0 0 1 0 0 1 1 1"
    face="0 2 1 0 1 3 1 2 3 0 3 2" scale="1 1 -1"/>
  <hfield name="h" nrow="3" ncol="4" size="1 2 .5 .3" elevation="0 1 2 3 1 0 2 1 4 3 2 1"/></asset><worldbody>
  <geom type="sphere" size=".3"/><geom type="capsule" size=".2 .5"/><geom type="ellipsoid" size=".1 .2 .3"/>
  <geom type="cylinder" size=".2 .4"/><geom type="box" size=".1 .2 .3"/><geom type="mesh" mesh="tet"/>
  <geom type="hfield" hfield="h"/><geom type="plane" size="2 3 1"/><geom type="plane" size="0 0 1"/>
  <site type="box" size=".3 .2 .1"/></worldbody></mujoco>"""
VOLUME = {
    0: 4 / 3 * np.pi * 0.3**3, 1: np.pi * 0.2**2 * (1 + 4 / 3 * 0.2), 2: 4 / 3 * np.pi * 0.006, 3: np.pi * 0.04 * 0.8,
    4: 0.048, 5: 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def m():
    return mjx.Model.from_xml_string(SHAPES)


@pytest.mark.parametrize("geom", VOLUME)
def test_shapes_are_closed_and_turned_outwards(m, geom):
    s = geom_surface(m, geom)
    shape = trimesh.Trimesh(s.vertex, s.face)  # joins corners that edges hold apart
    assert shape.is_watertight
    np.testing.assert_allclose(shape.volume, VOLUME[geom], rtol=0.03)


@pytest.mark.parametrize("geom", [0, 1, 2, 3, 4, 6])
def test_shapes_have_the_size_of_their_bound(m, geom):
    point = geom_surface(m, geom).vertex
    center, half = np.asarray(m.geom_aabb[geom, :3]), np.asarray(m.geom_aabb[geom, 3:])
    low, high = point.min(axis=0), point.max(axis=0)
    if geom == 6:  # height field: the box reaches down to its base, as the walls do
        assert low[2] == pytest.approx(-0.3) and high[2] == pytest.approx(0.5)
        low, high, center, half = low[:2], high[:2], center[:2], half[:2]
    np.testing.assert_allclose([low, high], [center - half, center + half], rtol=0.01, atol=1e-7)


def test_a_height_field_has_its_elevations(m):
    point = geom_surface(m, 6).vertex[:12].reshape(3, 4, 3)
    np.testing.assert_allclose(point[..., 2], 0.5 * np.asarray(m.hfield_data).reshape(3, 4), rtol=1e-6)
    s = geom_surface(m, 6)
    a, b, c = (s.vertex[s.face[:12, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


def test_planes(m):
    np.testing.assert_allclose(geom_surface(m, 7).vertex.max(axis=0), [2, 3, 0])
    assert geom_surface(m, 8).vertex[:, 0].max() == pytest.approx(10 * float(m.stat.extent))


def test_a_mesh_keeps_its_texture_coordinates():
    m = mjx.Model.from_xml_string(SHAPES)
    s = geom_surface(m, 5)
    assert s.texcoord.shape == (4, 2) and len(s.face) == 4


def test_sites(m):
    np.testing.assert_allclose(site_surface(m, 0).vertex.max(axis=0), [0.3, 0.2, 0.1], rtol=1e-6)


def test_a_texture_repeats_by_size_or_by_metres():
    point, size, repeat = np.array([[1.0, 2, 0], [-1, -2, 0]]), np.array([1.0, 2]), np.array([3.0, 5])
    np.testing.assert_allclose(planar_texcoord(point, size, repeat, False), [[1, -3], [-2, 2]])
    np.testing.assert_allclose(planar_texcoord(point, size, repeat, True), [[1, -5.5], [-2, 4.5]])


def test_rotation_is_that_of_mujoco():
    quat = np.random.default_rng(0).normal(size=(5, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    for q, mat in zip(quat, rotation(quat), strict=True):
        expected = np.zeros(9)
        mujoco.mju_quat2Mat(expected, q)
        np.testing.assert_allclose(mat.ravel(), expected, atol=1e-15)


def test_every_geom_of_a_robot_has_triangles():
    m = mjx.Model.from_xml_path(GYM / "humanoid.xml")
    assert all(len(geom_surface(m, geom).face) for geom in range(m.ngeom))
