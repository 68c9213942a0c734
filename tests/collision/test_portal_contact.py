"""Convex pairs with the flag nativeccd off: the contacts of MuJoCo's libccd pipeline, several by turning the geoms."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.collision.portal import portal_contact
from mjx_like.geometry.convex import convex
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.types.enums import GeomType
from tests.collision import scene

TENT = "0 0 .12  .1 0 -.06  -.05 .09 -.06  -.05 -.09 -.06  -.04 0 .1"
SLAB = "-.1 -.07 -.05 .11 -.08 -.052 -.09 .07 -.048 .1 .075 -.05 -.1 -.07 .05 .1 -.07 .051 -.1 .07 .05 .1 .07 .052"
FEW = {"ellipsoid": 'type="ellipsoid" size=".07 .1 .14"', "capsule": 'type="capsule" size=".06 .13"',
       "cylinder": 'type="cylinder" size=".09 .12"', "tent": 'type="mesh" mesh="tent"',
       "slab": 'type="mesh" mesh="slab"'}  # fmt: skip
ALL = FEW | {"sphere": 'type="sphere" size=".1"', "other_cylinder": 'type="cylinder" size=".1 .06"'}  # fmt: skip


@functools.cache
def _models(few: bool, flags: str = "", margin: float = 0.0):
    geoms = FEW if few else ALL
    bodies = "".join(f'<body><freejoint/><geom {g} mass="1"/></body>' for g in geoms.values())
    xml = f"""
    <mujoco>
      <option><flag nativeccd="disable" {flags}/></option>
      <asset><mesh name="tent" vertex="{TENT}"/><mesh name="slab" vertex="{SLAB}"/></asset>
      <default><geom margin="{margin}"/></default>
      <worldbody>{bodies}</worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj, nconmax=60)


def _compare(few: bool, count: int, tilt: float | None, flags: str = "", margin: float = 0.0) -> tuple[int, int]:
    """Assert that MuJoCo's contacts are found, in its order, but for ties; return pairs, and those with several."""
    mj, m = _models(few, flags, margin)
    assert not m.unsupported
    qpos = scene.poses(mj, count, 3, 0.2, tilt)
    reference = scene.oracle(mj, qpos)
    data = scene.ours(m, reference)
    contact = jax.tree.map(np.asarray, data.contact)
    pairs = several = tied = 0
    for k, (theirs, ties) in enumerate(zip(reference, scene.ties(mj, qpos, reference, 1e-12), strict=True)):
        mine = scene.by_pair(jax.tree.map(lambda x, k=k: x[k], contact), int(data.ncon[k]))
        other = scene.by_pair(theirs.contact, theirs.ncon)
        wrong = scene.differ(mine, other, 1e-6) - ties
        assert not wrong, (k, wrong, ties)
        pairs, tied = pairs + len(other), tied + len(ties)
        several += sum(len(rows) > 1 for rows in other.values())
    assert tied < 0.2 * pairs, (tied, pairs)
    return pairs, several


def test_kernel_equals_oracle():
    """Two pairs of types in one compilation, the points in MuJoCo's order."""
    kinds = ((GeomType.CAPSULE, GeomType.ELLIPSOID), (GeomType.ELLIPSOID, GeomType.CYLINDER))

    def one(kind, pos, mat, size, reach):
        a, b = (convex(kind[i], pos[i], mat[i], size[i]) for i in (0, 1))
        several = jnp.all(kind != GeomType.ELLIPSOID)
        found = portal_contact.contacts(a, b, kinds, tolerance=1e-6, iterations=35, reach=reach, several=several)
        return found.count, found.depth, found.pos, found.normal

    kernel, several, touching = jax.jit(jax.vmap(one)), 0, 0
    for kind1, kind2, tilt in (("capsule", "cylinder", 0.02), ("ellipsoid", "ellipsoid", None)):
        mj, m = scene.model(kind1, kind2, option='<flag nativeccd="disable"/>')
        reference = scene.oracle(mj, scene.poses(mj, 40, 2, 0.25, tilt))
        mat = jnp.array([d.geom_xmat.reshape(2, 3, 3) for d in reference])
        arrays = (np.tile(mj.geom_type, (40, 1)), np.array([d.geom_xpos for d in reference]), mat)
        sizes = (np.tile(mj.geom_size, (40, 1, 1)), np.full(40, mj.geom_rbound.min()))
        count, depth, pos, normal = (np.asarray(x) for x in kernel(*map(jnp.asarray, (*arrays, *sizes))))
        for k, theirs in enumerate(reference):
            n = theirs.ncon
            assert count[k] == n, (kind1, k)
            rows = theirs.contact
            np.testing.assert_allclose(-depth[k], rows.dist if n else 0, atol=1e-7)
            np.testing.assert_allclose(pos[k, :n], rows.pos, atol=1e-5)
            np.testing.assert_allclose(normal[k, :n], rows.frame[:, :3], atol=1e-4)
            touching, several = touching + (n > 0), several + (n > 1)
    assert touching > 30 and several > 1, (touching, several)


@pytest.mark.slow
@pytest.mark.parametrize("tilt, flags, margin", [(None, "", 0.0), (0.02, "", 0.03), (0.02, 'multiccd="disable"', 0.0)])
def test_all_pairs_equal_oracle(tilt, flags, margin):
    pairs, several = _compare(False, 20, tilt, flags, margin)
    assert pairs > 150, pairs
    assert several == 0 if flags else tilt is None or several > 15, several


@pytest.mark.slow
def test_derivative_equals_differences():
    """Of the depth of two meshes, where the same corners stay."""
    mj, m = _models(True)
    moved = np.zeros((5, 3))
    moved[4] = 0.3, -0.5, 0.8
    reference = scene.oracle(mj, scene.poses(mj, 24, 3, 0.15))
    d = make_data(m)

    def depth(s, xpos, xmat):
        out = collision(m, d.replace(geom_xpos=xpos + s * moved, geom_xmat=xmat)).contact
        meshes = (out.geom[:, 0] == 3) & (out.geom[:, 1] == 4)
        return jnp.min(jnp.where(meshes, out.dist, 0))

    xpos = jnp.array([r.geom_xpos for r in reference])
    xmat = jnp.array([r.geom_xmat.reshape(-1, 3, 3) for r in reference])
    value, slope = jax.jit(jax.vmap(jax.value_and_grad(depth), (None, 0, 0)))(0.0, xpos, xmat)
    high, low = (jax.jit(jax.vmap(depth, (None, 0, 0)))(s, xpos, xmat) for s in (1e-5, -1e-5))
    smooth = (np.abs(high + low - 2 * value) < 1e-8) & (value < 0)
    assert smooth.sum() > 5 and np.isfinite(slope).all()
    np.testing.assert_allclose(slope[smooth], (high - low)[smooth] / 2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kind", ["sphere", *(pytest.param(k, marks=pytest.mark.slow) for k in ("capsule", "cylinder", "box", "mesh"))]
)
def test_height_field_equals_oracle(kind):
    heights = " ".join(f"{x:.3f}" for x in np.random.default_rng(0).uniform(size=36))
    shape = 'type="mesh" mesh="tent"' if kind == "mesh" else f'type="{kind}" size="{scene.SIZES[kind]}"'
    xml = f"""
    <mujoco>
      <option><flag nativeccd="disable"/></option>
      <asset><hfield name="h" nrow="6" ncol="6" size=".5 .5 .1 .2" elevation="{heights}"/>
        <mesh name="tent" vertex="{TENT}"/></asset>
      <worldbody>
        <geom type="hfield" hfield="h"/>
        <body><freejoint/><geom {shape} margin=".02"/></body>
      </worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    m = put_model(mj)
    assert not m.unsupported
    qpos = scene.poses(mj, 20, 2, 0.2)
    qpos[:, 2] = np.abs(qpos[:, 2]) + 0.06
    reference = scene.oracle(mj, qpos)
    worst = scene.compare(scene.ours(m, reference), reference)
    assert worst["contacts"] > 30 and not worst["wrong"], worst
    assert max(worst["dist"], worst["pos"], worst["frame"]) < 1e-9, worst
