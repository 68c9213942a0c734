"""Every built sensor against MuJoCo, from the same MjData."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like import Model
from mjx_like.errors import UnsupportedError
from mjx_like.interop.convert import put_data, put_model
from mjx_like.sensor.stage import sensor_pos
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.enums import SensorType
from mjx_like.types.hooks import Hooks
from tests.sensor.against import compare, evaluate
from tests.support.oracle import ACCELERATION, TIGHT, error, load, reference, states

OBJECTS = (("body", "b"), ("xbody", "b"), ("geom", "g"), ("site", "s"), ("camera", "ct"))


def _frame_sensors() -> str:
    kinds = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
    seen_from = ("", 'reftype="xbody" refname="c"', 'reftype="site" refname="s2"', "", 'reftype="camera" refname="cam"')
    pairs = list(zip(OBJECTS, seen_from, strict=True)) + [(("site", "s2"), 'reftype="geom" refname="g"')]
    relative = [f'<{k} objtype="{t}" objname="{n}" {r}/>' for k in kinds for (t, n), r in pairs]
    still = (("site", "world"), ("xbody", "shelf"))
    absolute = [
        f'<{k} objtype="{t}" objname="{n}"/>' for k in ("framelinacc", "frameangacc") for t, n in (*OBJECTS, *still)
    ]
    return "".join(relative + absolute)


ARM = f"""
<mujoco>
  <option magnetic="1 2 3"><flag contact="disable" energy="enable"/></option>
  <worldbody>
    <camera name="cam" pos="0 -3 1" xyaxes="1 0 0 0 .2 1" resolution="4 3"/>
    <camera name="flat" projection="orthographic" pos="0 -3 1" fovy="2" xyaxes="1 0 0 0 .2 1" resolution="4 3"/>
    <body name="shelf" pos="0 0 -.2"><geom type="plane" size="0 0 1"/></body>
    <site name="world" pos="0 0 1"/>
    <site name="egg" type="ellipsoid" size="1 .5 1"/><site name="rod" type="capsule" size=".5 .3 1"/>
    <site name="can" type="cylinder" size=".5 .3 1"/><site name="room" type="box" size="1 1 1"/>
    <body name="b" pos="0 0 .5"><freejoint/>
      <geom name="g" type="box" size=".1 .2 .3" pos=".1 0 0" quat="1 2 3 4"/>
      <site name="s" pos=".1 0 .2" euler="30 40 50"/><camera name="ct" mode="trackcom" pos="1 1 1"/>
      <body name="c" pos=".5 0 0"><joint name="ball" type="ball" limited="true" range="0 30"/>
        <geom name="g2" size=".1" pos=".2 .1 0"/><site name="s2" pos="0 .3 .1" quat="1 1 0 1"/>
        <body name="e" pos=".4 .2 .1"><joint name="h" axis="1 2 0" range="-10 10" limited="true"/>
          <joint name="sl" type="slide" axis="1 0 0" stiffness="3"/>
          <geom type="capsule" size=".1 .2"/><site name="tip"/>
    </body></body></body>
  </worldbody>
  <tendon><fixed name="t" range="-.1 .1" limited="true">
    <joint joint="h" coef="2"/><joint joint="sl" coef="1"/></fixed></tendon>
  <actuator><motor joint="ball" gear="1 0 0"/><position tendon="t" kp="3"/><motor tendon="t"/><motor joint="h"/>
    <general name="act" joint="ball" gear="1 2 3"/></actuator>
  <sensor>
    <rangefinder site="world"/><rangefinder site="s" data="dist dir origin point normal depth"/>
    <rangefinder camera="cam" data="dist point"/><rangefinder camera="flat" data="dist normal depth"/>
    <rangefinder site="s" cutoff=".1"/><camprojection site="s" camera="cam"/><camprojection site="s" camera="flat"/>
    <ballquat joint="ball"/><ballangvel joint="ball"/><jointpos joint="h"/><jointvel joint="h"/>
    <jointpos joint="sl" cutoff=".01"/><tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="act"/>
    <actuatorvel actuator="act"/><actuatorfrc actuator="act"/><jointactuatorfrc joint="h"/>
    <tendonactuatorfrc tendon="t"/><jointlimitpos joint="h"/><jointlimitvel joint="h"/><jointlimitfrc joint="h"/>
    <jointlimitpos joint="ball"/><jointlimitfrc joint="ball" cutoff="1"/><tendonlimitpos tendon="t"/>
    <tendonlimitvel tendon="t"/><tendonlimitfrc tendon="t"/><clock/><magnetometer site="s"/>
    <insidesite site="egg" objtype="body" objname="b"/><insidesite site="rod" objtype="geom" objname="g2"/>
    <insidesite site="can" objtype="site" objname="tip"/><insidesite site="room" objtype="camera" objname="ct"/>
    <accelerometer site="world"/><accelerometer site="s2"/><gyro site="s2"/><velocimeter site="s2"/>
    <force site="tip"/><torque site="tip"/><force site="s"/><subtreecom body="b"/><subtreelinvel body="c"/>
    <subtreeangmom body="c"/><e_potential/><e_kinetic/>{_frame_sensors()}
  </sensor>
</mujoco>
"""

PILE = """
<mujoco>
  <option cone="{cone}"/><default><geom condim="{condim}"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1"/><site name="room" type="box" size="3 3 3"/>
    <body pos="0 0 .15"><freejoint/><geom type="capsule" size=".1 .2" euler="90 0 0"/>
      <site name="box" type="box" size=".2 .2 .2" pos=".1 0 0"/><site name="ball" size=".5" pos=".1 0 0"/>
      <site name="rod" type="capsule" size=".1 .2" pos=".1 0 -.3"/><site name="can" type="cylinder" size=".2 .1"/>
      <site name="egg" type="ellipsoid" size=".1 .2 .05" pos="0 .2 0"/>
      <body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".1"/><site name="hand" size=".2"/></body></body>
    <body pos="0 0 .4"><freejoint/><geom size=".15"/><site name="top" size=".2"/></body>
  </worldbody>
  <sensor>
    <touch site="box"/><touch site="ball"/><touch site="rod"/><touch site="can"/><touch site="egg"/><touch site="hand"/>
    <touch site="room"/><touch site="top" cutoff="5"/>
    <force site="hand"/><torque site="hand"/><accelerometer site="top"/>
  </sensor>
</mujoco>
"""

TIED = """
<mujoco>
  <option><flag contact="disable"/></option>
  <worldbody>
    <body name="a" pos="0 0 1"><joint type="ball"/><geom size=".1" pos="0 .2 0"/><site name="sa"/>
      <body name="b" pos="0 0 .15"><joint name="j"/><geom type="capsule" size=".1 .2"/>
        <site name="sb" pos=".1 0 .2"/></body></body>
    <body name="c" pos=".3 0 .5"><joint axis="0 1 0"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <site name="sc" pos="0 .1 .1"/></body>
  </worldbody>
  <equality>{equality}</equality>
  <tendon><spatial name="t" {tendon}><site site="sb"/><site site="sc"/><pulley divisor="2"/><site site="sa"/>
    <site site="sc"/></spatial><fixed name="f"><joint joint="j" coef="2"/></fixed></tendon>
  <actuator>{actuator}</actuator>
  <sensor><force site="sb"/><torque site="sb"/><torque site="sc"/></sensor>
</mujoco>
"""


def test_sensors_equal_oracle():
    rows, worst = compare(ARM)
    assert worst < TIGHT
    bad = [(kind.name, error(ours, theirs)) for kind, ours, theirs in rows if not error(ours, theirs) < TIGHT]
    assert not bad
    silent = {kind.name for kind, _, theirs in rows} - {kind.name for kind, _, theirs in rows if np.abs(theirs).any()}
    assert silent <= {"CLOCK"}, "a sensor that is zero everywhere is not tested"


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 6])
def test_contact_sensors_equal_oracle(cone, condim):
    rows, worst = compare(PILE.format(cone=cone, condim=condim), count=3, steps=150)
    assert worst < ACCELERATION
    assert max(error(ours, theirs) for _, ours, theirs in rows) < ACCELERATION
    assert sum((theirs > 0).any() for kind, _, theirs in rows if kind == SensorType.TOUCH) >= 4


@pytest.mark.parametrize(
    "equality",
    [
        '<connect body1="b" body2="c" anchor=".1 .2 .3"/>',
        '<connect site1="sb" site2="sc"/><connect body1="b" anchor="0 0 .3"/>',
        '<weld body1="b" body2="c" anchor=".1 .2 .3" relpose=".1 .2 .3 1 .2 .3 .1" torquescale=".7"/>',
        '<joint joint1="j"/><weld site1="sb" site2="sc" torquescale="1.7"/>',
    ],
)
def test_forces_of_equality_constraints_equal_oracle(equality):
    _check_body_forces(TIED.format(equality=equality, tendon="", actuator=""))


@pytest.mark.parametrize(
    "equality, tendon, actuator",
    [
        ("", 'stiffness="10 2 3" springlength=".1" damping="3 .2"', '<motor tendon="t" gear="2" damping=".1"/>'),
        ('<tendon tendon1="t" tendon2="f" polycoef="0 1 .2 .3"/>', 'armature="2"', '<motor tendon="t"/>'),
        ("", 'range="0 .1" limited="true" frictionloss="3"', ""),
        ("", 'range="9 10" limited="true"', ""),
    ],
)
def test_forces_of_tendons_equal_oracle(equality, tendon, actuator):
    _check_body_forces(TIED.format(equality=equality, tendon=tendon, actuator=actuator))


def _check_body_forces(xml: str):
    rows, worst = compare(xml, count=2)
    assert worst < TIGHT
    assert max(error(ours, theirs) for _, ours, theirs in rows) < TIGHT


def test_unbuilt_sensor_is_named():
    xml = """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
      <worldbody><site name="s" type="mesh" mesh="m"/></worldbody><sensor><touch site="s"/></sensor></mujoco>"""
    with pytest.raises(UnsupportedError, match="touch in a site of type mesh"):
        make_data(Model.from_xml_string(xml))
    disabled = xml.replace("<worldbody>", '<option><flag sensor="disable"/></option><worldbody>')
    assert make_data(Model.from_xml_string(disabled)).sensordata.size


def test_step_names_what_an_option_turned_on():
    xml = """<mujoco><option><flag sensor="disable"/></option>
      <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
      <worldbody><site name="s" type="mesh" mesh="m"/></worldbody><sensor><touch site="s"/></sensor></mujoco>"""
    m = Model.from_xml_string(xml)
    d = make_data(m)
    m = m.replace(opt=m.opt.replace(disableflags=0))
    with pytest.raises(UnsupportedError, match="touch in a site of type mesh"):
        step(m, d)


def test_user_sensor_calls_hook_and_disabled_sensors_stay():
    xml = """<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody>
      <sensor><user dim="2" needstage="pos" cutoff=".5"/><clock/></sensor></mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    m = put_model(mj, hooks=Hooks(sensor=lambda m, d, i: jnp.array([d.qpos[0], 10.0 + i])))
    d = make_data(m).replace(qpos=jnp.array([0.25]), time=jnp.array(3.0))
    np.testing.assert_allclose(sensor_pos(m, d).sensordata, [0.25, 0.5, 3.0])
    off = m.replace(opt=m.opt.replace(disableflags=8192))
    np.testing.assert_array_equal(evaluate(off, d).sensordata, np.zeros(3))


SMALL = """
<mujoco>
  <option><flag contact="disable"/></option>
  <worldbody>
    <geom name="target" size=".3" pos="0 0 2"/>
    <body name="a" pos="0 0 .5"><joint axis="0 1 0"/><joint type="slide" axis="1 0 0"/><geom size=".1" pos=".2 0 0"/>
      <body name="b" pos=".05 0 .1"><joint type="ball"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
        <site name="s" pos=".01 .02 .05" euler="5 3 1"/></body></body>
  </worldbody>
  <sensor>
    <rangefinder site="s" data="dist point normal"/><framequat objtype="site" objname="s" reftype="xbody" refname="a"/>
    <framelinvel objtype="site" objname="s" reftype="body" refname="a"/><accelerometer site="s"/><gyro site="s"/>
    <force site="s"/><torque site="s" cutoff=".01"/><subtreeangmom body="a"/><ballquat joint="{ball}"/>
  </sensor>
</mujoco>
""".replace('<joint type="ball"/>', '<joint name="ball" type="ball"/>').replace("{ball}", "ball")


def test_gradient_equals_differences_and_is_finite_at_rest():
    mj, m = load(SMALL)
    d = put_data(mj, reference(mj, states(mj, 1, seed=1)[0]))
    rng = np.random.default_rng(0)
    names = ("qpos", "cvel", "qacc", "site_xpos", "site_xmat", "xquat", "xipos")
    direction = {name: jnp.asarray(rng.normal(size=getattr(d, name).shape)) for name in names}

    def weighed(scale, start):
        moved = start.replace(**{name: getattr(start, name) + scale * direction[name] for name in names})
        model = m.replace(geom_size=m.geom_size * (1 + scale), body_mass=m.body_mass * (1 + scale))
        values = evaluate(model, moved).sensordata
        return jnp.sum(values * jnp.cos(jnp.arange(values.size)))

    both = jax.jit(jax.value_and_grad(weighed))
    assert d.sensordata[0] > 0, "the ray must meet the ball"
    difference = (both(1e-6, d)[0] - both(-1e-6, d)[0]) / 2e-6
    assert error(both(0.0, d)[1], difference) < 1e-6
    assert np.isfinite(both(0.0, put_data(mj, mujoco.MjData(mj)))[1])
