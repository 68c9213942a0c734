"""Signed distances of meshes on grids, and the order of faces, against the octrees and trees of mjModel."""

import ctypes
import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import trimesh

import mjx_like as mjx
from mjx_like.compiler.mesh.box_tree import order_of_tree
from mjx_like.compiler.mesh.field import field_of_octree, mesh_field
from mjx_like.geometry.signed_distance import field
from mjx_like.interop.convert import put_model
from mjx_like.types.enums import GeomType
from tests.support.oracle import error

BALL = trimesh.creation.icosphere(2)
CUBE, OTHER = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1.2)).apply_translation((0.5, 0.3, 0.2))
ROUGH = BALL.vertices + 0.05 * np.random.default_rng(0).normal(size=BALL.vertices.shape)
TOP = BALL.faces[BALL.vertices[BALL.faces].mean(axis=1)[:, 2] > -0.2]
MESHES = {
    "tetrahedron": (np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]), np.zeros((0, 3), int)),
    "cube": (CUBE.vertices, CUBE.faces),
    "cube without shared corners": (CUBE.vertices[CUBE.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3)),
    "ring": (lambda x: (x.vertices, x.faces))(trimesh.creation.annulus(0.3, 0.6, 0.5, sections=12)),
    "open": (BALL.vertices, TOP),
    "inside out": (BALL.vertices * [1, 0.8, 0.5], BALL.faces[:, ::-1]),
    "rough": (ROUGH, BALL.faces),
    "overlapping": (lambda x: (x.vertices, x.faces))(trimesh.util.concatenate([CUBE, OTHER])),
}


def mesh_xml(name: str, vert: np.ndarray, face: np.ndarray) -> str:
    """Return a mesh element; shells have an inertia even where they are open."""
    words = " ".join(map(str, np.ravel(face)))
    return f'<mesh name="{name}" inertia="shell" vertex="{" ".join(map(repr, np.ravel(vert).tolist()))}"' + (
        f' face="{words}"/>' if words else "/>"
    )


def _xml(kind: str, other: str = "") -> str:
    return f"""<mujoco><asset>{mesh_xml("a", *MESHES[kind])}</asset>
      <worldbody><geom type="sdf" mesh="a"/>{other}</worldbody></mujoco>"""


@pytest.mark.parametrize("kind", MESHES)
def test_field_equals_octree(kind):
    """Leaves where the surface is, no two beside each other that differ by more than one, exact at free corners."""
    spec = mujoco.MjSpec.from_string(_xml(kind))
    spec.meshes[0].octree_maxdepth = depth = 4
    mj = spec.compile()
    ours = mesh_field(mj.mesh_vert.astype(float), mj.mesh_face, depth)
    theirs = field_of_octree(mj.oct_child, mj.oct_aabb, mj.oct_coeff)
    assert ours.value.shape == (2**depth + 1,) * 3 and (theirs.value > 0).any()
    assert kind in ("open", "inside out") or (theirs.value < 0).any()
    assert error(ours.box, theirs.box) < 1e-6 and np.abs(ours.value - theirs.value).max() < 1e-6


@pytest.mark.parametrize("kind", MESHES)
def test_face_order_equals_tree(kind):
    mj = mujoco.MjModel.from_xml_string(_xml(kind))
    tree = slice(mj.mesh_bvhadr[0], mj.mesh_bvhadr[0] + mj.mesh_bvhnum[0])
    theirs = order_of_tree(mj.bvh_child[tree], mj.bvh_nodeid[tree])
    assert sorted(theirs) == list(range(mj.nmeshface))
    assert mjx.Model.from_xml_string(_xml(kind)).mesh_faceorder.tolist() == theirs.tolist()


def test_model_of_mjmodel_is_that_of_the_file():
    """Only meshes of geoms of type sdf have distances."""
    xml = _xml("rough", '<geom type="mesh" mesh="b" pos="3 0 0"/>').replace(
        "<asset>", f"<asset>{mesh_xml('b', *MESHES['cube'])}"
    )
    mine, theirs = mjx.Model.from_xml_string(xml), put_model(mujoco.MjModel.from_xml_string(xml))
    assert mine.mesh_sdfadr.tolist() == theirs.mesh_sdfadr.tolist() == [-1, 0]
    assert mine.mesh_sdfdepth.tolist() == theirs.mesh_sdfdepth.tolist() == [0, 6]
    assert mine.mesh_faceorder.tolist() == theirs.mesh_faceorder.tolist() != sorted(mine.mesh_faceorder.tolist())
    for name in ("sdf_value", "mesh_sdfbox"):
        assert np.abs(getattr(mine, name) - getattr(theirs, name)).max() < 1e-6
    assert mine.sdf_value.shape == (65**3,)


class _Sdf(ctypes.Structure):
    """The struct mjSDF of mjplugin.h."""

    _fields_ = [
        ("plugin", ctypes.c_void_p), ("id", ctypes.c_void_p), ("type", ctypes.c_int), ("relpos", ctypes.c_void_p),
        ("relmat", ctypes.c_void_p), ("geomtype", ctypes.c_void_p),
    ]  # fmt: skip


def test_distance_and_gradient_equal_oracle_and_differences():
    """Within the grid and outside of it, where MuJoCo takes differences for the gradient."""
    folder = pathlib.Path(mujoco.__file__).parent
    library = ctypes.CDLL(str(next(path for path in folder.iterdir() if path.name.startswith("libmujoco"))))
    library.mjc_distance.restype = ctypes.c_double
    mj = mujoco.MjModel.from_xml_string(_xml("tetrahedron"))
    data, m = mujoco.MjData(mj), put_model(mj)
    address = ctypes.c_void_p(mj._address), ctypes.c_void_p(data._address)
    none, which, kind = (ctypes.c_void_p * 1)(0), (ctypes.c_int * 1)(0), (ctypes.c_int * 1)(int(GeomType.MESH))
    single = _Sdf(*(ctypes.cast(x, ctypes.c_void_p) for x in (none, which)), 0, None, None, ctypes.addressof(kind))
    place = np.random.default_rng(1).normal(size=(1000, 3))
    expected, slope = np.zeros(len(place)), np.zeros(place.shape)
    for i, x in enumerate(place):
        point = (ctypes.c_double * 3)(*x)
        expected[i] = library.mjc_distance(*address, ctypes.byref(single), point)
        library.mjc_gradient(
            *address, ctypes.byref(single), slope[i].ctypes.data_as(ctypes.POINTER(ctypes.c_double)), point
        )
    known = field(m, GeomType.SDF, np.array([0]), None)
    x = tuple(jnp.asarray(c)[:, None] for c in place.T)
    dist, gradient = jax.jit(lambda x: (known.distance(x), jnp.stack(known.gradient(x), axis=-1)))(x)
    inside = (np.abs(place - mj.oct_aabb[0, :3]) < mj.oct_aabb[0, 3:]).all(axis=1)
    assert 200 < inside.sum() < 800 and np.abs(dist[:, 0] - expected).max() < 1e-12
    miss = np.abs(gradient[:, 0] - slope).max(axis=1)
    assert miss[inside].max() < 1e-12 and miss.max() < 1e-6

    move = np.random.default_rng(2).normal(size=m.sdf_value.shape)

    @jax.jit
    def along(s):
        return field(m.replace(sdf_value=m.sdf_value + s * move), GeomType.SDF, np.array([0]), None).distance(x)

    exact = jax.jit(jax.jacfwd(along))(0.0)
    assert error(exact, (along(1e-3) - along(-1e-3)) / 2e-3) < 1e-9
