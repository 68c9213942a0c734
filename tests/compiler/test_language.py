"""Mechanisms of the language in combination: what they compile to equals mjModel, field by field."""

import numpy as np
import pytest

from tests.compiler.compare import differences
from tests.compiler.meshes import model, text


def world(tree: str, rest: str = "", head: str = "") -> str:
    """Return a model."""
    return f"<mujoco>{head}<worldbody>{tree}</worldbody>{rest}</mujoco>"


INERTIAL = '<inertial pos="0 0 1" euler="0 10 0" mass="1" diaginertia="1 2 2"/>'
TURNED = '<frame pos="1 2 3" euler="0 90 10">'
INERTIALS = {
    "in a frame": f"<body><joint/>{TURNED}{INERTIAL}</frame></body>",
    "in nested frames": f'<body><joint/>{TURNED}<frame euler="20 0 0">{INERTIAL}</frame></frame></body>',
    "full": f'<body><joint/>{TURNED}<inertial pos="0 0 1" mass="1" fullinertia="1 1.5 1.7 .1 .2 .1"/></frame></body>',
    "before its own": f"<body><joint/>{TURNED}{INERTIAL}</frame>{INERTIAL.replace('0 0 1', '0 3 0')}</body>",
    "after its own": f"<body><joint/>{INERTIAL.replace('0 0 1', '0 3 0')}{TURNED}{INERTIAL}</frame></body>",
    "aligned": f'<body><freejoint align="true"/>{TURNED}{INERTIAL}</frame></body>',
    "of a body in a frame": f"{TURNED}<body><joint/>{INERTIAL}</body></frame>",
}


@pytest.mark.parametrize("name", INERTIALS)
def test_inertial(name):
    assert differences(world(INERTIALS[name])) == {}


CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
CUBE = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
PRISM = [[np.cos(a), np.sin(a), z] for z in (0, 0.3) for a in np.arange(3) * 2 * np.pi / 3]


def _turn(points, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ np.array([[c, -s, 0], [s * c, c * c, -s], [s * s, c * s, c]]).T


@pytest.mark.parametrize("kind", ["legacy", "convex", "shell"])
@pytest.mark.parametrize("angle", [0, 0.3])
@pytest.mark.parametrize("points", [CORNERS, CORNERS[:4], CUBE, PRISM], ids=["corners", "tetrahedron", "cube", "prism"])
def test_equal_moments_of_symmetric_meshes(points, angle, kind):
    """Axes that rounding alone decides are those that MuJoCo's order of summation gives."""
    source = model(f'vertex="{text(_turn(points, angle))}" inertia="{kind}"')
    assert differences(source, skip=("mesh_graph", "mesh_normal")) == {}


def test_offset_from_a_centre_of_mass_at_the_camera():
    """What is zero but for rounding is rounded as MuJoCo rounds it."""
    tree = """<camera pos="1 2 3" mode="targetbody" target="b"/><light pos="1 2 3" mode="targetbodycom" target="b"/>
      <body name="b" pos="1 2 3"><joint/><geom type="box" size=".1 .2 .3"/></body>"""
    assert differences(world(tree)) == {}


TACTILE = """<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1"/></asset>"""


def test_tactile():
    tree = '<body><freejoint/><geom name="g" type="mesh" mesh="m"/><geom name="h" size=".1"/></body>'
    sensors = """<sensor><tactile name="t" geom="h" mesh="m" cutoff="1" nsample="2"/><clock/>
      <tactile geom="g" mesh="m"/></sensor>"""
    assert differences(world(tree, sensors, TACTILE), skip=("mesh_graph", "mesh_normal")) == {}
