"""Algorithms on the toy, compiled once for all tests of a file's process."""

import pytest

pytest.importorskip("flax")
pytest.importorskip("orbax.checkpoint")

from mjx_like.learning.ppo import PPOConfig, ppo  # noqa: E402
from mjx_like.learning.shac import SHACConfig, shac  # noqa: E402
from tests.learning.toy import point  # noqa: E402


@pytest.fixture(scope="session")
def toy_ppo():
    return ppo(
        point(), PPOConfig(worlds=32, unroll=16, minibatches=4, samples=24 * 512, learning_rate=3e-3, evaluations=3)
    )


@pytest.fixture(scope="session")
def toy_shac():
    return shac(point(), SHACConfig(worlds=16, window=16, samples=32 * 256, evaluations=2))
