"""Training by names, and policies from the folders that it writes."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from mjx_like.envs.env import Env
from mjx_like.envs.make import make
from mjx_like.errors import InputError
from mjx_like.learning.algorithm import Algorithm, networks_of
from mjx_like.learning.apg import apg
from mjx_like.learning.checkpoint import Checkpoints
from mjx_like.learning.config import Config
from mjx_like.learning.evaluation import evaluator
from mjx_like.learning.loop import Result, run
from mjx_like.learning.normaliser import Normaliser
from mjx_like.learning.policy import Policy
from mjx_like.learning.ppo import ppo
from mjx_like.learning.presets import CONFIGS, configured, preset
from mjx_like.learning.shac import shac
from mjx_like.learning.worlds import many_worlds
from mjx_like.smoothing import smoothed

ALGORITHMS: Mapping[str, Callable[..., Algorithm]] = {"ppo": ppo, "shac": shac, "apg": apg}


def train(
    env: Any,
    config: Config | str = "ppo",
    *,
    smoothing: float | None = None,
    contact: str | None = None,
    gap: float | None = None,
    slip: float | None = None,
    integrator: str | None = None,
    devices: Sequence[jax.Device] | None = None,
    **options: Any,
) -> Result:
    """Train a policy, and return it with its learning curve.

    Args:
      env: the name of a task, or an environment of one world or of many.
      config: PPOConfig, SHACConfig or APGConfig, which choose the algorithm; or its name, for the settings of the task.
      smoothing: of a task, half the width over which contacts begin in training [m], see `with_smoothing`, or the gap
        of hard contact in training; None for the contacts with which it is evaluated in either case.
      contact: of a task, "soft" or "hard", see `with_hard_contact`; None for soft. Likewise `gap` and `slip`.
      integrator: of a task, such as "variational"; None for that of its model.
      devices: that share the worlds; None for all.
      options: see `run`.

    Raises:
      InputError: no such task or algorithm; else as `run`.
    """
    asked = {"contact": contact, "gap": gap, "slip": slip}
    asked = {name: value for name, value in asked.items() if value is not None}
    own = {} if integrator is None else {"integrator": integrator}
    if not isinstance(env, str):
        for name in [*asked, *own, *(["smoothing"] if smoothing is not None else [])]:
            raise InputError(f"{name}= is for tasks by name: give an environment whose model has it")
        config = configured(config) if isinstance(config, str) else config
        return run(ALGORITHMS[name_of(config)](env, config, devices), **options)
    config = preset(env, config) if isinstance(config, str) else config
    about = {"task": env, "smoothing": smoothing} | dict(options.pop("about", {}))
    about |= ({"contact": asked} if asked else {}) | own
    return run(task_algorithm(env, config, smoothing, asked | own, devices), about=about, **options)


def task_algorithm(
    task: str,
    config: Config,
    smoothing: float | None = None,
    model: Mapping[str, Any] | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Algorithm:
    """Return the algorithm of some settings on a task; see `train`.  model: options of `Spec.compile`."""
    model = model or {}
    exact = many_worlds(make(task, **model))
    if smoothing is None:
        return ALGORITHMS[name_of(config)](exact, config, devices)
    smooth = make(task, change=lambda m: smoothed(m, smoothing), **model)
    found = ALGORITHMS[name_of(config)](smooth, config, devices)
    return found._replace(evaluate=evaluator(exact, found.networks, config.evaluation_worlds, found.devices))


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
    if env is None and "task" not in about:
        raise InputError(f"{folder}: a run in an environment without a name: give env=")
    own = {name: about[name] for name in ("integrator",) if name in about}
    env = make(about["task"], **about.get("contact", {}), **own) if env is None else env
    nets = networks_of(many_worlds(env), configured(about["algorithm"], **about["config"]))
    found = checkpoints.policy()
    return env, Policy(nets, found["params"], Normaliser(**found["normaliser"]))
