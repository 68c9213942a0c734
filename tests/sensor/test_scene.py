"""Sensors that look at the scene, on models of their own, against MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_data, put_model
from mjx_like.sensor.stage import sensor_pos
from tests.models import HERE
from tests.sensor.against import CAPACITY, compare, evaluate, motion
from tests.support.oracle import TIGHT, error, load, reference


@pytest.mark.parametrize(
    "name, rolled", [("rangefinder_surface", False), ("sensor_contact", True), ("sensor_distance", False)]
)
def test_sensors_equal_oracle(name, rolled):
    rows, _ = compare(str(HERE / "features" / f"{name}.xml"), count=6, rolled=rolled)
    assert [(kind.name, error(ours, theirs)) for kind, ours, theirs in rows if not error(ours, theirs) < TIGHT] == []
    assert all(np.abs(theirs).any() for _, _, theirs in rows)


def test_kinetic_energy_is_that_of_now_without_the_energy_flag():
    xml = """<mujoco><worldbody><body><joint/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <sensor><e_kinetic/></sensor></mujoco>"""
    mj, m = load(xml)
    data = mujoco.MjData(mj)
    data.qvel[:] = 2
    mujoco.mj_forward(mj, data)
    before = put_data(mj, data).replace(energy=jnp.zeros(2), sensordata=jnp.zeros(1))
    assert data.sensordata[0] > 0.5 and error(sensor_pos(m, before).sensordata, data.sensordata) < TIGHT


def test_contact_sensor_gradient_equals_differences_and_is_finite_without_contact():
    mj, _ = load(str(HERE / "features" / "sensor_contact.xml"))
    m = put_model(mj, **CAPACITY)
    d = put_data(mj, reference(mj, motion(mj, 3, 30)[2]), **CAPACITY)
    assert d.ncon > 3
    rng = np.random.default_rng(0)
    move = {name: jnp.asarray(rng.normal(size=getattr(d, name).shape)) for name in ("cvel", "efc_force", "subtree_com")}
    shift = {name: jnp.asarray(rng.normal(size=getattr(d.contact, name).shape)) for name in ("dist", "pos", "frame")}

    def values(scale):
        contact = d.contact.replace(**{n: getattr(d.contact, n) + scale * x for n, x in shift.items()})
        data = d.replace(contact=contact, **{n: getattr(d, n) + scale * x for n, x in move.items()})
        return evaluate(m, data).sensordata

    both = jax.jit(lambda scale: jax.jvp(values, (scale,), (1.0,)))
    change = (both(1e-6)[0] - both(-1e-6)[0]) / 2e-6
    assert np.abs(change).max() > 1
    assert error(both(0.0)[1], change) < 1e-6
    weight = jnp.cos(jnp.arange(change.size))
    backward = jax.jit(
        jax.grad(lambda s, data: jnp.sum(weight * evaluate(m, data.replace(cvel=s * data.cvel)).sensordata))
    )
    assert np.isfinite(backward(1.0, put_data(mj, mujoco.MjData(mj), **CAPACITY)))
