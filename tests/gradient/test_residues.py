"""Finite derivatives where simulations spend their time: at rest and aligned, with residues of rounding on coordinates.

Residues of 1e-6 to 1e-40 make guards fail that random states never meet: what is finite in float32 may have a factor
in its derivative that is not. Both precisions, both modes, under `jit`, with cotangents of zero and others.
"""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.gradient.resting import resting_and_touching
from tests.models import FEATURES

QUICK = {"pair_sphere_sphere"}
EXPONENTS = np.arange(6, 41)
MIXED = 256  # states with residues on all coordinates at once
WORLDS = 256  # at a time
ROUNDING = {np.float32: 1e-4, np.float64: 1e-9}
# What cancels on the way leaves fewer digits: forces of contacts that share a force in any way, whose matrix is
# singular but for a ridge; a rod that stands in a box, whose lean decides where it leaves.
CANCELS = {
    "noslip_elliptic": {np.float32: 1e-3, np.float64: 1e-6},
    "noslip_pgs": {np.float32: 1e-3, np.float64: 1e-6},
    "noslip_pyramidal": {np.float32: 1e-3, np.float64: 1e-6},
    "sensor_tactile": {np.float32: 0.5, np.float64: 1e-2},
}


def states(mj, dtype):
    """Return qpos and qvel: rest and touch, with residues on each coordinate in turn and on all of them."""
    rng = np.random.default_rng(0)
    bases = [mj.qpos0, *resting_and_touching(mj)]
    residues = np.concatenate([np.kron(np.eye(mj.nq), 10.0 ** -EXPONENTS[:, None])] * 2)
    residues[len(residues) // 2 :] *= -1
    mixed = rng.choice([-1.0, 0.0, 1.0], (MIXED, mj.nq)) * 10.0 ** -rng.uniform(6, 40, (MIXED, mj.nq))
    qpos = np.concatenate([base + residues for base in bases[:2]] + [base + mixed for base in bases])
    qvel = rng.choice([0.0, 0.0, 1.0], (len(qpos), mj.nv)) * 10.0 ** -rng.uniform(6, 40, (len(qpos), mj.nv))
    qvel[::3] = 0
    return qpos.astype(dtype), qvel.astype(dtype)


def results(m, d, collides, qpos, qvel):
    """Return what a step, or the collision of geoms, makes of a state, as one vector."""
    d = d.replace(qpos=qpos, qvel=qvel)
    if collides:
        contact = collision(m, com_pos(m, kinematics(m, d))).contact
        parts = contact.dist, contact.pos, contact.frame
    else:
        end = step(m, d)
        parts = end.qpos, end.qvel, end.act, 1e-3 * end.sensordata
    return jnp.concatenate([x.ravel() for x in parts])


@pytest.mark.parametrize(
    "dtype", (np.float32, pytest.param(np.float64, marks=pytest.mark.slow)), ids=["float32", "float64"]
)
@pytest.mark.parametrize(
    "file", [pytest.param(f, id=f.stem, marks=() if f.stem in QUICK else pytest.mark.slow) for f in FEATURES]
)
def test_both_modes_are_finite_and_equal(file, dtype):
    with jax.enable_x64(dtype == np.float64):
        hold(file, dtype)


def hold(file, dtype):
    """Hold the derivatives of one model at all states: finite, and the same in both modes.

    They are compared at one linearisation: where a state lies on a kink, rounding may choose one side of it in the
    program of one mode and the other in that of the other, and both are right.
    """
    mj = mujoco.MjModel.from_xml_path(str(file))
    m = put_model(mj, dtype=dtype)
    d = make_data(m)
    qpos, qvel = states(mj, dtype)
    rng = np.random.default_rng(1)

    def derivatives(qpos, qvel, way):
        def function(*x):
            return results(m, d, file.stem.startswith("pair_"), *x)

        value, pull = jax.vjp(function, qpos, qvel)
        weight = jnp.asarray(np.cos(np.arange(value.size)), dtype)
        slopes = jax.vmap(pull)(jnp.stack([jnp.zeros_like(weight), weight]))
        rate = jax.jvp(function, (qpos, qvel), way)[1]
        linear = jax.linearize(function, qpos, qvel)[1]
        along, slope = linear(*way), jax.linear_transpose(linear, qpos, qvel)(weight)
        there = [jnp.sum(s * w) for s, w in zip(slope, way, strict=True)]
        size = [jnp.sum(jnp.abs(s * w)) for s, w in zip(slope, way, strict=True)]
        return value, slopes, rate, sum(there) - jnp.sum(along * weight), sum(size) + jnp.sum(jnp.abs(along * weight))

    # as users compile it: at the level of the other tests XLA may take one decision twice, and rounds otherwise
    many = jax.jit(jax.vmap(derivatives), compiler_options={"xla_backend_optimization_level": 3})
    for k in range(0, len(qpos), WORLDS):
        own = np.resize(np.arange(k, min(k + WORLDS, len(qpos))), WORLDS)
        way = tuple(jnp.asarray(rng.normal(size=(WORLDS, n)), dtype) for n in (m.nq, m.nv))
        value, slopes, rate, gap, size = many(qpos[own], qvel[own], way)
        for x in (value, *slopes, rate):
            bad = ~np.isfinite(x).reshape(WORLDS, -1).all(axis=1)
            assert not bad.any(), (bad.sum(), qpos[own][bad][0].tolist(), qvel[own][bad][0].tolist())
        least = CANCELS.get(file.stem, ROUNDING)[dtype]
        assert (np.abs(gap) <= least * size + least * 1e-3).all(), np.max(np.abs(gap) / (size + 1e-30))
