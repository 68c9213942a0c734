"""Tendons around spheres and cylinders: lengths and Jacobians equal MuJoCo's at random and at singular poses."""

import mujoco
import numpy as np
import pytest

from mjx_like.compiler.reference.com import com_pos
from mjx_like.compiler.reference.kinematics import kinematics
from mjx_like.compiler.reference.tendon import tendons
from mjx_like.interop.convert import arrays_from_mjmodel
from tests.support.oracle import TIGHT, error

RANDOM = """
<mujoco><worldbody>
<body pos=".1 .2 .3" euler="20 30 40"><joint type="ball"/>
<geom name="g" type="{kind}" size=".3 .1"/><site name="s" pos="{site}"/></body>
<body pos="-1 0 0"><freejoint/><geom size=".05"/><site name="a"/></body>
<body pos="1 0 0"><freejoint/><geom size=".05"/><site name="b"/><site name="c" pos="0 .2 .4"/></body>
</worldbody><tendon><spatial>
<site site="a"/><geom geom="g" {side}/><site site="b"/><pulley divisor="3"/><site site="a"/><site site="c"/>
</spatial></tendon></mujoco>
"""
FIXED = """
<mujoco><worldbody><geom name="g" type="{kind}" size=".3 .1"/><site name="s" pos="{site}"/>
<body pos="{start}"><joint type="slide" axis="1 .2 .3"/><geom size=".05"/><site name="a"/></body>
<body pos="{stop}"><joint type="slide" axis="0 1 0.1"/><geom size=".05"/><site name="b"/></body>
</worldbody><tendon><spatial><site site="a"/><geom geom="g" {side}/><site site="b"/></spatial></tendon></mujoco>
"""
SITES = ("none", ".5 .1 .2", ".1 .05 .02", ".1 .05 .5", "0 0 .9")


def compare(mj: mujoco.MjModel, fields: dict, data: mujoco.MjData) -> float:
    """Return the larger error of length and Jacobian at `data.qpos`."""
    mujoco.mj_forward(mj, data)
    frames = kinematics(fields, data.qpos)
    length, rows = tendons(fields, data.qpos, frames, com_pos(fields, frames))
    expected = np.zeros((1, mj.nv))
    mujoco.mju_sparse2dense(expected, data.ten_J, mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind)
    return max(error(length, data.ten_length), error(rows, expected))


def with_side(text: str, site: str, **values: str) -> mujoco.MjModel:
    side = "" if site == "none" else 'sidesite="s"'
    return mujoco.MjModel.from_xml_string(text.format(site="0 0 0" if site == "none" else site, side=side, **values))


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("kind", ("sphere", "cylinder"))
def test_random_poses(kind, site):
    mj = with_side(RANDOM, site, kind=kind)
    data, fields, rng = mujoco.MjData(mj), arrays_from_mjmodel(mj).fields, np.random.default_rng(0)
    worst, wrapped = 0.0, 0
    for _ in range(60):
        data.qpos[:] = 0.6 * rng.normal(size=mj.nq)
        worst = max(worst, compare(mj, fields, data))
        wrapped += data.ten_wrapnum[0] > 5
    assert worst < TIGHT and wrapped > 5


@pytest.mark.parametrize("site", ("none", ".5 0 0", "0 .4 .1", "0 0 .9", ".1 0 0", "-.3 .4 0"))
@pytest.mark.parametrize("kind", ("sphere", "cylinder"))
def test_singular_poses(kind, site):
    """Opposite, parallel and equal ends, ends inside, on the surface and at the centre."""
    poses = (
        ("-1 0 0", "1 0 0"), ("1 0 0", "1.5 0 0"), ("0 -1 0", "0 2 0"), ("0 0 1", "0 0 -1"), ("-1 .3 0", "1 .3 0"),
        (".1 0 0", "1 0 0"), ("1 0 0", "1 0 0"), ("-.5 .5 .5", ".5 -.5 -.5"), ("-.3 0 0", "1 0 0"),
        ("1 0 0", "1 .00001 0"), ("0 0 0", "1 0 0"),
    )  # fmt: skip
    for start, stop in poses:
        mj = with_side(FIXED, site, kind=kind, start=start, stop=stop)
        assert compare(mj, arrays_from_mjmodel(mj).fields, mujoco.MjData(mj)) < TIGHT, (start, stop)
