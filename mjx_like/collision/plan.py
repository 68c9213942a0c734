"""The plan of collision/: not built yet."""

import types

from mjx_like.types.topology import Topology


def make_plan(t: Topology):
    return types.SimpleNamespace(default_nconmax=0, default_njmax=0)
