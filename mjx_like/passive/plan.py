"""The plan of passive/: not built yet."""

from mjx_like.types.topology import Topology


def make_plan(t: Topology) -> None:
    return None
