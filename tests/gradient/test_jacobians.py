"""Jacobians of a step and of inverse dynamics equal MuJoCo's central differences where the maps are smooth."""

import functools
import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.derivative import inverse_jacobian, transition_jacobian
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from tests.support.oracle import GYM

MODEL = """
<mujoco><option timestep="0.005" cone="{cone}" integrator="{integrator}" tolerance="0" iterations="100"/><worldbody>
<geom type="plane" size="5 5 .1"/>
<body pos="0 0 .3" quat=".9 .1 .2 .1"><freejoint/><geom type="capsule" size=".1 .2" euler="0 70 0"/><site name="s"/>
  <body pos=".3 0 .1"><joint type="ball" damping=".1"/><geom size=".08" pos=".2 0 0"/>
    <body pos=".4 0 0"><joint name="j" axis="0 1 0" range="-20 20" damping=".2" frictionloss=".01"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body></body></body></worldbody>
<actuator><motor joint="j" gear="2"/><general joint="j" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>
<sensor><framelinvel objtype="site" objname="s"/><jointpos joint="j"/><accelerometer site="s"/></sensor></mujoco>
"""
STATES, ROUGH, LENGTH = 20, 1e-3, 1e-7
SIDE = 2e-4  # of one-sided differences over LENGTH, which are off by half the second derivative times it
ROOT = pathlib.Path(__file__).resolve().parents[2] / "models"
REAL = [
    *(GYM / f"{name}.xml" for name in ("hopper", "half_cheetah", "ant", "walker2d", "swimmer", "reacher", "pusher")),
    *(ROOT / f"{name}.xml" for name in ("cartpole", "quadruped", "walker", "double_pendulum")),
]
KINDS = {(cone, integrator) for cone in ("pyramidal", "elliptic") for integrator in ("Euler", "implicitfast")}


def _world(mj, seed):
    """Return the MjData of a state some steps into a fall, and whether it touches."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj)
    mujoco.mj_integratePos(mj, data.qpos, 0.3 * rng.normal(size=mj.nv) * (np.arange(mj.nv) > 2), 1)
    data.qvel[:] = 0.3 * rng.normal(size=mj.nv)
    data.ctrl[:] = 0.3 * rng.normal(size=mj.nu)
    for _ in range(40 * (seed + 1)):
        mujoco.mj_step(mj, data)
    mujoco.mj_forward(mj, data)
    return data


def _differences(mj, data, eps, centered=True):
    nx, ns = 2 * mj.nv + mj.na, mj.nsensordata
    out = [np.zeros(shape) for shape in ((nx, nx), (nx, mj.nu), (ns, nx), (ns, mj.nu))]
    mujoco.mjd_transitionFD(mj, data, eps, centered, *out)
    return out


def _inverse_differences(mj, data):
    """Return MuJoCo's one-sided differences, without what is linear in their length."""

    def one_sided(eps):
        out = [np.zeros((mj.nv, n)) for n in (mj.nv, mj.nv, mj.nv) + (mj.nsensordata,) * 3]
        mujoco.mjd_inverseFD(mj, data, eps, True, *out, None)
        return out

    return [(2 * x - y).T for x, y in zip(one_sided(1e-7), one_sided(2e-7), strict=True)]


def _batch(m, datas):
    names = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qacc")
    rows = {name: jnp.stack([jnp.asarray(getattr(data, name).copy()) for data in datas]) for name in names}
    return jax.vmap(lambda rows: make_data(m).replace(**rows))(rows)


def _error(ours, theirs):
    return float(np.abs(ours - theirs).max(initial=0) / (1 + np.abs(theirs).max(initial=0)))


def _compare(mj, count):
    """Return the errors of A, B, C, D in the smooth states, the touching states among them, and the number skipped.

    A state is skipped where one-sided differences disagree. They are over 1e-7: over 1e-6 they disagree by 1e-3
    wherever an impedance changes over a millimetre, and over a tenth of that by a tenth, as they do at no kink.
    """
    m = put_model(mj)
    datas = [_world(mj, seed) for seed in range(count)]
    ours = jax.jit(jax.vmap(functools.partial(transition_jacobian, m, sensors=True)))(_batch(m, datas))
    errors, touching, skipped = [], 0, 0
    for i, data in enumerate(datas):
        lengths = ((LENGTH, 0), (-LENGTH, 0), (LENGTH, 1), (0.1 * LENGTH, 1))
        ahead, behind, *central = (_differences(mj, data, *args) for args in lengths)
        if max(_error(a, b) for a, b in zip(ahead, behind, strict=True)) > ROUGH:
            skipped += 1
            continue
        touching += data.nefc > 0
        # the shorter ones where the second derivative jumps within the longer: at the end of an impedance's width
        errors.append(min(max(_error(x[i], y) for x, y in zip(ours, c, strict=True)) for c in central))
    return errors, touching, skipped


def _assert_equal(errors, skipped):
    assert skipped <= 0.05 * STATES, skipped
    assert max(errors) < 1e-5 and np.quantile(errors, 0.95) < 1e-6, sorted(errors)


@pytest.mark.slow
@pytest.mark.parametrize(("cone", "integrator"), sorted(KINDS))
def test_transition(cone, integrator):
    mj = mujoco.MjModel.from_xml_string(MODEL.format(cone=cone, integrator=integrator))
    errors, touching, skipped = _compare(mj, STATES)
    _assert_equal(errors, skipped)
    assert touching >= 15


@pytest.mark.slow
def test_inverse():
    mj = mujoco.MjModel.from_xml_string(MODEL.format(cone="elliptic", integrator="Euler"))
    m, datas = put_model(mj), [_world(mj, seed) for seed in range(6)]
    jacobians = functools.partial(inverse_jacobian, m, actuation=True, sensors=True)
    ours = jax.jit(jax.vmap(jacobians))(_batch(m, datas))
    errors = [max(map(_error, [x[i] for x in ours[:6]], _inverse_differences(mj, d))) for i, d in enumerate(datas)]
    assert sum(d.ncon > 2 for d in datas) >= 3
    assert max(errors) < 1e-5, errors


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_models(path):
    mj = mujoco.MjModel.from_xml_path(str(path))
    mj.opt.tolerance, mj.opt.iterations = 0, 100
    if mj.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:  # which mjd_transitionFD refuses
        mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    errors, _, skipped = _compare(mj, STATES)
    _assert_equal(errors, skipped)


@pytest.mark.slow
def test_near_kinks():
    """As where a gripper rests at its stop: columns are those of this side, by differences that stay on it."""
    mj = mujoco.MjModel.from_xml_path(str(ROOT / "arm.xml"))
    mj.opt.tolerance, mj.opt.iterations = 0, 100
    m, datas, kinks, unknown = put_model(mj), [_world(mj, seed) for seed in range(STATES)], 0, 0
    jacobians = jax.jit(jax.vmap(functools.partial(transition_jacobian, m, sensors=True)))(_batch(m, datas))
    for i, data in enumerate(datas):
        far, near = ([_differences(mj, data, s * eps, False) for s in (1, -1)] for eps in (LENGTH, 1e-2 * LENGTH))
        kinks += max(map(_error, *far)) > ROUGH
        if max(map(_error, *near)) > ROUGH:  # a kink nearer than differences can tell
            unknown += 1
            continue
        for ours, *sides in zip([x[i] for x in jacobians], *far, *near, strict=True):
            off = np.min([np.abs(ours - side).max(axis=0) for side in sides], axis=0)
            assert off.max() < SIDE * (1 + np.abs(sides[0]).max()), (i, off)
    assert unknown <= 0.05 * STATES and kinks - unknown >= 2, (kinks, unknown)


def test_a_model_without_dofs_has_empty_jacobians():
    m = put_model(mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>'))
    d = make_data(m)
    assert [x.shape for x in transition_jacobian(m, d)] == [(0, 0), (0, 0)]
    assert all(x.shape[1] == 0 for x in jax.tree.leaves(inverse_jacobian(m, d)))
    assert all(x.shape == (0, 0) for x in transition_jacobian(m, d, difference=1e-6))
