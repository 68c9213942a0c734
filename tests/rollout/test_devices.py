"""Rollouts over many devices: a world has the same bits however many share the worlds, where its block is the same."""

import re

import jax
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.rollout.sharding import gather_worlds, spread_worlds
from tests.support.processes import succeeds

CODE = """
import sys, jax, numpy as np
assert len(jax.devices()) == 8
jax.config.update("jax_enable_x64", True)
import mjx_like as mjx
from tests.rollout.test_rollout import ARM, BALL
m = mjx.Model.from_xml_string({"ARM": ARM, "BALL": BALL}[sys.argv[1]])
rng = np.random.default_rng(0)
d = jax.tree.map(lambda x: np.broadcast_to(x, (32, *x.shape)), mjx.make_data(m))
d = d.replace(qvel=rng.normal(size=(32, m.nv)))

def run(count, block):
    devices = jax.devices()[:count]
    worlds = mjx.spread_worlds(d, devices)
    records, end = mjx.rollout(m, worlds, steps=20, devices=devices, block=block, return_data=True)
    assert len(records.qpos.sharding.device_set) == count
    return mjx.gather_worlds((records, end.qvel, end.ncon))

alone = mjx.rollout(m, d, steps=20, block=2, return_data=True)
alone = mjx.gather_worlds((alone[0], alone[1].qvel, alone[1].ncon))
many = run(8, 2)  # two blocks of two worlds a device
assert np.ptp(alone[0].qpos[:, -1, 0]) > 0.001
for a, b in zip(jax.tree.leaves(alone), jax.tree.leaves(many), strict=True):
    np.testing.assert_array_equal(a, b)
if sys.argv[1] == "ARM":
    sys.exit()
other = run(4, 8)  # one block of eight worlds: another program
for a, b in zip(jax.tree.leaves(alone), jax.tree.leaves(other), strict=True):
    np.testing.assert_allclose(a, b, atol=1e-10)
"""


@pytest.mark.parametrize("model", ["ARM", pytest.param("BALL", marks=pytest.mark.slow)])
def test_eight_devices_give_the_bits_of_one(model):
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    succeeds(CODE, model, XLA_FLAGS=flags, NPROC="24")


def test_spread_and_gather_keep_values():
    worlds = {"a": np.arange(12.0).reshape(4, 3), "none": np.zeros((4, 0))}
    spread = spread_worlds(worlds, jax.devices()[:1])
    assert all(isinstance(x, jax.Array) for x in spread.values())
    for name, value in gather_worlds(spread).items():
        np.testing.assert_array_equal(value, worlds[name])


def test_wrong_input():
    for devices in ([], ["cpu"], jax.devices()[:1] * 2):
        with pytest.raises(InputError, match="give devices, each once"):
            spread_worlds(np.zeros(4), devices)
    with pytest.raises(InputError, match=re.escape("an array of shape () has no worlds that 1 devices share equally")):
        spread_worlds(np.zeros(()), jax.devices()[:1])
