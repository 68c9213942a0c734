"""Every model of the repository steps with hard contact, or says by name what is not supported."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import step
from tests.models import MAIN, SMALL


def name(path):
    return path.stem


@pytest.mark.slow
@pytest.mark.parametrize("path", SMALL, ids=name)
def test_a_step_is_traced_or_refused(path):
    m = mjx.Model.from_xml_path(str(path))
    try:
        hard = mjx.with_hard_contact(m)
        d = mjx.make_data(hard)
        after = jax.eval_shape(mjx.step, hard, d)
    except mjx.UnsupportedError as refusal:
        assert "hard contact" in str(refusal)
        return
    assert after.qpos.shape == (m.nq,)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in MAIN if p.stem in ("cartpole", "pendulum")], ids=name)
def test_without_contact_pairs_limits_hold(path):
    hard = mjx.with_hard_contact(mjx.Model.from_xml_path(str(path)), 1e-4)
    d = mjx.make_data(hard)
    d = d.replace(qvel=jnp.ones(hard.nv))
    for _ in range(300):
        d = step(hard, d)
    assert not np.asarray(d.unconverged).any() and np.isfinite(d.qpos).all()
    limited = np.asarray(hard.jnt_limited)
    low, high = np.asarray(hard.jnt_range)[limited].T
    q = np.asarray(d.qpos)[np.asarray(hard.jnt_qposadr)[limited]]
    assert (q > low).all() and (q < high).all()
