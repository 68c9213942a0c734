"""Springs, dampers, gravity compensation and fluid against MuJoCo; flags; the hook; gradients at rest."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.position import integrate_pos
from mjx_like.interop.convert import put_model
from mjx_like.passive.stage import passive
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.types.hooks import Hooks
from tests.support.oracle import TIGHT, error, load, states
from tests.support.stages import data, errors, run, smooth
from tests.support.zoo_smooth import PASSIVE

STAGES = (kinematics, com_pos, com_vel, passive)
FIELDS = ("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_passive")


@pytest.mark.parametrize("flags", ["", 'spring="disable"', 'damper="disable" gravity="disable"'])
def test_passive_forces_equal_mujoco(flags):
    mj, m = load(PASSIVE.replace('contact="disable"', f'contact="disable" {flags}'))
    sample = states(mj, 3, steps=0)
    out = run(m, sample, lambda m, d: smooth(m, d, STAGES))
    worst = errors(mj, out, sample, FIELDS)
    assert max(worst.values()) < TIGHT, worst
    assert np.abs(out.qfrc_fluid).max() > 1e-2
    assert bool(np.any(out.qfrc_spring)) != ("spring" in flags)
    assert bool(np.any(out.qfrc_damper)) != ("damper" in flags)
    assert bool(np.any(out.qfrc_gravcomp)) != ("gravity" in flags)


def test_no_passive_force_where_springs_and_dampers_are_disabled():
    mj, m = load(PASSIVE.replace('contact="disable"', 'contact="disable" spring="disable" damper="disable"'))
    sample = states(mj, 2, steps=0)
    out = run(m, sample, lambda m, d: smooth(m, d, STAGES))
    assert not np.asarray(out.qfrc_passive).any() and not np.asarray(out.qfrc_gravcomp).any()
    assert max(errors(mj, out, sample, FIELDS).values()) < TIGHT


def test_gradient_at_rest_in_still_fluid():
    """At rest and at the springs' zero, quadratic terms have derivative zero and nothing is NaN."""
    mj, m = load(PASSIVE.replace('wind="1 2 3"', ""))
    d, weight = data(m), np.random.default_rng(0).normal(size=m.nv)

    def force(x):
        return jnp.sum(
            weight
            * smooth(m, d.replace(qpos=integrate_pos(m, m.qpos_spring, x[0], 1.0), qvel=x[1]), STAGES).qfrc_passive
        )

    x, step = jnp.zeros((2, m.nv)), 1e-5
    shifts = step * np.eye(2 * m.nv).reshape(-1, 2, m.nv)
    both = jax.jit(jax.vmap(force))(np.concatenate([x + shifts, x - shifts]))
    differences = (both[: 2 * m.nv] - both[2 * m.nv :]) / (2 * step)
    gradient = jax.jit(jax.grad(force))(x)
    assert np.isfinite(gradient).all()
    assert error(gradient.ravel(), differences) < 1e-6


def test_hook_adds_to_the_passive_force():
    mj = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint damping='2'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    m = put_model(mj, hooks=Hooks(passive=lambda m, d: 5 * d.qvel))
    out = jax.jit(smooth)(m, data(m).replace(qvel=jnp.array([0.5])))
    assert error(out.qfrc_passive, [-1 + 2.5]) < 1e-15
