"""Signed distances of convex pairs of mixed types in one compilation, against the oracle."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.convex.ccd import nearest
from mjx_like.geometry.convex import convex
from mjx_like.types.enums import GeomType
from tests.collision import scene

ROUND = ("sphere", "capsule", "ellipsoid", "cylinder")
KINDS = tuple(int(GeomType[k.upper()]) for k in (*ROUND, "box"))
PAIRS = ["sphere-ellipsoid", "capsule-ellipsoid", "capsule-cylinder", "ellipsoid-ellipsoid", "ellipsoid-cylinder",
         "ellipsoid-box", "cylinder-cylinder", "cylinder-box"]  # fmt: skip


@functools.cache
def _compiled():
    def one(kind, pos, mat, size, cutoff):
        a, b = (convex(kind[i], pos[i], mat[i], size[i]) for i in (0, 1))
        found = nearest(a, b, (KINDS, KINDS), tolerance=1e-6, iterations=35, cutoff=cutoff)
        return found.dist, found.first, found.second

    return jax.jit(jax.vmap(one))


def _case(pair: str, count: int, cutoff: float, qpos: np.ndarray | None = None):
    """Return the arguments of `count` poses, random by default, in one shape for all tests, and the oracle's data."""
    mj, _ = scene.model(*pair.split("-"))
    mj.opt.ccd_tolerance, mj.opt.ccd_iterations = 1e-6, 35
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD
    qpos = scene.poses(mj, count, 5, 0.3) if qpos is None else qpos
    reference = scene.oracle(mj, qpos)
    kind = np.tile(mj.geom_type.astype(np.int32), (count, 1))
    pos = np.array([d.geom_xpos for d in reference])
    mat = np.array([d.geom_xmat.reshape(2, 3, 3) for d in reference])
    size = np.tile(mj.geom_size, (count, 1, 1))
    return mj, qpos, reference, [jnp.asarray(x) for x in (kind, pos, mat, size, np.full(count, cutoff))]


@pytest.mark.parametrize("pair", PAIRS)
def test_contact_equals_oracle_at_its_own_tolerance(pair):
    """Where rounding turns MuJoCo's search to another face near the deepest, only the depth is the same."""
    mj, qpos, reference, arguments = _case(pair, 60, 0.0)
    dist, first, second = (np.asarray(x) for x in _compiled()(*arguments))
    touching = tied = 0
    for k, (theirs, turns) in enumerate(zip(reference, scene.ties(mj, qpos, reference, 1e-14, 30), strict=True)):
        assert (dist[k] < 0) == (theirs.ncon == 1)
        if theirs.ncon:
            contact, normal = theirs.contact[0], (first[k] - second[k]) / np.linalg.norm(first[k] - second[k])
            error = max(
                np.abs(0.5 * (first[k] + second[k]) - contact.pos).max(), np.abs(normal - contact.frame[:3]).max()
            )
            assert abs(dist[k] - contact.dist) < (1e-6 if turns else 1e-9), k
            assert error < (1e-2 if turns else 1e-6), k
            touching, tied = touching + 1, tied + bool(turns)
    assert touching > 10 and tied <= 0.4 * touching, (tied, touching)


@pytest.mark.parametrize("pair", ["capsule-ellipsoid", "cylinder-box", "ellipsoid-ellipsoid"])
def test_distance_equals_geom_distance(pair):
    mj, _, reference, arguments = _case(pair, 60, 1.0)
    dist, first, second = (np.asarray(x) for x in _compiled()(*arguments))
    apart = 0
    for k, theirs in enumerate(reference):
        line = np.zeros(6)
        value = mujoco.mj_geomDistance(mj, theirs, 0, 1, 1.0, line)
        apart += value > 0
        assert abs(dist[k] - value) < 1e-6
        if value > 1e-3:
            assert np.abs(np.concatenate([first[k], second[k]]) - line).max() < 1e-4
    assert apart > 5


RIGHT_ANGLES = [(1, 0, 0, 0), (0.5**0.5, 0.5**0.5, 0, 0), (0.5**0.5, 0, 0, 0.5**0.5), (0.5, 0.5, 0.5, 0.5)]


def _on_grid(count: int) -> np.ndarray:
    """Return qpos of two bodies on a grid, the second turned by right angles: centres coincide, features line up."""
    rng, out = np.random.default_rng(2), []
    for _ in range(count):
        offset = rng.choice([0, 0, 0.02, -0.05, 0.08, -0.1, 0.12], 3)
        out.append([0, 0, 0, 1, 0, 0, 0, *offset, *RIGHT_ANGLES[rng.integers(4)]])
    return np.array(out)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("grid", [False, True], ids=["random", "grid"])
def test_search_is_the_oracles_to_the_last_bit(pair, grid):
    """Order and rounding of all operations are MuJoCo's but for the order in which a polytope loses faces."""
    mj, _, reference, arguments = _case(pair, 60, 0.0, _on_grid(60) if grid else None)
    dist, first, second = (np.asarray(x) for x in _compiled()(*arguments))
    touching, same = 0, 0
    for k, theirs in enumerate(reference):
        assert (dist[k] < 0) == (theirs.ncon == 1), k
        if theirs.ncon:
            touching += 1
            middle = 0.5 * (first[k] + second[k])
            same += dist[k] == theirs.contact[0].dist and np.array_equal(middle, theirs.contact[0].pos)
            assert abs(dist[k] - theirs.contact[0].dist) < 1e-9, k
    assert touching > 10 and same >= 0.94 * touching, (same, touching)
