"""The memory of a world as `info` tells it."""

import jax
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.state.initial import make_data
from mjx_like.state.memory import data_bytes
from tests.smooth.test_many_trees import scene


@pytest.mark.parametrize("option", ["", 'jacobian="dense"'])
def test_bytes_are_those_of_the_arrays(option):
    m = from_xml_string(scene(option=option))
    d, told = make_data(m), data_bytes(m)
    assert sum(told.values()) == sum(x.nbytes for x in jax.tree.leaves(d))
    assert told["efc_J"] == d.efc_J.nbytes and told["contact.frame"] == d.contact.frame.nbytes
    assert list(told.values()) == sorted(told.values(), reverse=True)


def test_a_world_of_many_trees_grows_with_the_trees():
    def size(count: int) -> int:
        bodies = "".join(f'<body pos="{i} 0 1"><freejoint/><geom size=".1"/></body>' for i in range(count))
        xml = f'<mujoco><worldbody><geom type="plane" size="0 0 1"/>{bodies}</worldbody></mujoco>'
        return sum(data_bytes(from_xml_string(xml)).values())

    assert size(200) < 2.1 * size(100)
