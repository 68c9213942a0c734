"""Settings for each task: one row for each, in a column for each algorithm; what is not said is the default."""

from typing import Any

from mjx_like.envs.make import TASKS
from mjx_like.errors import InputError, closest
from mjx_like.learning.apg import APGConfig
from mjx_like.learning.config import Config
from mjx_like.learning.ppo import PPOConfig
from mjx_like.learning.shac import SHACConfig

CONFIGS: dict[str, type[Config]] = {"ppo": PPOConfig, "shac": SHACConfig, "apg": APGConfig}

_WALKERS_PPO = {"worlds": 256, "unroll": 32, "samples": 10_000_000, "reward_scale": 0.1, "policy_layers": (128, 128),
                "value_layers": (128, 128)}  # fmt: skip
_WALKERS_SHAC = {"worlds": 64, "window": 32, "samples": 1_000_000, "policy_learning_rate": 1e-3,
                 "value_learning_rate": 2e-3, "most_cotangent": 10.0, "reward_scale": 0.1, "initial_std": 0.4,
                 "policy_layers": (128, 64, 32)}  # fmt: skip
# Its gradients grow a thousandfold in 32 steps.
_ANT_SHAC = {"worlds": 256, "window": 8, "samples": 600_000, "most_cotangent": 1.0, "reward_scale": 0.1,
             "initial_std": 0.4, "policy_layers": (128, 64, 32)}  # fmt: skip

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "cartpole": {
        "ppo": {"worlds": 64, "unroll": 32, "samples": 500_000, "reward_scale": 0.1, "minibatches": 4},
        "shac": {"samples": 200_000},
        "apg": {"samples": 200_000},
    },
    "cartpole_swing_up": {
        "ppo": {"worlds": 128, "unroll": 32, "samples": 2_000_000, "minibatches": 4},
        "shac": {"samples": 500_000},
        "apg": {"samples": 500_000},
    },
    "hopper": {"ppo": _WALKERS_PPO, "shac": _WALKERS_SHAC},
    "half_cheetah": {"ppo": _WALKERS_PPO, "shac": _WALKERS_SHAC},
    "ant": {"ppo": _WALKERS_PPO, "shac": _ANT_SHAC},
}


def preset(task: str, algorithm: str, **changes: Any) -> Config:
    """Return the settings of an algorithm for a task.  changes: settings that are to be others.

    Raises:
      InputError: no such task, algorithm or setting.
    """
    if task not in TASKS:
        raise InputError(f"no task '{task}'{closest(str(task), TASKS)}; there are: {', '.join(TASKS)}")
    return configured(algorithm, **PRESETS.get(task, {}).get(algorithm, {}) | changes)


def configured(algorithm: str, **settings: Any) -> Config:
    """Return settings of an algorithm.  Raises InputError for unknown names."""
    if algorithm not in CONFIGS:
        raise InputError(
            f"no algorithm '{algorithm}'{closest(str(algorithm), CONFIGS)}; there are: {', '.join(CONFIGS)}"
        )
    kind = CONFIGS[algorithm]
    for name in settings:
        if name not in kind.__dataclass_fields__:
            near = closest(name, kind.__dataclass_fields__)
            raise InputError(
                f"{algorithm} has no setting '{name}'{near}; there are: {', '.join(kind.__dataclass_fields__)}"
            )
    return kind(**settings)
