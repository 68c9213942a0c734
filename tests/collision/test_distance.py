"""Distances of geoms against MuJoCo's, over all pairs of primitive types."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.distance import DISTANCE, distances, geom_distance
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.interop import put_model
from mjx_like.state import make_data
from mjx_like.types.enums import GeomType
from tests.collision.scene import SIZES
from tests.oracle import TIGHT, error, load

KINDS = list(SIZES)
PAIRS = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:] if (a, b) != ("plane", "plane")]
COUNT = 25
BODY = '<body mocap="true"><geom name="{}{}" type="{}" size="{}"/></body>'
BODIES = "".join(BODY.format(k, i, k, SIZES[k]) for k in KINDS[1:] for i in ("", 2))
ZOO = f"""
<mujoco>
  <option ccd_tolerance="1e-13" ccd_iterations="200"><flag contact="disable"/></option>
  <worldbody>
    <geom name="plane" type="plane" size="1 1 1"/><geom name="plane2" type="plane" size="1 1 1" pos="0 0 -1"/>
    {BODIES}
  </worldbody>
</mujoco>
"""


def _poses():
    """Return MuJoCo's data at random poses of all geoms, most apart, some in penetration."""
    mj, m = load(ZOO)
    rng, out = np.random.default_rng(0), []
    for _ in range(COUNT):
        data = mujoco.MjData(mj)
        data.mocap_pos[:] = 0.25 * rng.normal(size=data.mocap_pos.shape)
        data.mocap_quat[:] = rng.normal(size=data.mocap_quat.shape)
        mujoco.mj_kinematics(mj, data)
        out.append(data)
    xpos = jnp.array([d.geom_xpos for d in out])
    xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in out])
    return mj, m, out, make_data(m), xpos, xmat


@pytest.mark.slow
def test_all_pairs_equal_oracle():
    """MuJoCo's own search ends with witness points that are right to the root of its rounding."""
    mj, m, reference, d, xpos, xmat = _poses()
    ids = np.array([(mj.geom(b + "2").id, mj.geom(a).id) for a, b in PAIRS])
    run = jax.jit(jax.vmap(lambda p, r: distances(m, d.replace(geom_xpos=p, geom_xmat=r), ids)))
    dist, normal, middle = map(np.asarray, run(xpos, xmat))
    assert {tuple(sorted(mj.geom_type[list(pair)].tolist())) for pair in ids} == set(DISTANCE)
    for i, (a, b) in enumerate(PAIRS):
        iterative = {"ellipsoid", "cylinder"} & {a, b} and a not in ("plane", "sphere") or "ellipsoid" in b
        apart = 0
        for k, data in enumerate(reference):
            fromto = np.zeros(6)
            expected = mujoco.mj_geomDistance(mj, data, *ids[i], 9.0, fromto)
            far = expected > 0
            apart += far
            assert abs(dist[k, i] - expected) < (1e-8 if iterative or (a, b) == ("box", "box") else TIGHT) * (
                1 if far else 1e4
            ), (a, b, k)
            if far:
                ours = np.concatenate([middle[k, i] - s * 0.5 * dist[k, i] * normal[k, i] for s in (1, -1)])
                assert error(ours, fromto) < (2e-5 if iterative else 1e-8), (a, b, k)
        assert apart > 3


def test_entry_point_flips_and_cuts_as_the_oracle():
    mj, m, reference, d, xpos, xmat = _poses()
    d = d.replace(geom_xpos=xpos[0], geom_xmat=xmat[0])
    for first, second in (
        ("box", "sphere"),
        ("sphere", "box"),
        ("capsule", "capsule2"),
        ("plane", "plane2"),
        ("box", "plane"),
    ):
        ids = mj.geom(first).id, mj.geom(second).id
        for distmax in (1.0, 0.01):
            fromto = np.zeros(6)
            expected = mujoco.mj_geomDistance(mj, reference[0], *ids, distmax, fromto)
            dist, segment = geom_distance(m, d, *ids, distmax)
            assert error(dist, expected) < TIGHT and error(segment, fromto) < TIGHT


@pytest.mark.parametrize("pair", [("plane", "box"), ("capsule", "box"), ("ellipsoid", "cylinder")])
def test_gradient_equals_differences_when_apart(pair):
    mj, m, _, d, xpos, xmat = _poses()
    ids = np.array([(mj.geom(pair[0]).id, mj.geom(pair[1] + "2").id)])
    shift = jnp.asarray(np.random.default_rng(1).normal(size=xpos.shape[1:]))
    run = lambda s, p, r: distances(m, d.replace(geom_xpos=p + s * shift, geom_xmat=r), ids)[0][0]  # noqa: E731
    both = jax.jit(jax.vmap(jax.value_and_grad(run), in_axes=(None, 0, 0)))
    value, slope = map(np.asarray, both(0.0, xpos, xmat))
    change = np.asarray(both(1e-6, xpos, xmat)[0] - both(-1e-6, xpos, xmat)[0]) / 2e-6
    far = value > 1e-3
    assert far.sum() > 5 and np.isfinite(slope).all()
    assert np.abs(slope - change)[far].max() < 1e-5


def test_what_is_not_built_is_named():
    mj = mujoco.MjModel.from_xml_string("""<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>
      <worldbody><geom name="ground" type="hfield" hfield="h" contype="0"/><geom name="ball" size=".1" contype="0"/>
      </worldbody></mujoco>""")
    m = put_model(mj)
    d = make_data(m)
    with pytest.raises(UnsupportedError, match="distance hfield-sphere is not built yet: geom ball with ground"):
        geom_distance(m, d, 1, 0, 1.0)
    with pytest.raises(InputError, match="geom 2: ids are 0 to 1"):
        geom_distance(m, d, 0, 2, 1.0)
    assert all(GeomType(k) for pair in DISTANCE for k in pair if k)
