"""Inverse dynamics with hard contact: the forces of a step from its velocity change, and back."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import UnsupportedError
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.types.enums import ConstraintType as K
from mjx_like.types.enums import Stage
from tests.hard.scene import model

XML = """<mujoco><option timestep="0.01" integrator="{}"/>
<default><geom friction="0.4 0.01 0.001"/></default><worldbody>
  <geom type="plane" size="9 9 .1"/>
  <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="ball" pos="2 0 .101"><freejoint/><geom size=".1" mass="2" condim="6"/></body>
  <body pos="0.5 2 1"><joint name="hinge" axis="0 1 0" range="-30 20" limited="true" frictionloss="0.3" damping=".1"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/></body>
  <body name="hung" pos="0 5 1"><freejoint/><geom size=".05" mass="1" contype="0" conaffinity="0"/></body>
</worldbody><equality><connect body1="hung" anchor="0 0 0.3"/></equality>
<actuator><position joint="hinge" kp="3" kv=".5"/></actuator></mujoco>"""
SMALL = """<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody>
  <geom type="plane" size="9 9 .1" friction="0.4 0.01 0.001"/>
  <body pos="0 0 0.1"><freejoint/><geom size=".1" mass="1" friction="0.4 .01 .001"/></body>
  <body pos="0.5 0 1"><joint axis="0 1 0" range="-30 20" limited="true" frictionloss="0.3"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>"""


def scene(gap=1e-5, integrator="implicitfast", **options):
    """A box at rest, a ball that slides, a hinge at its limit and a body that hangs, with all kinds of forces on."""
    m = model(gap, XML.format(integrator), **options)
    d = mjx.make_data(m)
    d = d.replace(
        qpos=d.qpos.at[2].set(0.1 + 2 * gap).at[9].set(0.1 + gap).at[14].set(0.349),
        qvel=d.qvel.at[6].set(1.5).at[7].set(-0.4).at[12].set(0.5).at[15].set(0.3),
        ctrl=jnp.array([0.2]),
        qfrc_applied=d.qfrc_applied.at[0].set(0.5).at[12].set(-0.4).at[15].set(0.2),
        xfrc_applied=d.xfrc_applied.at[2, 1].set(0.3),
    )
    return m, d


def applied(m, d):
    return np.asarray(d.qfrc_applied + d.qfrc_actuator + xfrc_accumulate(m, d))


def there_and_back(m, d):
    """Data after forward dynamics, after inverse dynamics of its acceleration, and one step later."""
    there = mjx.forward(m, d)
    qvel = d.qvel + m.opt.timestep * there.qacc
    later = d.replace(qvel=qvel, qpos=mjx.integrate_pos(m, d.qpos, qvel, m.opt.timestep))
    return there, mjx.inverse(m, d.replace(qacc=there.qacc)), later


@pytest.mark.slow
@pytest.mark.parametrize(
    "refresh, integrator, tolerance",
    [
        (0, "implicitfast", 1e-9),
        (1, "implicitfast", 1e-9),
        (2, "implicitfast", 1e-9),
        (0, "Euler", 1e-9),
        (0, "implicit", 1e-9),
    ],
)
def test_forward_and_back(refresh, integrator, tolerance):
    """Exact without refresh; with it, up to what two corrections leave."""
    m, d = scene(integrator=integrator, refresh=refresh)
    both = jax.jit(there_and_back)
    for _ in range(4):
        there, back, later = both(m, d)
        kinds = np.asarray(there.efc_type)[: int(there.nefc)]
        assert {K.EQUALITY, K.FRICTION_DOF, K.LIMIT_JOINT, K.CONTACT_ELLIPTIC} <= set(kinds)
        assert np.abs(there.efc_force[: kinds.size][kinds == K.LIMIT_JOINT]).max() > 0.1
        most = tolerance * np.abs(there.qfrc_constraint).max()
        np.testing.assert_allclose(back.qfrc_inverse, applied(m, there), rtol=0, atol=most)
        np.testing.assert_allclose(back.qfrc_constraint, there.qfrc_constraint, rtol=0, atol=most)
        np.testing.assert_allclose(back.efc_force, there.efc_force, rtol=0, atol=most)
        np.testing.assert_array_equal(back.qacc, there.qacc)
        d = later


def small(refresh=0):
    """A ball that rubs on the floor and a hinge near its limit; their forces by place, velocity and acceleration."""
    m = model(1e-3, SMALL, refresh=refresh)
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[2].set(0.102).at[7].set(0.347), qvel=jnp.array([0.5, 0.2, -0.1, 1, 2, 0.5, 0.1]))
    d = d.replace(qacc=jnp.array([-2.0, -1, 5, 0.5, 3, 1, -5]))
    nv = m.nv

    def force(x):
        place = mjx.integrate_pos(m, d.qpos, x[:nv], 1.0)
        return mjx.inverse(m, d.replace(qpos=place, qvel=d.qvel + x[nv : 2 * nv], qacc=d.qacc + x[2 * nv :]))

    return m, d, force


@pytest.mark.slow
@pytest.mark.parametrize("refresh", [0, 1])
def test_gradient(refresh):
    m, _, force = small(refresh)
    at, eps = jnp.zeros(3 * m.nv), 1e-6
    found = jax.jit(lambda x: (force(x).qfrc_inverse, force(x).qfrc_constraint))
    assert np.abs(np.asarray(found(at)[1])[[2, 6]]).min() > 0.5
    forward, reverse = (jax.jit(of(lambda x: force(x).qfrc_inverse))(at) for of in (jax.jacfwd, jax.jacrev))
    rows = [(found(at + e)[0] - found(at - e)[0]) / (2 * eps) for e in eps * np.eye(at.size)]
    size = np.abs(forward).max()
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-12 * size)
    np.testing.assert_allclose(forward, np.array(rows).T, rtol=1e-6, atol=1e-8 * size)


@pytest.mark.slow
def test_its_jacobian_is_the_inverse_of_that_of_forward():
    m, d, _ = small()

    def acceleration(force):
        qacc = mjx.forward(m, d.replace(qfrc_applied=force)).qacc
        return qacc, qacc

    there, qacc = jax.jit(jax.jacfwd(acceleration, has_aux=True))(d.qfrc_applied)
    back = jax.jit(jax.jacfwd(lambda a: mjx.inverse(m, d.replace(qacc=a)).qfrc_inverse))(qacc)
    np.testing.assert_allclose(back @ there, np.eye(m.nv), atol=1e-6)


@pytest.mark.slow
def test_after_forward_as_from_the_start():
    """What `forward` left are the rows of the last solve; those of the start are found again."""
    m, d, _ = small(refresh=1)

    def all_ways(d):
        d = mjx.forward(m, d)
        skipped = mjx.inverse_skip(m, d, Stage.VEL)
        return d, skipped.qfrc_inverse, mjx.inverse(m, d).qfrc_inverse, mjx.compare_fwd_inv(m, d).solver_fwdinv

    d, skipped, whole, differences = jax.jit(all_ways)(d)
    np.testing.assert_allclose(skipped, whole, atol=1e-12)
    assert np.max(differences) < 1e-8 * np.abs(d.qfrc_constraint).max()


def test_no_force_is_enough_to_end_inside():
    m, d, _ = small()
    inside = jax.jit(mjx.inverse)(m, d.replace(qacc=d.qacc.at[2].set(-100.0)))
    assert np.isnan(inside.qfrc_inverse).any()


def test_variational_raises_by_name():
    m = mjx.with_hard_contact(mjx.Model.from_xml_string(XML.format("implicitfast")))
    m = m.replace(opt=m.opt.replace(integrator="variational"))
    with pytest.raises(UnsupportedError, match="inverse: hard contact has none with the integrator variational"):
        jax.eval_shape(mjx.inverse, m, mjx.make_data(m))
