"""Random whole models compile to MuJoCo's arrays, and what MuJoCo refuses is refused."""

import mujoco
import pytest

from tests.compiler.compare import differences
from tests.compiler.random_world import World
from tests.compiler.test_grammar import compared, outcome

SEEDS = range(12)


def test_random_worlds():
    loaded = 0
    for seed in SEEDS:
        xml = World(seed).text()
        difference = compared(xml)
        assert difference is None, f"seed {seed}: {difference}\n{xml}"
        loaded += not isinstance(outcome(mujoco.MjModel.from_xml_string, xml, ValueError), str)
    assert loaded > len(SEEDS) / 3


@pytest.mark.slow
def test_many_random_worlds():
    for seed in range(1000, 2000):
        difference = compared(World(seed).text())
        assert difference is None, f"seed {seed}: {difference}"


def test_surface_velocity_of_a_mesh():
    """It is given in the frame of the file, and kept in that of the principal axes."""
    geoms = "".join(
        f'<geom type="{kind}" mesh="m" pos="1 0 2" euler="10 20 30" surfacevel="1 2 3 4 5 6"/>'
        for kind in ("mesh", "box", "capsule")
    )
    mesh = '<mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/>'
    for fit in ("true", "false"):
        tree = f"<worldbody><body>{geoms}</body></worldbody>"
        xml = f'<mujoco><compiler fitaabb="{fit}"/><asset>{mesh}</asset>{tree}</mujoco>'
        assert differences(xml, skip=("mesh_",)) == {}
