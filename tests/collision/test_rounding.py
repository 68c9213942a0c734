"""Where rounding decides MuJoCo's own contacts: minimal models of what keeps model files from being exact."""

import jax
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from tests.collision import scene
from tests.models import ROUNDING

MOVE, MOVES = 1e-14, 100  # [m], of the pose


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max(initial=0)) if a.shape == b.shape else np.inf


@pytest.mark.slow
@pytest.mark.parametrize("path", ROUNDING, ids=lambda p: p.stem)
def test_contacts_are_among_those_of_the_oracle(path):
    """MuJoCo's contacts change when the pose moves by 1e-14; ours are those that it has at one of these poses."""
    mj, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(0)
    pose = mj.key_qpos[0]
    poses = [pose, *(pose + MOVE * rng.uniform(-1, 1, mj.nq) for _ in range(MOVES))]
    theirs = [scene.rows(d.contact, d.ncon) for d in scene.oracle(mj, poses)]
    data = scene.ours(put_model(mj), scene.oracle(mj, [pose]))
    mine = scene.rows(jax.tree.map(lambda x: np.asarray(x[0]), data.contact), int(data.ncon[0]))
    jump = max(_apart(rows, theirs[0]) for rows in theirs)
    nearest = min(_apart(rows, mine) for rows in theirs)
    print(f"{path.stem}: MuJoCo's contacts move by {jump:.1e}, ours differ by {_apart(mine, theirs[0]):.1e}")
    assert jump > 1e-6
    assert nearest < 1e-6
