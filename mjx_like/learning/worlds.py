"""Environments of many worlds, from either kind."""

from typing import Any

from mjx_like.envs.env import Env
from mjx_like.envs.vector import vectorise


def many_worlds(env: Any) -> Any:
    """Return an environment of many worlds: the one given, or one of worlds like it."""
    return vectorise(env) if isinstance(env, Env) else env
