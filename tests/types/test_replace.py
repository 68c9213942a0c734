"""replace of every record: a name that it does not have, and what is no field but stands near by."""

import jax.numpy as jnp
import mujoco
import pytest

from mjx_like.errors import InputError
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.types.enums import ConeType, IntegratorType

XML = """
<mujoco>
  <worldbody><body><joint name="h"/><geom size=".1"/></body></worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def m():
    return put_model(mujoco.MjModel.from_xml_string(XML))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m, d: m.replace(body_mas=1), "a Model has no field 'body_mas'; did you mean 'body_mass'?"),
        (lambda m, d: d.replace(qpo=1), "a Data has no field 'qpo'; did you mean 'qpos'?"),
        (lambda m, d: d.replace(nonesuch=1), "a Data has no field 'nonesuch'; printing it shows its fields"),
        (lambda m, d: d.replace(dist=1), "field 'dist', its contact has: d.replace(contact=d.contact.replace(dist="),
        (lambda m, d: d.contact.replace(dits=1), "a Contact has no field 'dits'; did you mean 'dist'?"),
        (lambda m, d: m.stat.replace(meanmas=1), "a Statistic has no field 'meanmas'; did you mean 'meanmass'?"),
        (lambda m, d: m.opt.replace(timestp=1), "an Option has no field 'timestp'; did you mean 'timestep'?"),
        (lambda m, d: m.replace(timestep=1), "timestep is an option: m.replace(opt=m.opt.replace(timestep=...))"),
        (lambda m, d: m.replace(iterations=1), "iterations is an option: m.replace(opt=m.opt.replace(iterations=...))"),
        (lambda m, d: m.replace(nq=3), "nq is fixed when the model is compiled; change the model file, or the Spec"),
        (lambda m, d: m.replace(extent=3), "its stat has: m.replace(stat=m.stat.replace(extent=...))"),
        (lambda m, d: m.replace(opt=None), "opt=None: give an Option, m.opt.replace(...)"),
        (lambda m, d: m.replace(opt=3), "opt=3: give an Option, m.opt.replace(...)"),
        (lambda m, d: m.opt.replace(iterations=1.5), "iterations=1.5: must be a whole number"),
        (lambda m, d: m.opt.replace(iterations=True), "iterations=True: must be a whole number"),
        (lambda m, d: m.opt.replace(iterations="3"), "iterations='3': must be a whole number"),
        (lambda m, d: m.opt.replace(integrator="RK5"), "integrator='RK5': must be an IntegratorType: EULER=0, RK4=1, "),
        (lambda m, d: m.opt.replace(cone=17), "cone=17: must be a ConeType: PYRAMIDAL=0, ELLIPTIC=1"),
        (lambda m, d: m.opt.replace(solver=jnp.array(1.0)), "solver=Array(1., dtype=float64"),
        (lambda m, d: m.opt.replace(timestep="a"), "timestep='a': must be a number or an array of numbers"),
        (lambda m, d: m.opt.replace(gravity=None), "gravity=None: must be a number or an array of numbers"),
    ],
)
def test_a_mistake_is_named(m, call, message):
    with pytest.raises(InputError) as mistake:
        call(m, make_data(m))
    assert message in str(mistake.value) and "\n" not in str(mistake.value)


def test_what_is_right_stays_right(m):
    assert m.replace(opt=m.opt.replace(cone=ConeType.ELLIPTIC)).opt.cone == 1
    assert m.replace(opt=m.opt.replace(integrator="implicitfast")).opt.integrator == IntegratorType.IMPLICITFAST
    assert m.replace(opt=m.opt.replace(iterations=jnp.int32(7))).opt.iterations == 7
    o = m.replace(opt=m.opt.replace(gravity=[0, 0, -1])).opt
    assert o.gravity[2] == -1 and o.timestep == m.opt.timestep  # whole numbers of one make none of the other
    assert m.replace(opt=m.opt.replace(timestep=1)).opt.timestep.dtype == m.qpos0.dtype


def test_an_option_is_not_set_in_place(m):
    with pytest.raises(AttributeError, match=r"m = m.replace\(opt=m.opt.replace\(timestep=...\)\)"):
        m.opt.timestep = 1e-3


def test_a_field_that_is_not_there(m):
    with pytest.raises(AttributeError, match="a Model has no field 'body_mas'"):
        _ = m.body_mas
