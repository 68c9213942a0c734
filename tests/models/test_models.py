"""Our own MJCF files do what their comments say, in MuJoCo itself."""

import itertools

import mujoco
import numpy as np
import pytest

from tests.models import FEATURES, HERE, MAIN, STACKS

SHAPES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")


def simulate(mj: mujoco.MjModel, data: mujoco.MjData, steps: int, controlled: bool) -> None:
    rng = np.random.default_rng(0)
    for i in range(steps):
        if controlled and i % 5 == 0:
            data.ctrl[:] = rng.uniform(*mj.actuator_ctrlrange.T)
        mujoco.mj_step(mj, data)


def assert_healthy(data: mujoco.MjData) -> None:
    assert np.all(np.isfinite(data.qpos)) and not data.warning.number.any()


@pytest.mark.parametrize("path", MAIN + FEATURES + STACKS, ids=lambda p: p.stem)
def test_first_line_says_what_it_is_for(path):
    first = path.read_text().splitlines()[0]
    assert first.startswith("<!-- ") and first.endswith(". -->") and len(first) <= 130


@pytest.mark.parametrize("path", MAIN, ids=lambda p: p.stem)
def test_random_controls(path):
    mj = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    assert mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_KEY, "home") == 0
    mujoco.mj_resetDataKeyframe(mj, data, 0)
    mujoco.mj_forward(mj, data)
    assert min((c.dist for c in data.contact), default=0) > -0.002
    simulate(mj, data, 2000, controlled=True)
    assert_healthy(data)


def test_humanoid_is_a_person():
    mj = mujoco.MjModel.from_xml_path(str(MAIN[0].with_name("humanoid.xml")))
    assert abs(mj.body_mass.sum() - 70) < 0.1 and mj.nu == 21 and np.all(mj.jnt_limited[1:])
    data = mujoco.MjData(mj)
    mujoco.mj_resetDataKeyframe(mj, data, 0)
    mujoco.mj_forward(mj, data)
    feet = {mj.body(mj.geom(c.geom[1]).bodyid[0]).name for c in data.contact}
    assert feet == {"right_foot", "left_foot"}


def test_arm_lifts_the_cube():
    mj = mujoco.MjModel.from_xml_path(str(MAIN[0].with_name("arm.xml")))
    data = mujoco.MjData(mj)
    mujoco.mj_resetDataKeyframe(mj, data, 1)
    simulate(mj, data, 300, controlled=False)
    data.ctrl[:6] = mj.key_ctrl[0, :6]
    simulate(mj, data, 1000, controlled=False)
    assert data.body("cube").xpos[2] > 0.55 and np.abs(data.qvel).max() < 0.01


@pytest.mark.parametrize("path", FEATURES, ids=lambda p: p.stem)
def test_feature(path):
    mj = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    kinds = set(data.efc_type)
    if path.stem.startswith("pair_"):
        assert data.ncon >= 1
    if path.stem.startswith("condim"):
        assert {c.dim for c in data.contact} == {int(path.stem[6])}
    simulate(mj, data, 300, controlled=False)
    assert_healthy(data)
    wanted = {"equality": 0, "friction_dof": 1, "friction_tendon": 2, "limit_tendon": 4, "limit": 3}
    for start, kind in wanted.items():
        if path.stem.startswith(start):
            assert kind in kinds
            break


@pytest.mark.parametrize("path", [p for p in FEATURES if p.stem.startswith("wrap_")], ids=lambda p: p.stem)
def test_wrapping_tendon_touches_its_geom(path):
    mj = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    sites = sum(mj.wrap_type != mujoco.mjtWrap.mjWRAP_SPHERE) - sum(mj.wrap_type == mujoco.mjtWrap.mjWRAP_CYLINDER)
    touching = []
    for _ in range(300):
        mujoco.mj_step(mj, data)
        touching.append(data.ten_wrapnum[0] > sites)
    assert any(touching)
    assert "inside" in path.stem or not all(touching)


def test_every_transmission_has_a_model_that_uses_it():
    for kind in ("joint", "jointinparent", "tendon", "site", "slidercrank", "body"):
        mj = mujoco.MjModel.from_xml_path(str(HERE / "features" / f"transmission_{kind}.xml"))
        assert set(mj.actuator_trntype) == {int(getattr(mujoco.mjtTrn, f"mjTRN_{kind.upper()}"))}, kind


def test_every_pair_of_shapes_has_a_model():
    for low, high in itertools.combinations_with_replacement(SHAPES, 2):
        if high != "plane":
            mj = mujoco.MjModel.from_xml_path(str(HERE / "features" / f"pair_{low}_{high}.xml"))
            kinds = {f"mjGEOM_{low.upper()}", f"mjGEOM_{high.upper()}"}
            assert {mujoco.mjtGeom(k).name for k in mj.geom_type} == kinds
