"""Contacts of two geoms on a grid, turned by right angles: several features meet at once, and rounding decides."""

import itertools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data
from tests.collision import scene

SHAPES = {
    "sphere": 'type="sphere" size=".05"',
    "capsule": 'type="capsule" size=".03 .05"',
    "ellipsoid": 'type="ellipsoid" size=".05 .04 .06"',
    "cylinder": 'type="cylinder" size=".04 .06"',
    "box": 'type="box" size=".05 .06 .04"',
    "cube": 'type="mesh" mesh="cube"',
    "octahedron": 'type="mesh" mesh="octahedron"',
}
PAIRS = [f"{a}-{b}" for a, b in itertools.combinations_with_replacement(SHAPES, 2) if {a, b} - {"sphere", "capsule"}]
MESHES = """
<mesh name="cube" scale=".05 .06 .08"
  vertex="-1 -1 -1  1 -1 -1  -1 1 -1  1 1 -1  -1 -1 1  1 -1 1  -1 1 1  1 1 1"/>
<mesh name="octahedron" scale=".06 .06 .06" vertex="1 0 0  -1 0 0  0 1 0  0 -1 0  0 0 1  0 0 -1"/>"""
HALF = 0.5**0.5
TURNS = [(1, 0, 0, 0), (HALF, HALF, 0, 0), (HALF, 0, HALF, 0), (HALF, 0, 0, HALF), (0, 1, 0, 0), (0.5,) * 4]
STEPS = [0, 0, 0.01, -0.02, 0.03, -0.05, 0.06, 0.08]  # [m]
POSES = 200


def _sorted(rows: np.ndarray) -> np.ndarray:
    """Return rows of contacts, shape (n, 7), in the order of their entries."""
    rows = rows.reshape(-1, 7)
    return rows[np.lexsort(np.round(rows, 6).T)]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_contacts_on_a_grid_are_the_oracles(pair):
    """But for at most one in twenty poses."""
    first, second = (SHAPES[name] for name in pair.split("-"))
    mj = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{MESHES}</asset><worldbody><geom {first}/>"
        f"<body><freejoint/><geom {second} mass='1'/></body></worldbody></mujoco>"
    )
    m, rng = put_model(mj), np.random.default_rng(1)
    qpos = np.array([[*rng.choice(STEPS, 3), *TURNS[rng.integers(len(TURNS))]] for _ in range(POSES)])
    theirs = scene.oracle(mj, qpos)
    found = jax.jit(jax.vmap(lambda q: collision(m, kinematics(m, make_data(m).replace(qpos=q)))))(jnp.asarray(qpos))
    assert np.array_equal(found.geom_xpos, [d.geom_xpos for d in theirs])
    assert np.array_equal(found.geom_xmat.reshape(POSES, -1, 9), [d.geom_xmat for d in theirs])
    touching = other = 0
    for k, oracle in enumerate(theirs):
        ours = scene.rows(jax.tree.map(lambda x, k=k: np.asarray(x[k]), found.contact), int(found.ncon[k]))
        rows = scene.rows(oracle.contact, oracle.ncon)
        touching += oracle.ncon > 0
        same = ours.shape == rows.shape and np.allclose(_sorted(ours), _sorted(rows), atol=1e-6)
        other += not same
    print(f"{pair}: {touching} poses with contact, {other} with other contacts than MuJoCo's")
    assert touching > 100 and other <= touching // 20
