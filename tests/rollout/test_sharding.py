"""Blocks and devices: the same results however worlds are divided."""

import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.errors import UnsupportedError
from mjx_like.rollout import sharding
from mjx_like.rollout.sharding import in_blocks, neighbours, over_devices
from tests.support.processes import succeeds


def worlds(batch):
    rng = np.random.default_rng(0)
    return {"a": jnp.asarray(rng.normal(size=(batch, 3))), "b": jnp.arange(batch), "none": jnp.zeros((batch, 0))}


def function(worlds, shared):
    return {"sum": worlds["a"].sum(-1) * shared, "row": worlds["a"] + worlds["b"][:, None], "none": worlds["none"]}


@pytest.mark.parametrize("batch", [1, 7, 12])
@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_blocks_give_the_same(batch, size):
    whole, blocked = function(worlds(batch), 2.0), in_blocks(function, size)(worlds(batch), 2.0)
    for name in whole:
        np.testing.assert_array_equal(blocked[name], whole[name])


def test_blocks_are_equal_and_no_larger_than_asked():
    seen = []
    in_blocks(lambda w, s: seen.append(w["a"].shape) or w, 128)(worlds(1000), None)
    assert seen == [(125, 3)]


def test_one_device():
    import jax

    whole, spread = function(worlds(5), 2.0), over_devices(function, jax.devices()[:1])(worlds(5), 2.0)
    np.testing.assert_array_equal(spread["row"], whole["row"])


def test_a_release_that_crashes_over_several_devices_is_refused(monkeypatch):
    class Device:
        platform = "cpu"

    monkeypatch.setattr(sharding.jaxlib, "__version__", "0.11.2")
    assert not sharding.can_share_cpu()
    with pytest.raises(UnsupportedError, match="2 devices of a CPU: jaxlib 0.11.2 crashes; take another release"):
        over_devices(function, [Device(), Device()])


def test_two_devices_share_an_odd_number_of_worlds():
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 2); jax.config.update('jax_enable_x64', True)\n"
        "import numpy as np\n"
        "from tests.rollout.test_sharding import function, worlds\n"
        "from mjx_like.rollout.sharding import in_blocks, over_devices\n"
        "spread = jax.jit(over_devices(in_blocks(function, 2), jax.devices()))(worlds(7), 2.0)\n"
        "assert len(spread['row'].sharding.device_set) == 2\n"
        "for name, value in function(worlds(7), 2.0).items():\n"
        "    np.testing.assert_array_equal(spread[name], value)\n"
    )
    succeeds(code)


@pytest.mark.parametrize("batch, size", [(5, 2), (6, 2), (7, 4), (4, 4), (3, 100), (1, 1)])
def test_neighbours_are_the_block(batch, size):
    shown = in_blocks(lambda w, s: jnp.tile(w["b"], (len(w["b"]), 1)), size)(worlds(batch), None)
    for world in range(batch):
        index, place, width = neighbours(world, batch, size)
        copies = 1 if size >= batch else 2
        np.testing.assert_array_equal(index, np.tile(shown[world], copies))
        assert index[place] == world and width == len(shown[world])


def test_neighbours_on_devices():
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 3)\n"
        "import jax.numpy as jnp, numpy as np\n"
        "from mjx_like.rollout.sharding import in_blocks, neighbours, over_devices\n"
        "def block(w, s): return jnp.tile(w, (len(w), 1))\n"
        "for batch, size in ((7, 2), (8, 1), (20, 3), (2, 5)):\n"
        "    shown = jax.jit(over_devices(in_blocks(block, size), jax.devices()))(jnp.arange(batch), None)\n"
        "    for world in range(batch):\n"
        "        index, place, width = neighbours(world, batch, size, 3)\n"
        "        same = np.tile(shown[world], (len(index) // width, 1))\n"
        "        np.testing.assert_array_equal(index.reshape(-1, width), same)\n"
        "        assert index[place] == world and len(index) in (3 * width, 6 * width)\n"
    )
    succeeds(code)


@pytest.mark.slow
def test_step_and_its_gradient_in_a_shard_map_of_the_user():
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 2); jax.config.update('jax_enable_x64', True)\n"
        "import jax.numpy as jnp, numpy as np, mjx_like as mjx\n"
        "from jax.sharding import Mesh, PartitionSpec as P\n"
        "from tests.rollout.test_rollout import BALL\n"
        "m = mjx.Model.from_xml_string(BALL)\n"
        "d = mjx.make_data(m)\n"
        "many = jax.vmap(lambda v: d.replace(qvel=v))(np.random.default_rng(0).normal(size=(4, m.nv)))\n"
        "def end(v, d): return mjx.step(m, d.replace(qvel=v)).qpos\n"
        "slope = jax.grad(lambda *x: end(*x)[2])\n"
        "step = jax.vmap(lambda d: (end(d.qvel, d), slope(d.qvel, d)))\n"
        "mesh = Mesh(np.array(jax.devices()), ('worlds',))\n"
        "shared = jax.shard_map(step, mesh=mesh, in_specs=P('worlds'), out_specs=P('worlds'), check_vma=False)\n"
        "for x, y in zip(jax.jit(shared)(many), jax.jit(step)(many)):\n"
        "    np.testing.assert_allclose(x, y, atol=1e-12)\n"
        "    assert len(x.sharding.device_set) == 2\n"
    )
    succeeds(code)
