"""Length ranges of actuators by simulation, from limits or as given equal MuJoCo's; what cannot be simulated."""

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source
from tests.support.oracle import error

ARM = """<mujoco><compiler><lengthrange {options}/></compiler>{head}<worldbody>
<geom name="shoulder" type="cylinder" size=".05 .1" euler="90 0 0"/><site name="origin" pos="-.2 0 .15"/>
<site name="side" pos=".1 0 .1"/>
<body name="upper"><joint name="shoulder" axis="0 1 0" range="-40 70"/><geom type="capsule" size=".03 .15" pos=".2 0 0"
euler="0 90 0"/><site name="insertion" pos=".2 0 .05"/>
<body name="lower" pos=".4 0 0"><joint name="elbow" axis="0 1 0" range="-100 0"/><geom size=".05" pos=".2 0 0"/>
<geom name="elbow" type="sphere" size=".04"/><site name="hand" pos=".25 0 .03"/></body></body></worldbody>
<tendon><spatial name="rope"><site site="origin"/><geom geom="shoulder" sidesite="side"/><site site="insertion"/>
<geom geom="elbow"/><site site="hand"/></spatial>
<fixed name="sum" range="-.3 .4"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-.5"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""
SHORT = 'inttotal="3" interval=".5"'
MUSCLES = '<muscle name="long" tendon="rope"/><muscle name="short" joint="elbow" gear="-2" scale="150"/>'


def arm(actuators: str, options: str = SHORT, head: str = "") -> str:
    """Return a model of an arm with actuators."""
    return ARM.format(actuators=actuators, options=options, head=head)


def ranges(source: str) -> np.ndarray:
    return compile_source(source).fields["actuator_lengthrange"]


def expected(source: str) -> np.ndarray:
    return mujoco.MjModel.from_xml_string(source).actuator_lengthrange


@pytest.mark.parametrize(
    "source",
    [
        arm(MUSCLES),
        arm(
            '<motor tendon="rope" gear=".5"/><muscle name="m" joint="shoulder"/>',
            SHORT + ' mode="all" accel="10" maxforce="3" timestep="0" timeconst=".5"',
            '<option timestep=".004" integrator="RK4" density="2"/>',
        ),
    ],
    ids=("muscles", "settings"),
)
def test_simulated_range_equals_mujoco(source):
    found = ranges(source)
    assert found.dtype == np.float64 and (np.diff(found) > 0.05).all()
    assert error(found, expected(source)) < 1e-9


def test_single_precision_still_compiles_in_double():
    source = arm('<muscle joint="elbow"/>')
    with jax.enable_x64(False):
        m = from_xml_string(source)
    assert m.qpos0.dtype == np.float32
    assert error(m.actuator_lengthrange, expected(source)) < 1e-6


@pytest.mark.parametrize(
    ("actuators", "options"),
    [
        ('<muscle tendon="sum"/><muscle jointinparent="shoulder"/>', 'uselimit="true"'),
        ('<muscle tendon="rope" lengthrange=".1 .3"/>', ""),
        ('<muscle joint="elbow" lengthrange=".1 .3"/>', 'useexisting="false" uselimit="true"'),
        ('<muscle joint="elbow"/><motor joint="elbow"/>', 'mode="none"'),
        ('<motor joint="elbow"/><general joint="elbow" gaintype="user"/>', ""),
        ('<general joint="elbow" gaintype="user"/><motor joint="elbow"/>', 'mode="muscleuser" uselimit="true"'),
        ('<motor tendon="sum"/><motor joint="elbow" lengthrange="0 1"/>', 'mode="all" uselimit="true"'),
    ],
)
def test_range_without_simulation_equals_mujoco(actuators, options):
    source = arm(actuators, options)
    assert error(ranges(source), expected(source)) < 1e-15


FREE = """<mujoco><compiler><lengthrange inttotal="1" interval=".3"/></compiler><worldbody>
<body><joint name="j"{}/><geom size=".1" pos=".2 0 0"/></body></worldbody>
<actuator><muscle name="calf" joint="j"{}/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (FREE.format("", ""), "element <muscle name='calf'>: the lengthrange .* has not settled"),
        (FREE.format(' range="-1 1"', ' gear="0"'), "<muscle name='calf'>: the lengthrange found, .*, is empty"),
        (FREE.format(' range="-1 1"', "").replace('inttotal="1"', 'inttotal="0"'), "inttotal and interval of length"),
    ],
    ids=("unlimited", "empty", "unmeasured"),
)
def test_no_range_is_an_error_as_in_mujoco(source, message):
    with pytest.raises(ValueError, match="engthrange"):
        mujoco.MjModel.from_xml_string(source)
    with pytest.raises(ModelError, match=message):
        compile_source(source)


def test_what_the_simulation_lacks_is_listed_by_name(monkeypatch):
    monkeypatch.setattr("mjx_like.constraint.plan.unsupported", lambda t: ("option x is not built yet",))
    m = from_xml_string(arm(MUSCLES))
    lack = "its lengthrange needs a simulation, and that needs: option x is not built yet"
    assert m.unsupported[:2] == (f"actuator 'long': {lack}", f"actuator 'short': {lack}")
