"""The collision stage as a whole: filters, order, mixing, capacity, gradients, batches, refusals."""

import dataclasses
import os

import dm_control
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision import plan
from mjx_like.collision.candidate_points import candidates
from mjx_like.collision.driver import collision
from mjx_like.collision.mixing import pair_parameters
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.types.enums import WarningType
from mjx_like.types.hooks import Hooks
from mjx_like.types.model import Model
from tests.collision import scene

PILE = """
<mujoco>
  <option {option}><flag {flag}/></option>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.5 0.01 0.002"/>
    <geom name="block" type="box" size=".3 .3 .3" solmix="3" solref="0.03 0.8"/>
    <body><freejoint/>
      <geom name="a1" type="box" size=".1 .1 .1" margin=".01" gap=".02" condim="6"/>
      <geom name="a2" type="sphere" size=".1" pos=".05 0 0"/>
      <body pos=".1 0 0"><joint/><geom name="a3" size=".1"/>
        <body pos=".1 0 0"><joint/><geom name="a4" size=".1"/></body></body>
    </body>
    <body><freejoint/>
      <geom name="b1" type="sphere" size=".11" priority="1" friction="0 0 0" solimp=".8 .9 .002 .4 3"/>
      <geom name="b2" type="capsule" size=".1 .1" condim="1" solmix="0"/>
      <geom name="b3" type="sphere" size=".1" contype="2" conaffinity="4"/>
    </body>
    <body name="c"><freejoint/><geom name="c1" type="sphere" size=".12" solref="-100 -2"/></body>
    <body name="e"><freejoint/><geom name="e1" type="sphere" size=".12" contype="4"/></body>
    <body mocap="true"><geom name="m1" size=".1"/></body>
    <body mocap="true"><geom name="m2" size=".1"/></body>
  </worldbody>
  <contact>
    <pair geom1="c1" geom2="b2" solreffriction=".01 1" friction="1 2 3 4 5" condim="4" margin=".02" gap=".3"/>
    <pair geom1="b1" geom2="a2"/>
    <pair geom1="block" geom2="c1"/>
    <pair geom1="floor" geom2="m1"/>
    <exclude body1="c" body2="e"/>
  </contact>
</mujoco>"""


def _pile(option: str = "", flag: str = "", **kwargs):
    mj = mujoco.MjModel.from_xml_string(PILE.format(option=option, flag=flag))
    return mj, put_model(mj, **kwargs)


def _states(mj, count: int, spread: float = 0.15) -> np.ndarray:
    rng = np.random.default_rng(1)
    out = []
    for _ in range(count):
        q = mj.qpos0 + spread * rng.normal(size=mj.nq)
        out.append(q)
    return np.array(out)


@pytest.mark.parametrize(
    "option, flag",
    [
        ("", ""),
        ("", 'midphase="disable"'),
        ('o_margin="0.02" o_friction="0 0 .1 0 .2" o_solref="0.01 1.1" o_solimp=".7 .8 .01 .5 2"', 'override="enable"'),
    ],
)
def test_filters_order_and_mixing_equal_oracle(option, flag):
    mj, m = _pile(option, flag, nconmax=400)
    reference = scene.oracle(mj, np.concatenate([[mj.qpos0], _states(mj, 5)]))
    worst = scene.compare(scene.ours(m, reference), reference)
    assert worst["wrong"] == [] and worst["contacts"] > 100
    assert worst["dist"] < 1e-12 and worst["pos"] < 1e-12 and worst["frame"] < 1e-9
    for name in ("includemargin", "friction", "solref", "solreffriction", "solimp"):
        assert worst[name] < 1e-15


def test_no_candidates_when_contacts_are_disabled():
    for flag in ('contact="disable"', 'constraint="disable"'):
        _, m = _pile(flag=flag)
        assert m.plans.collision.geom.shape == (0, 2) and collision(m, make_data(m)).ncon == 0


def test_overflow_keeps_the_deepest_in_order():
    mj, m = _pile(nconmax=6)
    reference = scene.oracle(mj, _states(mj, 3))
    data = scene.ours(m, reference)
    assert (data.ncon == 6).all()
    assert data.maxuse_con.tolist() == [d.ncon for d in reference]
    assert (data.warning[:, WarningType.CONTACTFULL] == 1).all()
    for k, theirs in enumerate(reference):
        depth = np.array([c.dist for c in theirs.contact])
        deepest = np.sort(np.argsort(depth, kind="stable")[:6])
        np.testing.assert_allclose(np.sort(data.contact.dist[k]), np.sort(depth[deepest]), atol=1e-12)
        np.testing.assert_array_equal(data.contact.geom[k], [theirs.contact[i].geom for i in deepest])


def test_contact_filter_hook_takes_the_place_of_the_bit_masks():
    mj = mujoco.MjModel.from_xml_string(PILE.format(option="", flag=""))
    names = [mj.geom(i).name for i in range(mj.ngeom)]

    def only_floor(topology, geom1, geom2):
        return "floor" not in (names[geom1], names[geom2])

    m = put_model(mj, hooks=Hooks(contact_filter=only_floor))
    pairs = {(names[a], names[b]) for a, b in m.plans.collision.geom}
    assert all("floor" in p for p in pairs - {("c1", "b2"), ("a2", "b1"), ("b1", "a2"), ("c1", "block")})
    assert ("floor", "b3") in pairs


def test_default_capacity():
    _, small = scene.model("box", "box")
    assert small.nconmax == 8
    m = put_model(
        mujoco.MjModel.from_xml_path(os.path.join(os.path.dirname(dm_control.__file__), "suite/humanoid.xml"))
    )
    assert m.nconmax == 4 * 19
    for count, each in ((8, 8), (10, 24)):  # a few boxes, a pile
        bodies = (f'<body pos="0 0 {k}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for k in range(count))
        xml = f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{"".join(bodies)}</worldbody></mujoco>'
        assert put_model(mujoco.MjModel.from_xml_string(xml)).nconmax == each * count


def test_unsupported_pairs_are_named():
    """Those of a geom of type sdf without distances, but with what never collides."""
    xml = """<mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="i"/></plugin></extension>
      <asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/><mesh name="ring"><plugin instance="i"/></mesh></asset>
      <worldbody>
      <geom name="ground" type="hfield" hfield="h"/>
      <geom name="ghost" type="hfield" hfield="h" contype="0" conaffinity="0"/>
      <geom name="ball" size=".1"/>
      <body><freejoint/><geom name="block" type="sdf" mesh="ring"/></body></worldbody></mujoco>"""
    lacking = plan.unsupported(Model.from_xml_string(xml).topology)
    assert lacking == ("collision sphere-sdf is not built yet: geom 'ball' with 'block'",)
    off = xml.replace("<mujoco>", '<mujoco><option><flag contact="disable"/></option>')
    assert plan.unsupported(Model.from_xml_string(off).topology) == ()


def _tangent(reference, seed):
    """Return positions, rotations and a direction in which both move: velocity and spin of each geom."""
    rng = np.random.default_rng(seed)
    velocity, spin = rng.normal(size=(2, 2, 3))
    return velocity, spin


def _moved(xpos, xmat, velocity, spin, t):
    angle = jnp.sqrt(jnp.sum(spin * spin, axis=-1))[:, None, None]
    x, y, z = (spin[:, i] for i in range(3))
    zero = jnp.zeros_like(x)
    skew = jnp.stack([jnp.stack([zero, -z, y], -1), jnp.stack([z, zero, -x], -1), jnp.stack([-y, x, zero], -1)], -2)
    skew = skew / angle
    turn = jnp.eye(3) + jnp.sin(angle * t) * skew + (1 - jnp.cos(angle * t)) * (skew @ skew)
    return xpos + t * velocity, turn @ xmat


@pytest.mark.parametrize(
    "pair",
    ["plane-capsule", "plane-cylinder", "plane-box", "sphere-cylinder", "sphere-box", "capsule-capsule", "capsule-box",
     "box-box"],
)  # fmt: skip
def test_derivatives_equal_differences(pair):
    kinds = pair.split("-")
    mj, m = scene.model(*kinds, margin=0.02)
    reference = scene.oracle(mj, scene.poses(mj, 30, 2, 0.1 if kinds[0] == "plane" else 0.2))
    reference = [d for d in reference if d.ncon][:8]
    xpos = jnp.array([d.geom_xpos for d in reference])
    xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in reference])
    rng = np.random.default_rng(0)
    velocity, spin, grow = (jnp.array(rng.normal(size=(2, 3))) for _ in range(3))
    data = make_data(m)

    def outputs(p, r, t):
        p, r = _moved(p, r, velocity, spin, t)
        sized = m.replace(geom_size=m.geom_size * (1 + 0.1 * t * grow))
        c = collision(sized, data.replace(geom_xpos=p, geom_xmat=r)).contact
        return c.dist, c.pos, c.frame[:, 0]

    @jax.jit
    def both(p, r):
        forward = jax.vmap(lambda p, r: jax.jvp(lambda t: outputs(p, r, t), (0.0,), (1.0,))[1])(p, r)
        high, low = (jax.vmap(lambda p, r, t=t: outputs(p, r, t))(p, r) for t in (1e-6, -1e-6))
        return forward, jax.tree.map(lambda a, b: (a - b) / 2e-6, high, low)

    exact, rough = both(xpos, xmat)
    for a, b in zip(exact, rough, strict=True):
        assert np.isfinite(a).all()
        close = np.abs(a - b) <= 1e-5 * (1 + np.abs(b))
        assert np.mean(close) > 0.97, np.abs(a - b).max()
    assert np.abs(exact[0]).max() > 0.1


@pytest.mark.parametrize(
    "pair",
    ["sphere-sphere", "capsule-capsule", pytest.param("box-box", marks=pytest.mark.slow),
     pytest.param("sphere-ellipsoid", marks=pytest.mark.slow), "plane-box"],
)  # fmt: skip
def test_reverse_mode_is_finite_at_degenerate_poses(pair):
    mj, m = scene.model(*pair.split("-"))
    d0 = scene.oracle(mj, np.array([[0, 0, 0, 1, 0, 0, 0] * (mj.nq // 7)]))[0]

    def total(p, r):
        c = collision(m, make_data(m).replace(geom_xpos=p, geom_xmat=r)).contact
        return jnp.sum(c.dist) + jnp.sum(c.pos) + jnp.sum(c.frame)

    poses = jnp.array(d0.geom_xpos), jnp.array(d0.geom_xmat.reshape(-1, 3, 3))
    assert all(np.isfinite(g).all() for g in jax.jit(jax.grad(total, argnums=(0, 1)))(*poses))


def test_signed_distances_of_all_candidates():
    """Apart and overlapping: compared with mj_geomDistance, where that is exact."""
    for kinds in (("sphere", "capsule"), ("capsule", "capsule"), ("plane", "box")):
        mj, m = scene.model(*kinds)
        reference = scene.oracle(mj, scene.poses(mj, 40, 4, 0.6))
        detect = pair_parameters(m).detect
        xpos = jnp.array([d.geom_xpos for d in reference])
        xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in reference])
        found = jax.jit(jax.vmap(lambda p, r, m=m, detect=detect: candidates(m, p, r, detect).dist))(xpos, xmat)
        exact = np.array([mujoco.mj_geomDistance(mj, d, 0, 1, 10.0, None) for d in reference])
        apart = exact > 0
        assert apart.sum() > 10
        np.testing.assert_allclose(found.min(axis=1)[apart], exact[apart], atol=1e-8)


@pytest.mark.slow
def test_convex_pairs_apart_have_their_distance_within_the_margin():
    mj, _ = scene.model("capsule", "ellipsoid", margin=0.5)
    mj.opt.ccd_tolerance, mj.opt.ccd_iterations = 1e-10, 60
    m = put_model(mj)
    reference = scene.oracle(mj, scene.poses(mj, 40, 4, 0.6))
    found = scene.ours(m, reference)
    exact = np.array([mujoco.mj_geomDistance(mj, d, 0, 1, 10.0, None) for d in reference])
    apart = exact > 0
    assert apart.sum() > 10 and found.ncon[apart].min() > 0
    np.testing.assert_allclose(found.contact.dist[apart, 0], exact[apart], atol=1e-8)


def test_batch_over_the_model_and_single_precision():
    mj, m = scene.model("sphere", "capsule")
    d = scene.oracle(mj, scene.poses(mj, 1, 1, 0.12))[0]
    data = make_data(m).replace(geom_xpos=jnp.array(d.geom_xpos), geom_xmat=jnp.array(d.geom_xmat.reshape(-1, 3, 3)))
    sizes = m.geom_size * jnp.array([1.0, 1.5])[:, None, None]
    depth = jax.jit(jax.vmap(lambda s: collision(m.replace(geom_size=s), data).contact.dist[0]))(sizes)
    assert depth[1] < depth[0] - 0.05
    single = put_model(mj, dtype=jnp.float32)
    data32 = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, data)
    out = jax.jit(collision)(single, data32)
    assert out.contact.dist.dtype == jnp.float32 and out.contact.geom.dtype == jnp.int32
    np.testing.assert_allclose(out.contact.dist[0], depth[0], atol=1e-6)
    assert dataclasses.is_dataclass(out.contact)
