"""How many worlds run together by default."""

import jax
import pytest

import mjx_like as mjx
from mjx_like.rollout.layout import default_block

CHAIN = '<body pos="0 0 {z}"><joint axis="0 1 0"/><geom size="0.05"/>{rest}</body>'


def chain(links: int) -> mjx.Model:
    """Return a chain whose arrays grow with the square of its links."""
    rest = ""
    for _ in range(links):
        rest = CHAIN.format(z=-0.2, rest=rest)
    return mjx.Model.from_xml_string(f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{rest}</worldbody></mujoco>')


def worlds(m: mjx.Model, batch: int) -> mjx.Data:
    """Return the shapes of many worlds."""
    d = jax.eval_shape(lambda: mjx.make_data(m))
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct((batch, *x.shape), x.dtype), d)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="of the cache of a CPU")
def test_blocks_shrink_as_worlds_grow():
    blocks = [default_block(m, worlds(m, 1000), 1000) for m in map(chain, (4, 20, 30, 60))]
    assert blocks[0] == 128 and blocks[-1] == 16  # lanes; the least
    assert blocks == sorted(blocks, reverse=True) and len(set(blocks)) > 2
    for m, block in zip(map(chain, (20, 30)), blocks[1:3], strict=True):
        each = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(worlds(m, 1)))
        assert block * each <= 6_000_000 and (block == 128 or 2 * block * each > 6_000_000)


def test_hard_contact_keeps_large_blocks():
    m = mjx.with_hard_contact(chain(30))
    assert default_block(m, worlds(m, 1000), 1000) == (128 if jax.default_backend() == "cpu" else 1000)


def test_a_block_is_all_worlds_on_an_accelerator():
    class Device:
        platform = "gpu"

    m = chain(4)
    assert default_block(m, worlds(m, 1000), 1000, [Device()]) == 1000
