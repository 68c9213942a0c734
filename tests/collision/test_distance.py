"""Distances of geoms against MuJoCo's, over all pairs of types."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision.distance import distances, geom_distance
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.state.initial import make_data
from tests.collision.scene import SIZES
from tests.support.oracle import TIGHT, error, load

SHAPES = {k: f'size="{v}"' for k, v in SIZES.items()} | {"mesh": 'mesh="tent"', "hfield": 'hfield="rough"'}
KINDS = [k for k in SHAPES if k != "hfield"]
PAIRS = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:] if (a, b) != ("plane", "plane")]
COUNT = 8
BODY = '<body mocap="true"><geom name="{}{}" type="{}" {}/></body>'
BODIES = "".join(BODY.format(k, i, k, SHAPES[k]) for k in KINDS[1:] for i in ("", 2))
TENT = "0 0 .12  .1 0 -.06  -.05 .09 -.06  -.05 -.09 -.06  -.04 0 .1"
ROUGH = " ".join(f"{x:.3f}" for x in np.random.default_rng(3).uniform(size=20))
ZOO = f"""
<mujoco>
  <option ccd_tolerance="1e-8" ccd_iterations="50"><flag contact="disable"/></option>
  <asset><mesh name="tent" vertex="{TENT}"/>
    <hfield name="rough" nrow="4" ncol="5" size=".5 .4 .1 .05" elevation="{ROUGH}"/></asset>
  <worldbody>
    <geom name="plane" type="plane" size="1 1 1"/><geom name="plane2" type="plane" size="1 1 1" pos="0 0 -1"/>
    <geom name="hfield" type="hfield" hfield="rough" pos="0 0 -.1" euler="10 20 30"/>
    {BODIES}
  </worldbody>
</mujoco>
"""


def _poses(flags=""):
    """Return MuJoCo's data at random poses of all geoms, most apart, some in penetration."""
    mj, m = load(ZOO.replace('contact="disable"', 'contact="disable" ' + flags))
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


def _moved(kinds, cutoff, flags="", step=1e-6):
    """Return MuJoCo's data and model, ids, and our distances with derivatives by motions and vertices, of pairs."""
    mj, m, reference, d, xpos, xmat = _poses(flags)
    ids = np.array([(mj.geom(b).id, mj.geom(a if a in ("plane", "hfield") else a + "2").id) for a, b in kinds])
    rng = np.random.default_rng(1)
    shift = jnp.asarray(rng.normal(size=xpos.shape[1:]))
    bend = {
        n: jnp.asarray(0.1 * rng.normal(size=getattr(m, n).shape)) for n in ("mesh_vert", "geom_size", "hfield_data")
    }

    def one(s, p, r):
        model = m.replace(**{name: getattr(m, name) + s * x for name, x in bend.items()})
        state = d.replace(geom_xpos=p + s * shift, geom_xmat=r)
        return distances(model, state, ids, jnp.full(len(ids), cutoff))

    both = jax.jit(jax.vmap(lambda s, p, r: jax.jvp(lambda s: one(s, p, r), (s,), (1.0,)), in_axes=(None, 0, 0)))
    found, slope = jax.tree.map(np.asarray, both(0.0, xpos, xmat))
    high, low = (np.asarray(both(s, xpos, xmat)[0][0]) for s in (step, -step))
    change = np.where(np.abs(high + low - 2 * found[0]) < step, high - low, np.nan) / (2 * step)
    return mj, reference, ids, found, slope, change


@pytest.mark.parametrize(
    "kinds, cutoff",
    [
        ([("plane", "box"), ("plane", "mesh"), ("capsule", "box")], 9.0),
        pytest.param(PAIRS, 9.0, marks=pytest.mark.slow),
        pytest.param([("hfield", "sphere"), ("hfield", "mesh")], 0.5, marks=pytest.mark.slow),
    ],
)
def test_pairs_equal_oracle_and_differences(kinds, cutoff):
    """Of curved geoms both searches end at points that are right to the root of the tolerance.

    Within a height field MuJoCo's prisms are grown by the cutoff, which makes them curved.
    """
    mj, reference, ids, (dist, normal, middle), slope, change = _moved(kinds, cutoff)
    assert all(np.isfinite(x).all() for x in slope)
    apart = 0
    for i, (a, b) in enumerate(kinds):
        curved = bool({"ellipsoid", "cylinder"} & {a, b}) and a != "plane"
        exact = not curved and a != "hfield"
        for k, data in enumerate(reference):
            fromto = np.zeros(6)
            expected = mujoco.mj_geomDistance(mj, data, *ids[i], cutoff, fromto)
            if expected == cutoff:
                assert dist[k, i] > cutoff
                continue
            apart += expected > 0
            limit = 1e-9 if expected > 0 else 1e-7
            assert abs(dist[k, i] - expected) < limit, (a, b, k)
            if expected > 0 or exact:
                ours = np.concatenate([middle[k, i] - s * 0.5 * dist[k, i] * normal[k, i] for s in (1, -1)])
                assert error(ours, fromto) < (1e-6 if curved else 1e-8), (a, b, k)
                assert abs(slope[0][k, i] - change[k, i]) < (1e-4 if curved else 1e-6), (a, b, k)
    assert apart > len(kinds)


CONVEX = [(a, b) for a, b in PAIRS if a != "plane" and (a, b) != ("sphere", "sphere")]


@pytest.mark.slow
def test_without_nativeccd_pairs_equal_oracle_and_differences():
    """MuJoCo then takes the cutoff for the margin of a contact; what it finds depends on that.

    It ends somewhere within the tolerance, in steps that differences see: most derivatives are within 3 % of them.
    """
    cutoff, kinds = 0.3, CONVEX + [("hfield", "sphere"), ("hfield", "mesh")]
    mj, reference, ids, (dist, normal, middle), slope, change = _moved(kinds, cutoff, 'nativeccd="disable"', 1e-4)
    assert all(np.isfinite(x).all() for x in slope)
    near = apart = smooth = right = 0
    for i, pair in enumerate(kinds):
        for k, data in enumerate(reference):
            fromto = np.zeros(6)
            expected = mujoco.mj_geomDistance(mj, data, *ids[i], cutoff, fromto)
            assert (dist[k, i] < cutoff) == (expected < cutoff), pair
            if expected < cutoff:
                ours = np.concatenate([middle[k, i] - s * 0.5 * dist[k, i] * normal[k, i] for s in (1, -1)])
                assert abs(dist[k, i] - expected) < 1e-9 and error(ours, fromto) < 1e-8, (pair, k)
                near, apart = near + 1, apart + (expected > 0)
                if np.isfinite(change[k, i]):
                    smooth += 1
                    right += abs(slope[0][k, i] - change[k, i]) < 0.03 * max(1, abs(change[k, i]))
    assert near > 3 * len(kinds) and apart >= len(kinds), (near, apart)
    assert smooth > 0.8 * near and right > 0.85 * smooth, (near, smooth, right)


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


def test_what_is_not_built_is_named():
    """A geom of type sdf, without a plugin of its own, whose mesh a plugin has made."""
    m = mjx.Model.from_xml_string("""<mujoco>
      <extension><plugin plugin="mujoco.sdf.torus"><instance name="i"/></plugin></extension>
      <asset><mesh name="ring"><plugin instance="i"/></mesh></asset>
      <worldbody><geom name="field" type="sdf" mesh="ring" contype="0"/><geom name="ball" size=".1" contype="0"/>
      </worldbody></mujoco>""")
    d = make_data(m)
    with pytest.raises(UnsupportedError, match="distance sphere-sdf is not built yet: geom ball with field"):
        geom_distance(m, d, 1, 0, 1.0)
    with pytest.raises(InputError, match="geom 2: ids are 0 to 1"):
        geom_distance(m, d, 0, 2, 1.0)
