"""Tendon paths, lengths, Jacobians, velocities, armature against MuJoCo; singular points; refusals."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.smooth.com import com_pos
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.tendon.stage import tendon
from tests.support.oracle import TIGHT, error, load, states
from tests.support.stages import POSITION, VELOCITY, data, errors, run, smooth
from tests.support.zoo_smooth import TENDONS

FIELDS = (
    "ten_length", "ten_J", "ten_velocity", "ten_wrapadr", "ten_wrapnum", "wrap_obj", "wrap_xpos", "M", "qfrc_bias",
    "actuator_length", "actuator_moment", "actuator_velocity", "qfrc_spring", "qfrc_damper", "energy",
)  # fmt: skip


STAGES = (*POSITION, *VELOCITY, energy_pos, energy_vel)


def test_tendons_equal_mujoco():
    mj, m = load(TENDONS)
    sample = states(mj, 4, steps=0)
    out = run(m, sample, lambda m, d: smooth(m, d, STAGES))
    worst = errors(mj, out, sample, FIELDS)
    assert max(worst.values()) < TIGHT, worst
    assert np.abs(out.ten_J).max() > 1 and np.abs(out.qfrc_bias).max() > 1


def test_length_gradient_is_the_jacobian_and_finite_where_length_is_zero():
    mj, m = load(TWO_SITES)
    d = data(m)

    def length(x):
        moved = d.replace(qpos=x)
        out = tendon(m, com_pos(m, kinematics(m, moved)))
        return out.ten_length, out.ten_J

    points = jnp.array([[0.3, -0.2], [0.0, 0.0]])
    value, own, jacobian = jax.jit(jax.vmap(lambda x: (*length(x), jax.jacrev(lambda y: length(y)[0])(x))))(points)
    assert np.isfinite(jacobian).all()
    assert error(jacobian[0], own[0]) < 1e-12
    assert float(value[0, 0]) > 0.1 and float(value[1, 0]) == 0


TWO_SITES = """<mujoco><worldbody><site name="a"/><body><joint type="slide" axis="1 0 0"/><joint axis="0 0 1"/>
<geom size=".1"/><site name="b"/></body></worldbody>
<tendon><spatial><site site="a"/><site site="b"/></spatial></tendon></mujoco>"""
