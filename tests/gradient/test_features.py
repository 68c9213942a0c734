"""The derivative of a step of every small model, which together have every row of the dispatch tables."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.models import SMALL
from tests.support.oracle import load, states
from tests.support.tolerances import SOLVE_NOISE, STEP_SLOPE

# Those that compile soonest, and one of each kind of row; others take up to a minute each, and have tests of their
# stages. The slow set has all.
QUICK = """
acrobot actuator_dynamics actuator_limits condim3_elliptic equality_connect equality_joint friction_dof
kinematics_fixed kinematics_joints limit_hinge limit_tendon pair_plane_sphere
""".split()
TIED = ("pair_cylinder_box_flat",)  # whose contacts leap: rounding chooses among equal corners (docs/rounding.md)
ALOFT = ("planar_box",)  # which flies in its few random states; tests/control slides it over the floor
LENGTH = 1e-6
KINK = 1e-3  # of the two one-sided differences of a result, beyond which it is not smooth there
LEAP = 1e-3  # of a contact, in place or frame, within those lengths: as where another corner of a face is kept


def _moves(m, size: int):
    """Return directions in the tangent space of the state, in controls and in applied forces, by name."""
    rng = np.random.default_rng(size)
    return {
        "qpos": jnp.asarray(rng.normal(size=m.nv)),
        "qvel": jnp.asarray(rng.normal(size=m.nv)),
        "act": jnp.asarray(0.1 * rng.normal(size=m.na)),
        "ctrl": jnp.asarray(rng.normal(size=m.nu)),
        "qfrc_applied": jnp.asarray(rng.normal(size=m.nv)),
    }


def _program(m, empty, move):
    """Return the function of a state and a length.

    It gives the results of a step, their slope, that of a sum in reverse and forward mode, and where the contacts are.
    """

    def results(state, s):
        d = empty.replace(**state)
        changed = {name: getattr(d, name) + s * way for name, way in move.items() if name != "qpos"}
        d = d.replace(qpos=mjx.integrate_pos(m, d.qpos, move["qpos"], s), **changed)
        after = mjx.step(m, d)  # sensors, accelerations and contacts are those of its start
        used = np.arange(m.nconmax)[:, None] < after.ncon
        places = jnp.where(used, jnp.hstack([after.contact.pos, after.contact.frame.reshape(-1, 9)]), 0)
        return jnp.concatenate([after.sensordata, after.qacc, after.qvel, after.act, after.qpos]), places

    def run(state, s):
        value, forward, places = jax.linearize(lambda s: results(state, s), s, has_aux=True)
        slope, weight = forward(1.0), jnp.cos(jnp.arange(value.size))
        (back,) = jax.linear_transpose(forward, s)(weight)
        return value, slope, back, weight @ slope, places

    return jax.jit(run)


def _blocks(m) -> np.ndarray:
    """Return the block of each result: a sensor each, then accelerations, velocities, activations, positions.

    Each block has a limit of its own, so that a stiff contact does not hide a wrong slope of a sensor or of `qpos`.
    """
    sizes = [*m.sensor_dim, m.nv, m.nv, m.na, m.nq]
    return np.repeat(np.arange(len(sizes)), sizes)


def _largest(x: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Return the largest absolute value in the block of each result."""
    most = np.zeros(block.max(initial=0) + 1)
    np.maximum.at(most, block, np.abs(x))
    return most[block]


def _off_edges(m, state, seed: int):
    """Return the state a little further, so that nothing stands where a derivative jumps by construction."""
    rng = np.random.default_rng(seed)
    qpos = mjx.integrate_pos(m, state["qpos"], 1e-3 * rng.normal(size=m.nv), 1.0)
    return state | {"qpos": qpos, "act": state["act"] + rng.uniform(0.05, 0.1, size=m.na)}


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[] if p.stem in QUICK else [pytest.mark.slow]) for p in SMALL],
)
def test_step(path, searched_to_the_optimum):
    """Reverse mode is forward mode, and both are central differences of what is smooth.

    The differences are those of two lengths, so that their error is of fourth order. Where a derivative of second order
    jumps, that does not hold: there the derivative must lie between the differences of both sides.
    The first state is as the model begins, where limits, joints and activations may stand exactly where a derivative
    jumps; the next is beside it. Of the results in the others few may jump, and in some contact of all some must be
    smooth.
    """
    mj, m = load(str(path), ccd_tolerance=1e-14, ccd_iterations=60)
    run = _program(m, mjx.make_data(m), _moves(m, mj.nv))
    block, smooth, touching, contacts = _blocks(m), [], 0, 0
    begin, *others = ({name: jnp.asarray(value) for name, value in state.items()} for state in states(mj))
    for k, state in enumerate((begin, begin, *others)):
        state = _off_edges(m, state, k) if k else state
        value, slope, back, forward, here = run(state, 0.0)
        assert np.isfinite(slope).all() and abs(back - forward) < 1e-9 * (1 + abs(forward) + np.abs(slope).sum())
        (high, up, down, low), there = zip(*(run(state, s * LENGTH)[::4] for s in (1, 0.5, -0.5, -1)), strict=True)
        change = (4 * (up - down) - 0.5 * (high - low)) / (3 * LENGTH)
        jump = 4 * (up + down - 2 * value) - (high + low - 2 * value)  # of the slope, without what curvature adds
        even = np.abs(jump) <= KINK * LENGTH * (1 + np.abs(slope))
        even &= max(np.abs(x - here).max(initial=0) for x in there) < LEAP
        contacts += np.any(here)
        touching += np.any(here) * even.sum()
        smooth.append(even)
        limit = STEP_SLOPE * (1 + _largest(slope, block)) + SOLVE_NOISE * (1 + _largest(value, block)) / LENGTH
        sides = np.sort([(high - value) / LENGTH, (value - low) / LENGTH], axis=0)
        between = (slope > sides[0] - limit) & (slope < sides[1] + limit)
        miss = np.where(even & ~between, np.abs(slope - change), 0)
        worst = np.argmax(miss / limit)
        assert miss[worst] < limit[worst], (path.stem, worst, block[worst], miss[worst], limit[worst])
    assert np.mean(smooth[2:]) > 0.8, smooth
    assert touching or not contacts or path.stem in TIED + ALOFT
