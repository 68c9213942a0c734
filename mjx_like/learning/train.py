"""Training by names, and policies from the folders that it writes."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from mjx_like.envs.env import Env
from mjx_like.envs.make import make
from mjx_like.learning.algorithm import Algorithm, networks_of
from mjx_like.learning.apg import apg
from mjx_like.learning.checkpoint import Checkpoints
from mjx_like.learning.config import Config
from mjx_like.learning.loop import Result, run
from mjx_like.learning.normaliser import Normaliser
from mjx_like.learning.policy import Policy
from mjx_like.learning.ppo import ppo
from mjx_like.learning.presets import CONFIGS, configured, preset
from mjx_like.learning.shac import shac
from mjx_like.learning.worlds import many_worlds

ALGORITHMS: Mapping[str, Callable[..., Algorithm]] = {"ppo": ppo, "shac": shac, "apg": apg}


def train(
    env: Any, config: Config | str = "ppo", *, devices: Sequence[jax.Device] | None = None, **options: Any
) -> Result:
    """Train a policy, and return it with its learning curve.

    Args:
      env: the name of a task, or an environment of one world or of many.
      config: PPOConfig, SHACConfig or APGConfig, which choose the algorithm; or its name, for the settings of the task.
      devices: that share the worlds; None for all.
      options: see `run`.

    Raises:
      InputError: no such task or algorithm; else as `run`.
    """
    if isinstance(config, str):
        config = preset(env, config) if isinstance(env, str) else configured(config)
    about = {"task": env} if isinstance(env, str) else {}
    algorithm = ALGORITHMS[name_of(config)](make(env) if isinstance(env, str) else env, config, devices)
    return run(algorithm, about=about | dict(options.pop("about", {})), **options)


def name_of(config: Config) -> str:
    """Return the name of the algorithm that settings are for."""
    return next(name for name, kind in CONFIGS.items() if type(config) is kind)


def load_policy(folder: str | pathlib.Path, env: Env | None = None) -> tuple[Env, Policy]:
    """Return the environment and the latest policy of a run.

    Args:
      folder: that the run wrote.
      env: its environment, where it had no name.

    Raises:
      InputError: no checkpoint there, or one of an environment without a name.
    """
    checkpoints = Checkpoints(folder)
    about = checkpoints.about()
    env = make(about["task"], **about.get("options", {})) if env is None else env
    nets = networks_of(many_worlds(env), configured(about["algorithm"], **about["config"]))
    found = checkpoints.policy()
    return env, Policy(nets, found["params"], Normaliser(**found["normaliser"]))
