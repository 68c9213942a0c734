"""Second derivatives equal differences of first ones: of contacts, and of several steps in contact, in a scan."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision.driver import collision
from mjx_like.integrator.position import integrate_pos
from mjx_like.smooth.kinematics import kinematics
from tests.models import SMALL
from tests.support.oracle import error, load, states

PAIRS = [path for path in SMALL if path.stem.startswith("pair_")]
LENGTH, LIMIT = 4e-5, 1e-5
LEAP = 1e-3  # of a contact, within that length: as where another corner of a face is kept

XML = """<mujoco><option timestep="0.01" integrator="implicitfast" cone="elliptic"/><worldbody>
  <geom type="plane" size="9 9 .1" friction="0.4 0.01 0.001"/>
  <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="1" friction="0.4 .01 .001"/></body>
</worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
def test_a_ball_at_rest(solver):
    """The search starts at its end there: nothing is to be seen of contact in what its iterations do."""
    m = mjx.Model.from_xml_string(XML.replace("<option", f'<option solver="{solver}" tolerance="1e-14"'))
    start = mjx.make_data(m).replace(qpos=jnp.array([0, -1e-3]))
    d = jax.jit(lambda d: jax.lax.fori_loop(0, 400, lambda _, d: mjx.step(m, d), d))(start)
    assert int(d.ncon) == 1 and np.abs(d.qvel).max() < 1e-9

    def cost(v):
        end, _ = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d.replace(qvel=v), None, 8)
        return 1e3 * jnp.sum(end.qpos**2) + jnp.sum(end.qvel**2)

    slope = jax.jit(jax.grad(cost))
    product = jax.jit(lambda v, w: jax.jvp(jax.grad(cost), (v,), (w,))[1])
    v, w, eps = jnp.zeros(2), jnp.array([1.0, -0.5]), 1e-5
    expected = (slope(v + eps * w) - slope(v - eps * w)) / (2 * eps)
    assert np.abs(expected).min() > 1e-6
    assert error(product(v, w), expected) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("path", PAIRS, ids=lambda p: p.stem)
def test_contacts(path, searched_to_the_optimum):
    """Distance, place and frame of contacts, by the pose, along a line; not where a derivative jumps."""
    mj, m = load(str(path), ccd_tolerance=1e-14, ccd_iterations=60)
    empty, way = mjx.make_data(m), jnp.asarray(np.random.default_rng(0).normal(size=mj.nv))

    def contacts(qpos, s):
        c = collision(m, kinematics(m, empty.replace(qpos=integrate_pos(m, qpos, way, s)))).contact
        return jnp.where((c.dist < c.includemargin)[:, None], jnp.hstack([c.dist[:, None], c.pos, c.frame[:, 0]]), 0)

    def slope(qpos, s):
        return jax.jvp(lambda s: contacts(qpos, s), (s,), (1.0,))[1]

    both = jax.jit(lambda qpos, s: (contacts(qpos, s), *jax.jvp(lambda s: slope(qpos, s), (s,), (1.0,))))
    smooth = 0
    for state in states(mj, 8):
        qpos = jnp.asarray(state["qpos"])
        value, first, second = both(qpos, 0.0)
        there, slopes, _ = zip(*(both(qpos, s * LENGTH) for s in (1, 0.5, -0.5, -1)), strict=True)
        if max(np.abs(x - value).max(initial=0) for x in there) > LEAP:
            continue
        smooth += np.any(value)
        for found, (high, up, down, low) in ((first, there), (second, slopes)):
            change = (4 * (up - down) - 0.5 * (high - low)) / (3 * LENGTH)
            assert error(found, change) < LIMIT, path.stem
    assert smooth
