"""Lengths and moments of every transmission against MuJoCo: slider-crank, adhesion, wrapped tendons."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from mjx_like.actuator.transmission import transmission
from mjx_like.collision.driver import collision
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from tests.support.oracle import TIGHT, error, load, reference
from tests.support.stages import batch, data, dense

FIELDS = ("actuator_length", "actuator_moment")

ADHESION = """<mujoco><default><geom margin=".02" gap=".05"/></default><worldbody>
<geom name="floor" type="plane" size="3 3 1"/>
<body name="torso" pos="0 0 .19"><freejoint/><geom type="capsule" size=".1 .2" euler="0 85 0"/>
<body name="leg" pos=".3 0 0"><joint name="knee" axis="0 1 0"/><geom size=".08" pos=".2 0 -.05" condim="1"/>
<geom size=".05" pos=".3 0 .1"/></body></body>
<body name="ball" pos="0 .1 .37"><freejoint/><geom size=".1" condim="6"/></body>
<body name="far" pos="0 0 5"><freejoint/><geom size=".1"/></body>
<body name="post" pos="0 -.25 .1"><geom size=".14"/></body></worldbody>
<actuator><adhesion body="torso" ctrlrange="0 1" gain="3"/><motor joint="knee"/>
<adhesion body="leg" ctrlrange="0 1"/><adhesion body="ball" ctrlrange="0 1"/><adhesion body="far" ctrlrange="0 1"/>
<adhesion body="post" ctrlrange="0 1"/><adhesion body="world" ctrlrange="0 1"/></actuator></mujoco>"""

CRANK = """<mujoco><worldbody>
<body name="wheel" pos="0 0 .1" euler="10 0 0"><joint axis="0 1 0"/><geom type="cylinder" size=".2 .02" euler="90 0 0"/>
<site name="crank" pos=".2 0 0"/>
<body pos="0 .1 .2"><joint type="ball"/><geom size=".05" pos=".1 0 0"/><site name="rider" pos=".1 0 .1" euler="0 60 0"/>
</body></body>
<body name="slider" pos="-.8 .1 0" euler="0 20 0"><joint type="slide" axis="1 0 0"/><joint axis="0 0 1"/>
<geom size=".1" mass="2"/><site name="slider" euler="10 80 0"/></body>
<site name="fixed" pos="-.6 0 .1" euler="0 70 30"/></worldbody>
<actuator><general cranksite="crank" slidersite="slider" cranklength="1.1" gear="2"/>
<general cranksite="crank" slidersite="fixed" cranklength=".7"/>
<general cranksite="crank" slidersite="slider" cranklength=".05" gear="-.5"/>
<general cranksite="rider" slidersite="crank" cranklength=".6" gainprm="3" biastype="affine" biasprm="1 -2 -.1"/>
<position cranksite="fixed" slidersite="rider" cranklength="1.6" kp="3" dampratio="1"/></actuator></mujoco>"""


def random_states(mj: mujoco.MjModel, count: int, spread: float) -> list[dict]:
    rng, out = np.random.default_rng(2), []
    for trial in range(count):
        d = mujoco.MjData(mj)
        mujoco.mj_integratePos(mj, d.qpos, spread * (trial > 0) * rng.normal(size=mj.nv), 1.0)
        out.append({"qpos": np.array(d.qpos), "qvel": rng.normal(size=mj.nv)})
    return out


def worst(mj, out, sample) -> float:
    """Return the worst error of lengths and moments."""
    found = 0.0
    for i, state in enumerate(sample):
        ref = reference(mj, state)
        found = max(found, *(error(getattr(out, name)[i], dense(mj, ref, name)) for name in FIELDS))
    return found


def test_adhesion_equals_mujoco():
    mj, m = load(ADHESION)
    sample = random_states(mj, 6, 0.02)

    def position(m, d):
        return transmission(m, collision(m, com_pos(m, kinematics(m, d))))

    out = jax.jit(jax.vmap(position, (None, 0)))(m, batch(m, sample))
    assert worst(mj, out, sample) < TIGHT
    gap = np.asarray((out.contact.geom[..., 0] >= 0) & (out.contact.dist > out.contact.includemargin))
    touching = np.asarray((out.contact.geom[..., 0] >= 0) & (out.contact.dist <= out.contact.includemargin))
    assert gap.any() and touching.any()
    adhering = np.abs(out.actuator_moment).max(axis=(0, 2)) > 0
    assert adhering.tolist() == [True, True, True, True, False, True, True]


def test_slider_crank_equals_mujoco_and_its_moment_is_the_derivative_of_its_length():
    mj, m = load(CRANK)
    sample = random_states(mj, 6, 0.5)
    d = data(m)

    def position(q):
        return transmission(m, com_pos(m, kinematics(m, d.replace(qpos=q))))

    def along(q, qvel):
        """The rate of length and moment when the configuration moves with a velocity."""
        moved = jnp.concatenate([q[:1] + 0 * qvel[:1], q[1:]])
        return jax.jvp(lambda s: step(moved, s * qvel), (0.0,), (1.0,))[1]

    def step(q, v):
        half = jnp.concatenate([jnp.ones(1), v[1:4] / 2])
        w, x = half[0], half[1:]
        turned = jnp.concatenate([(q[1:2] * w - q[2:5] @ x), q[1] * x + w * q[2:5] + jnp.cross(q[2:5], x)])
        out = position(jnp.concatenate([q[:1] + v[:1], turned, q[5:] + v[4:]]))
        return out.actuator_length, out.actuator_moment

    qpos, qvel = (jnp.asarray(np.stack([s[name] for s in sample])) for name in ("qpos", "qvel"))
    out, rate = jax.jit(jax.vmap(lambda q, v: (position(q), along(q, v))))(qpos, qvel)
    assert worst(mj, out, sample) < TIGHT
    assert error(rate[0], np.einsum("nij,nj->ni", out.actuator_moment, qvel)) < 1e-12
    assert np.isfinite(rate[1]).all() and np.abs(out.actuator_length).min(axis=0).max() > 0.1


def test_slider_crank_is_finite_at_the_reach_of_its_rod():
    """Where the rod just reaches, and where both sites coincide."""
    _, m = load(REACH)
    d = data(m)

    def length(q):
        out = transmission(m, com_pos(m, kinematics(m, d.replace(qpos=q))))
        return out.actuator_length, out.actuator_moment

    points = jnp.array([[0.5], [0.0], [0.5 + 1e-9], [2.0]])
    value, slope = jax.jit(jax.vmap(lambda q: (length(q), jax.jacfwd(length)(q))))(points)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves((value, slope)))
    assert value[0][:, 0].tolist() == [0.0, -0.5, 0.0, 0.0]


REACH = """<mujoco><worldbody><site name="slider"/><body><joint type="slide" axis="1 0 0"/><geom size=".1"/>
<site name="crank"/></body></worldbody><actuator>
<general cranksite="crank" slidersite="slider" cranklength=".5"/></actuator></mujoco>"""
