"""The reference pass gives every derived constant of MuJoCo's compiled models."""

import importlib.util
import pathlib

import mujoco
import numpy as np
import pytest

from mjx_like.compiler.reference import derive
from mjx_like.interop.convert import arrays_from_mjmodel
from tests.support.oracle import GYM, TIGHT, error

SUITE = pathlib.Path(importlib.util.find_spec("dm_control").origin).parent / "suite"
SUITE_NAMES = (
    "acrobot", "ball_in_cup", "cartpole", "cheetah", "finger", "fish", "hopper", "humanoid", "humanoid_CMU",
    "pendulum", "point_mass", "reacher", "swimmer", "walker", "quadruped",
)  # fmt: skip
DERIVED = (
    "body_subtreemass", "body_invweight0", "body_contype", "body_conaffinity", "body_margin", "body_treeid",
    "dof_treeid", "dof_invweight0", "dof_M0", "dof_length", "jnt_actuatorid", "tendon_actuatorid",
    "tree_bodyadr", "tree_bodynum", "tree_dofadr", "tree_dofnum", "tendon_treenum", "tendon_treeid",
    "tendon_length0", "tendon_invweight0", "actuator_acc0", "actuator_length0",
    "cam_pos0", "cam_poscom0", "cam_mat0", "light_pos0", "light_poscom0", "light_dir0",
)  # fmt: skip
STATISTICS = ("meaninertia", "meanmass", "meansize", "extent", "center")


def worst(mj: mujoco.MjModel) -> dict[str, float]:
    """Return the error of each field after derive on a model whose derived fields are erased."""
    arrays = arrays_from_mjmodel(mj)
    fields = arrays.fields
    for name in DERIVED:
        fields[name] = np.full_like(fields[name], 7)
    for i in np.flatnonzero(fields["eq_type"] == mujoco.mjtEq.mjEQ_CONNECT):
        fields["eq_data"][i, 3:6] = 0
    for i in np.flatnonzero((fields["eq_type"] == mujoco.mjtEq.mjEQ_WELD) & (fields["eq_data"][:, 11] != 0)):
        fields["eq_data"][i, 6:12] = [0, 0, 0, 0, fields["eq_data"][i, 10], 0]
        fields["eq_data"][i, 3:6] = 0
    fields["tree_sleep_policy"] = np.where(fields["tree_sleep_policy"] < 3, 0, fields["tree_sleep_policy"])
    statistics = {}
    derive(fields, arrays.options, statistics)
    names = (*DERIVED, "eq_data", "tendon_lengthspring", "actuator_biasprm", "tree_sleep_policy")
    return {n: error(fields[n], getattr(mj, n)) for n in names} | {
        n: error(statistics[n], getattr(mj.stat, n)) for n in STATISTICS
    }


def assert_equal(mj: mujoco.MjModel, but: tuple[str, ...] = ()) -> None:
    wrong = {n: e for n, e in worst(mj).items() if not e < TIGHT and n not in but}
    assert not wrong


JOINTS = """
<mujoco>
<worldbody>
<geom name="floor" type="plane" size="0 0 .1"/>
<camera name="c0" pos="1 2 3" mode="targetbody" target="b"/>
<light pos="0 0 2" dir="0 1 -1" mode="trackcom"/>
<body name="a" pos="0 0 1" euler="10 20 30">
<joint name="a" type="hinge" axis="1 1 0" pos=".1 .2 0" armature=".1" ref="20" springref="40"/>
<geom size=".1" contype="2" margin="0.01" gap=".02"/>
<geom size=".1" pos="0 0 .1" contype="4" margin="0.02"/>
<body name="b" pos=".3 0 0">
<joint name="b" type="ball" pos="0 0 .1"/>
<joint name="s" type="slide" axis="0 1 1" ref=".1"/>
<geom type="capsule" size=".1 .2"/>
<site name="s" pos=".1 .2 .3" euler="30 40 50"/>
<camera name="c1" pos=".1 0 0" mode="trackcom"/>
<light pos=".1 0 .2" dir="1 0 -1" mode="track"/>
</body>
</body>
<body name="sl" pos="0 3 0">
<joint type="slide" axis="1 0 0" armature="2"/>
<joint type="slide" axis="0 0 1" name="lone"/>
<geom size=".2"/>
</body>
<body name="fixed" pos="0 3 0">
<body name="sl2" pos="0 3 2">
<joint type="slide" axis="1 0 0" armature="2"/>
<geom size=".2"/>
</body>
</body>
<body name="sl3" pos="0 3 2">
<joint type="slide" axis="1 0 0" armature="2"/>
<geom size=".2" pos=".1 0 0"/>
</body>
<body name="hinge0" pos="0 3 2">
<joint type="hinge" axis="1 0 0" armature="2"/>
<geom size=".2" />
</body>
<body name="free" pos="1 1 1" quat="1 1 0 0">
<freejoint/>
<geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
<site name="f" pos=".1 0 0"/>
<body pos="0 0 1">
<geom size=".1"/>
</body>
</body>
<body mocap="true" name="moc" pos="2 0 0" quat="1 0 1 0">
<geom size=".1" contype="0" conaffinity="0" gap=".5"/>
</body>
</worldbody>
<equality>
<connect body1="a" body2="free" anchor=".1 .2 .3"/>
<connect body1="moc" anchor=".1 .2 .3"/>
<weld body1="a" body2="free" anchor=".1 .2 .3" torquescale="2"/>
<weld body1="a" relpose="1 2 3 1 1 0 0"/>
<weld site1="s" site2="f"/>
<connect site1="s" site2="f"/>
<weld body1="moc" body2="b"/>
<joint joint1="a" joint2="lone" polycoef="0 1 0 0 0"/>
</equality>
<actuator>
<motor joint="b" gear="1 2 3"/>
<motor jointinparent="b" gear="1 2 3"/>
<position joint="a" kp="3" dampratio="1"/>
</actuator>
</mujoco>
"""

PATHS = """
<mujoco>
<worldbody>
<body name="r">
<joint name="r" axis="0 1 0"/>
<geom size=".1" pos=".3 0 0"/>
<site name="ref" pos=".2 .1 0" euler="20 30 40"/>
<body name="c" pos=".5 0 0">
<joint name="c" axis="0 1 0"/>
<geom size=".1" pos=".2 0 0"/>
<site name="tip" pos=".3 0 0" euler="50 10 0"/>
<body pos=".2 0 0">
<joint name="ball" type="ball"/>
<geom size=".1" pos=".2 0 0.1"/>
<site name="end" pos=".3 .1 0" euler="-50 10 0"/>
</body>
</body>
</body>
<body name="slb" pos="0 0 .5" >
<joint name="sl" type="slide" axis="1 0 0"/>
<geom size=".1"/>
<site name="slider" euler="0 90 0"/>
</body>
<body name="free" pos="1 1 1" quat="1 .3 0 0">
<freejoint name="free"/>
<geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
<site name="f" pos=".1 0 0"/>
</body>
<site name="w" pos="0 1 1"/>
<site name="w2" pos="0 1 1"/>
</worldbody>
<tendon>
<fixed name="fx">
<joint joint="r" coef="2"/>
<joint joint="c" coef="-1"/>
</fixed>
<spatial name="sp" stiffness="3" armature=".3">
<site site="w"/>
<site site="tip"/>
<site site="end"/>
<pulley divisor="2"/>
<site site="w"/>
<site site="f"/>
</spatial>
<spatial name="same" springlength=".1 .4">
<site site="w"/>
<site site="slider"/>
</spatial>
<spatial name="zero" >
<site site="w"/>
<site site="w2"/>
</spatial>
</tendon>
<actuator>
<general cranksite="tip" slidersite="slider" cranklength="1" gear="2"/>
<general cranksite="tip" slidersite="slider" cranklength=".01"/>
<motor site="end" gear="1 2 3 4 5 6"/>
<motor site="end" refsite="ref" gear="1 2 3 0 0 0"/>
<motor site="end" refsite="ref" gear="0 0 0 4 5 6"/>
<motor site="end" refsite="ref" gear="1 2 3 4 5 6"/>
<motor site="end" refsite="w" gear="1 2 3 4 5 6"/>
<motor site="tip" refsite="f" gear="1 2 3 4 5 6"/>
<motor joint="free" gear="1 2 3 4 5 6"/>
<motor jointinparent="free" gear="1 2 3 4 5 6"/>
<position tendon="sp" dampratio=".7" kp="20" armature=".2"/>
<position joint="r" dampratio=".7" kp="20" armature=".2" gear="3"/>
<position site="end" refsite="ref" gear="1 2 3 4 5 6" dampratio="1" kp="3" timeconst=".1"/>
<adhesion body="free" ctrlrange="0 1"/>
<damper joint="c" kv="1" ctrlrange="0 1"/>
<motor joint="c" damping="1"/>
</actuator>
</mujoco>
"""

DAMPED = """
<mujoco><worldbody>
<body><joint name="r" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><site name="a" pos=".2 .1 0" euler="20 30 40"/>
<body pos=".3 0 0"><joint name="ball" type="ball"/><geom size=".1" pos=".3 0 .1"/>
<body pos=".3 0 0"><joint name="c" axis="0 1 0"/><geom size=".1" pos=".3 0 .1"/>
<site name="a2" pos=".2 .1 0" euler="10 0 60"/></body></body></body>
<body pos="0 0 3"><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><site name="b" euler="-20 30 10"/></body>
</worldbody><actuator>
<position site="a" refsite="b" gear="1 2 3 4 5 6" dampratio="1" kp="3"/>
<position joint="r" kp="4" dampratio="1" gear="3" armature=".4"/><position joint="c" kp="5" dampratio="1" gear="0"/>
<pid joint="c" kp="5" dampratio="1" ki="1"/><general joint="c" gainprm="3" biasprm="0 -3 1"/>
<orientation joint="ball" kp="5" dampratio="1"/><orientation site="a2" refsite="b" kp="5" dampratio="1"/>
<orientation site="a2" refsite="a" kp="5" dampratio="1"/><position joint="r" kp="4" kv="3"/>
</actuator></mujoco>
"""

EMPTY = (
    "<mujoco/>",
    '<mujoco><worldbody><geom type="plane" size="0 0 1"/></worldbody></mujoco>',
    '<mujoco><worldbody><geom type="plane" size="2 0 1" pos="1 0 0"/></worldbody></mujoco>',
    '<mujoco><worldbody><site pos="1 0 0"/></worldbody></mujoco>',
    '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="3 4 1 1"/></asset>'
    '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>',
    '<mujoco><worldbody><body pos="1 2 3"><geom size=".1"/><body pos="1 0 0"><site name="a"/></body></body>'
    '<camera pos="1 0 0"/><light/><site name="b"/></worldbody>'
    '<tendon><spatial><site site="a"/><site site="b"/></spatial></tendon>'
    '<actuator><motor site="a"/></actuator></mujoco>',
)


@pytest.mark.parametrize("source", (JOINTS, PATHS, DAMPED, *EMPTY), ids=range(3 + len(EMPTY)))
def test_small_models(source):
    assert_equal(mujoco.MjModel.from_xml_string(source))


@pytest.mark.parametrize("path", sorted(GYM.glob("*.xml")), ids=lambda p: p.stem)
def test_gymnasium(path):
    assert_equal(mujoco.MjModel.from_xml_path(str(path)))


@pytest.mark.parametrize("name", SUITE_NAMES)
def test_dm_control(name):
    source = (SUITE / f"{name}.xml").read_text()
    given = tuple(n for n in STATISTICS if f"{n}=" in source)
    assert_equal(mujoco.MjModel.from_xml_path(str(SUITE / f"{name}.xml")), but=given)


def test_user_statistics_stay():
    arrays = arrays_from_mjmodel(mujoco.MjModel.from_xml_string(JOINTS))
    statistics = {"extent": 17.0}
    derive(arrays.fields, arrays.options, statistics)
    assert statistics["extent"] == 17.0 and sorted(statistics) == sorted(STATISTICS)


def test_damping_ratio():
    mj = mujoco.MjModel.from_xml_string(DAMPED)
    arrays = arrays_from_mjmodel(mj)
    ratio = arrays.fields["actuator_biasprm"][:, 2]
    ratio[:-1] = 1
    derive(arrays.fields, arrays.options, {})
    assert error(arrays.fields["actuator_biasprm"], mj.actuator_biasprm) < TIGHT
    assert arrays.fields["actuator_biasprm"][-1, 2] == -3


def test_spring_length():
    mj = mujoco.MjModel.from_xml_string(PATHS)
    arrays = arrays_from_mjmodel(mj)
    arrays.fields["qpos_spring"][0] = 0.3
    arrays.fields["tendon_lengthspring"][1] = -1
    derive(arrays.fields, arrays.options, {})
    data = mujoco.MjData(mj)
    data.qpos[:] = arrays.fields["qpos_spring"]
    mujoco.mj_forward(mj, data)
    assert error(arrays.fields["tendon_lengthspring"][1], data.ten_length[[1, 1]]) < TIGHT
    assert error(arrays.fields["tendon_lengthspring"][2], [0.1, 0.4]) < TIGHT


def test_singular_inertia():
    """Two hinges about one axis: MuJoCo loads them, and the pivot that is zero becomes tiny."""
    body = '<body><joint axis="0 1 0"/><joint axis="0 1 0"/><geom size=".1"/></body>'
    mj = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    arrays = arrays_from_mjmodel(mj)
    derive(arrays.fields, arrays.options, {})
    assert np.all(np.isfinite(arrays.fields["dof_invweight0"]))
    assert np.all(arrays.fields["dof_invweight0"] > 1e6)
