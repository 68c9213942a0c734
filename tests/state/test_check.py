"""What `check` says of time constants that two steps bound, and of arguments that are none of its own."""

import re

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError

XML = """
<mujoco>
  <option timestep="0.01" OPTION><flag FLAG/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" solref="SOLREF"/>
    <body name="a" pos="0 0 1"><joint name="slide" type="slide" range="-1 1" solreflimit="SOLREF"/>
      <joint name="knee" range="-1 1" solreflimit="SOLREF" frictionloss="1" solreffriction="SOLREF"/>
      <geom name="foot" size=".1" solref="SOLREF"/><site name="s"/></body>
    <body name="b" pos="1 0 1"><freejoint/><geom name="ball" size=".1" solref="-100 -1"/></body>
  </worldbody>
  <contact><pair geom1="foot" geom2="ball" solref="SOLREF" solreffriction="SOLREF"/></contact>
  <tendon><fixed name="t" limited="true" range="-1 1" frictionloss="1" solreflimit="SOLREF" solreffriction="SOLREF">
    <joint joint="knee" coef="1"/></fixed></tendon>
  <equality><joint name="tie" joint1="slide" joint2="knee" solref="SOLREF"/>
    <connect body1="b" anchor="0 0 0"/></equality>
</mujoco>
"""
KINDS = (
    "limits of joints 'slide', 'knee' (2 of 2)",
    "friction loss of joints 'knee' (1 of 1)",
    "limits of tendons 't' (1 of 1)",
    "friction loss of tendons 't' (1 of 1)",
    "equalities 'tie' (1 of 2)",
    "contacts of geoms 'floor'-'foot', 'foot'-'ball' (2 of 3)",
)


def model(solref="0.005 1", option="", flag='warmstart="enable"', **options):
    xml = XML.replace("SOLREF", solref).replace("OPTION", option).replace("FLAG", flag)
    return mjx.put_model(mujoco.MjModel.from_xml_string(xml), **options)


def found(m, d=None):
    return mjx.check(m, mjx.make_data(m) if d is None else d)


def test_every_kind_of_constraint_is_named():
    lines = found(model())
    for line, kind in zip(lines, KINDS, strict=True):
        assert line == (
            f"refsafe: {kind}: solref[0] is down to 0.005 s, below two time steps, 0.02 s; it is raised to that, and "
            "its derivative is 0: give more, or a timestep of at most 0.0025"
        )


def test_friction_of_contacts_where_the_cone_is_elliptic():
    lines = found(model(option='cone="elliptic"'))
    assert lines[:-1] == found(model())
    assert lines[-1].startswith(
        "refsafe: friction of contacts of geoms 'foot'-'ball' (1 of 3): solreffriction[0] is down to 0.005 s"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"solref": "0.02 1"},  # the default; the bound itself
        {"solref": "-100 -1"},  # the direct form
        {"flag": 'refsafe="disable"'},
        {"flag": 'constraint="disable"'},
        {"option": 'integrator="discrete"'},
    ],
)
def test_nothing_is_said_where_nothing_is_raised(changes):
    assert found(model(**changes)) == ()


def test_it_is_what_the_step_does():
    """The derivative of a step by solref[0] is 0 where `check` names it, and not where it does not."""
    m = model(flag='contact="disable" equality="disable" frictionloss="disable"')
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[0].set(1.1))  # beyond its limit

    def force(time, step):
        own = m.replace(jnt_solref=m.jnt_solref.at[0, 0].set(time), opt=m.opt.replace(timestep=step))
        return jnp.sum(mjx.forward(own, d).qacc[0])

    slope = jax.jit(jax.grad(force))
    assert slope(0.005, 0.01) == 0 and slope(0.005, 0.002) != 0
    quick = m.replace(opt=m.opt.replace(timestep=0.002))
    assert len(found(m)) == 2 and found(quick) == ()


def test_the_mixture_of_two_geoms_decides():
    m = model("0.03 1")
    low = m.replace(geom_solref=m.geom_solref.at[0, 0].set(0.005))  # with 0.03 at equal weight: 0.0175
    assert [line.split(":")[1] for line in found(low)] == [" contacts of geoms 'floor'-'foot' (1 of 3)"]
    assert "solref[0] is down to 0.0175 s" in found(low)[0]
    much = m.replace(geom_solref=m.geom_solref.at[0, 0].set(0.015))  # 0.0225
    assert found(much) == ()


def test_many_elements_and_many_worlds():
    joints = "".join(f'<body><joint name="j{i}" range="-1 1"/><geom size=".1" contype="0"/></body>' for i in range(9))
    xml = f'<mujoco><option timestep=".02"/><worldbody>{joints}</worldbody></mujoco>'
    m = mjx.put_model(mujoco.MjModel.from_xml_string(xml))
    (line,) = found(m)
    assert "limits of joints 'j0', 'j1', 'j2', 'j3', 'j4', 'j5' and 3 more (9 of 9): solref[0] is down to 0.02" in line
    m = model("0.03 1")
    scale = jnp.array([1.0, 0.1, 0.5])[:, None, None]
    varied = m.replace(jnt_solref=m.jnt_solref * scale, geom_solref=m.geom_solref * scale)
    many = jax.tree.map(lambda x: jnp.stack([x] * 3), mjx.make_data(m))
    limits, contacts = found(varied, many)
    assert limits.startswith(
        "refsafe: limits of joints 'slide', 'knee' (2 of 2, in 2 of 3 worlds): solref[0] is down to 0.003 s"
    )
    assert contacts.startswith(
        "refsafe: contacts of geoms 'floor'-'foot' (1 of 3, in 2 of 3 worlds): solref[0] is down to 0.003 s"
    )
    steps = m.replace(opt=m.opt.replace(timestep=jnp.array([0.01, 0.02, 0.01])))
    lines = found(steps, many)
    assert len(lines) == 6 and all(", in 1 of 3 worlds): " in line for line in lines)
    assert re.search(r"solref\[0\] is down to 0.03 s, .* 0.04 s; .* at most 0.015$", lines[0])


def test_what_check_cannot_read():
    m = model()
    d = mjx.make_data(m)
    for call, message in (
        (lambda: jax.jit(lambda d: mjx.check(m, d) and 1)(d), "check: d is traced: call it outside jit, vmap and grad"),
        (lambda: jax.jit(lambda m: mjx.check(m, d) and 1)(m), "check: m is traced: call it outside jit, vmap and grad"),
        (lambda: mjx.check(m, None), "check: d is None: give a Data, make_data(m)"),
        (lambda: mjx.check(d, m), "check: m is a Data and d is a Model: the order is (m, d)"),
        (lambda: mjx.check(m, d.replace(warning=np.zeros((3, 7), int))), "check: d.qpos has shape (9,), but d.warning"),
    ):
        with pytest.raises(InputError) as mistake:
            call()
        assert str(mistake.value).startswith(message) and "\n" not in str(mistake.value)
