"""Collision functions of the user for pairs of geoms."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.interop.convert import put_model

XML = """
<mujoco>
  <default><geom margin=".01" gap=".002"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" euler="5 0 0"/>
    <geom name="wall" type="plane" size="1 1 1" pos=".3 0 0" euler="0 -90 0"/>
    <body name="ball" pos=".21 0 .08"><freejoint/><geom name="ball" size=".1" condim="4"/></body>
    <body name="other" pos="0 0 .09"><freejoint/><geom name="other" size=".1"/></body>
  </worldbody>
</mujoco>"""


def ball_floor(pos1, mat1, pos2, mat2):
    """Sphere of radius 0.1 first, plane second."""
    up = mat2[:, 2]
    height = (pos1 - pos2) @ up
    return (height - 0.1)[None], (pos1 - up * (0.1 + 0.5 * (height - 0.1)))[None], -up[None]


def _contacts(m, qpos):
    d = mjx.make_data(m)
    return jax.jit(lambda q: mjx.forward(m, d.replace(qpos=q)))(qpos)


@pytest.mark.parametrize("names", [("ball", "floor"), (2, 0)])
def test_the_function_takes_the_place_of_the_kernel(names):
    """In the order of geoms that the user names; parameters, order and frames are as without it."""
    mj = mujoco.MjModel.from_xml_string(XML)
    own = put_model(mj, hooks=mjx.Hooks(collision=((*names, 1, ball_floor),)))
    qpos = jnp.asarray(mj.qpos0).at[2].add(-0.003)
    one, other = _contacts(put_model(mj), qpos), _contacts(own, qpos)
    assert int(one.ncon) == 4 and own.nconmax == put_model(mj).nconmax
    for a, b in zip(
        jax.tree.leaves((one.contact, one.qacc)), jax.tree.leaves((other.contact, other.qacc)), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.slow
def test_several_points_and_their_derivative():
    """An ellipsoid stands on two feet."""
    feet = jnp.array([[0.1, 0, 0], [-0.1, 0.05, 0]])

    def pad(pos1, mat1, pos2, mat2):
        place = pos2 + feet @ mat2.T
        dist = (place - pos1) @ mat1[:, 2]
        return dist, place - 0.5 * dist[:, None] * mat1[:, 2], jnp.tile(mat1[:, 2], (2, 1))

    xml = """<mujoco><option tolerance="0"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 .02"><freejoint/><inertial pos="0 0 .1" mass="1" diaginertia=".01 .01 .01"/>
        <geom name="pad" type="ellipsoid" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    m = mjx.Model.from_xml_string(xml, hooks=mjx.Hooks(collision=(("floor", "pad", 2, pad),)))
    d = mjx.make_data(m)
    qpos = d.qpos.at[2].set(-0.0007)
    contacts = _contacts(m, qpos).contact
    np.testing.assert_allclose(contacts.dist[:2], -0.0007, atol=1e-12)
    np.testing.assert_allclose(contacts.pos[:2], np.array([[0.1, 0, -0.00035], [-0.1, 0.05, -0.00035]]), atol=1e-12)
    force = jax.jit(lambda z: mjx.forward(m, d.replace(qpos=qpos.at[2].set(z))).qfrc_constraint[2])
    slope = jax.jit(jax.grad(force))(-0.0007)
    difference = (force(-0.0007 + 1e-7) - force(-0.0007 - 1e-7)) / 2e-7
    assert abs(slope - difference) < 1e-5 * abs(difference) and abs(difference) > 1


@pytest.mark.parametrize(
    "collision, match",
    [
        ((("ball", "flor", 1, ball_floor),), "there is no geom 'flor'"),
        ((("ball", 9, 1, ball_floor),), "there is no geom 9"),
        ((("ball", "floor", 1, ball_floor), (0, 2, 1, ball_floor)), "name every pair of two geoms once"),
        ((("ball", "ball", 1, ball_floor),), "name every pair of two geoms once"),
        ((("ball", "floor", 0, ball_floor),), "at least one point"),
    ],
)
def test_errors(collision, match):
    with pytest.raises(mjx.InputError, match=match):
        mjx.Model.from_xml_string(XML, hooks=mjx.Hooks(collision=collision))


def test_results_of_another_shape_are_named():
    m = mjx.Model.from_xml_string(XML, hooks=mjx.Hooks(collision=(("ball", "floor", 2, ball_floor),)))
    with pytest.raises(mjx.InputError, match=r"dist must have shape \(2,\), not \(1,\)"):
        mjx.collision(m, mjx.make_data(m))
