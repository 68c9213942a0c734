"""Where rounding decides MuJoCo's own contacts: what is exact all the same, and minimal models of what is not."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mjx_like.collision.closed.plane import plane_cylinder
from mjx_like.collision.shape import Shape
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


@pytest.mark.parametrize("quat", ["1 0 0 0", "0 1 0 0", "1 0 0 1", "0 1 1 0"])
def test_a_cylinder_that_stands_on_a_box_touches_at_the_same_corners(quat):
    """Of the four squares in the polygon of its cap the last digits of their areas choose one."""
    bodies = "".join(
        f"""
        <body pos="{x} {y} {0.1 + height - depth}" quat="{quat}">
          <freejoint/><geom type="cylinder" size="{radius} {height}" contype="2"/>
        </body>"""
        for x, radius in ((-0.5, 0.02), (-0.17, 0.03), (0.1, 0.041), (0.35, 0.05))
        for y, height, depth in ((0, 0.02, 1e-3), (0.3, 0.06, 1e-4))
    )
    mj = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom type='box' size='1 1 .1' conaffinity='2' contype='0'/>{bodies}</worldbody></mujoco>"
    )
    theirs = scene.oracle(mj, [mj.qpos0])
    mine = scene.ours(put_model(mj), theirs)
    assert theirs[0].ncon == 32
    got = scene.rows(jax.tree.map(lambda x: np.asarray(x[0]), mine.contact), int(mine.ncon[0]))
    np.testing.assert_allclose(got, scene.rows(theirs[0].contact, 32), atol=1e-12)


@pytest.mark.parametrize("floor", [(1, 0, 0, 0), (0.8, 0.3, -0.5, 0.2)])
def test_a_cylinder_near_upright_has_its_rim_in_32_bit(floor):
    """The fall along its cap is a small difference of large vectors; none of its points is below the cylinder."""
    rng, count, radius, half = np.random.default_rng(3), 300, 0.1, 0.08
    lean, around = 10.0 ** rng.uniform(-9, 0, count), rng.uniform(0, 2 * np.pi, count)
    tilt = Rotation.from_rotvec(lean[:, None] * np.stack([np.cos(around), np.sin(around), 0 * around], axis=1))
    floor = Rotation.from_quat(floor, scalar_first=True)
    turned = floor * tilt * Rotation.from_rotvec([0, 0, 1.0])
    place = floor.apply([0.3, -0.2, half])

    def shape(rotation, place, size):
        axes = np.broadcast_to(rotation.as_matrix(), (count, 3, 3)).astype(np.float32)
        numbers = [np.full(count, x, np.float32) for x in (*place, *size)]
        return Shape(tuple(numbers[:3]), tuple(tuple(axes[:, :, k].T) for k in range(3)), tuple(numbers[3:]))

    plane, cylinder = shape(floor, (0, 0, 0), (1, 1, 1)), shape(turned, place, (radius, half, 0))
    (points,) = plane_cylinder(plane, cylinder, jnp.zeros(count, jnp.float32))
    normal, axis, place = (np.array(x, np.float64) for x in (plane.axes[2], cylinder.axes[2], cylinder.pos))
    rise = np.sum(normal * axis, axis=0) / np.linalg.norm(axis, axis=0) / np.linalg.norm(normal, axis=0)
    lowest = np.sum(normal * place, axis=0) - half * np.abs(rise) - radius * np.sqrt(np.maximum(1 - rise**2, 0))
    np.testing.assert_allclose(points.dist.min(axis=0), lowest, atol=1e-6)
