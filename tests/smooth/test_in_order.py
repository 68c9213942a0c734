"""Poses in float64 on a CPU are MuJoCo's to the last bit, in the order of its operations."""

import functools

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.smooth import in_order
from mjx_like.smooth.kinematics import by_products, kinematics
from mjx_like.smooth.poses import given
from tests.support.oracle import GYM, TIGHT, load, reference, states
from tests.support.stages import batch, data, run
from tests.support.zoo_smooth import KINEMATICS

FIELDS = (
    "xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"
)  # fmt: skip
CHAIN = "".join('<body pos=".1 .2 .3"><joint axis="1 2 3"/><geom size=".1"/>' for _ in range(20)) + "</body>" * 20
LOOSE = "<body><freejoint/><geom size='.1'/></body>"


def _same(ours, theirs: list[mujoco.MjData], name: str) -> np.ndarray:
    pairs = zip(np.asarray(getattr(ours, name)), (getattr(d, name) for d in theirs), strict=True)
    return np.array([np.array_equal(a.reshape(b.shape), b) for a, b in pairs])


@pytest.mark.parametrize("name", ["humanoid", "zoo"])
def test_every_pose_is_that_of_mujoco_to_the_last_bit(name):
    mj, m = load(KINEMATICS if name == "zoo" else str(GYM / f"{name}.xml"))
    sample = states(mj, 20)
    out, theirs = run(m, sample, kinematics), [reference(mj, s) for s in sample]
    off = {name: np.flatnonzero(~_same(out, theirs, name)) for name in FIELDS}
    assert not any(x.size for x in off.values()), off


def test_derivatives_are_those_of_products_in_both_modes():
    mj, m = load(KINEMATICS)
    d = data(m).replace(qpos=states(mj, 2)[1]["qpos"])

    def turned(t, find, qpos):
        found = find(t, given(m, d.replace(qpos=qpos)))
        return found.xquat, found.frame_pos

    def through(qpos):
        out = kinematics(m, d.replace(qpos=qpos))
        return out.xquat, jax.numpy.concatenate([out.xipos, out.geom_xpos, out.site_xpos])

    want = jax.jit(jax.jacfwd(functools.partial(turned, m.topology, by_products)))(d.qpos)
    for mode in (jax.jacfwd, jax.jacrev):
        for own, other in zip(jax.jit(mode(through))(d.qpos), want, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-13)
    assert max(np.abs(x).max() for x in want) > 0.1


def test_where_a_table_of_depths_would_be_empty_poses_are_products():
    mj = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{CHAIN}{LOOSE * 100}</worldbody></mujoco>")
    m = put_model(mj)
    assert not in_order.applies(m.topology, np.dtype(np.float64))
    assert in_order.applies(load(KINEMATICS)[1].topology, np.dtype(np.float64))
    assert not in_order.applies(load(KINEMATICS)[1].topology, np.dtype(np.float32))
    sample = states(mj, 2, steps=0)
    out = jax.jit(jax.vmap(kinematics, (None, 0)))(m, batch(m, sample))
    for k, state in enumerate(sample):
        theirs = reference(mj, state)
        for name in ("xpos", "xquat", "geom_xmat"):
            ours = np.asarray(getattr(out, name)[k])
            assert np.abs(ours - getattr(theirs, name).reshape(ours.shape)).max() < TIGHT, name
