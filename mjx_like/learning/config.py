"""Settings that all algorithms share, and their checks."""

import dataclasses
from typing import Any

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown

ACTIVATIONS = ("elu", "swish", "tanh", "relu")
_SHARES = ("discount", "gae_lambda", "td_lambda", "target_inertia")
_POSITIVE = ("initial_std", "learning_rate", "policy_learning_rate", "value_learning_rate", "reward_scale", "clip")
_POSITIVE += ("most_gradient", "most_cotangent")
_NATURAL = ("final_rate", "entropy_cost", "value_cost")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """What every algorithm needs to know.

    worlds: that are stepped at the same time.
    samples: steps of all worlds together, after which training ends.
    seed: of all that is drawn.
    discount: of later rewards, each step.
    reward_scale: factor of rewards in training; curves show them as they are.
    policy_layers, value_layers: widths of the hidden layers.
    activation: one of ACTIVATIONS.
    layer_norm: whether layers are normalised after it.
    initial_std: spread of actions at the start, before tanh.
    final_rate: learning rates fall linearly to this share of what they begin with.
    most_gradient: norm to which gradients are cut.
    evaluations: how many points the learning curve has, beside the first.
    evaluation_worlds: episodes of each.
    """

    worlds: int = 256
    samples: int = 1_000_000
    seed: int = 0
    discount: float = 0.99
    reward_scale: float = 1.0
    policy_layers: tuple[int, ...] = (64, 64)
    value_layers: tuple[int, ...] = (64, 64)
    activation: str = "elu"
    layer_norm: bool = False
    initial_std: float = 0.6
    final_rate: float = 0.0
    most_gradient: float = 1.0
    evaluations: int = 10
    evaluation_worlds: int = 32

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _checked(field, getattr(self, field.name)))

    @property
    def iterations(self) -> int:
        """Number of iterations that give the samples."""
        return -(-self.samples // self.samples_per_iteration)

    @property
    def samples_per_iteration(self) -> int:
        """Steps of all worlds in one iteration."""
        raise NotImplementedError


def _checked(field: dataclasses.Field, value: Any) -> Any:
    """Return the value of a setting, lists as tuples; raise InputError where it has none that makes sense."""
    name = field.name
    if name.endswith("_layers"):
        if not isinstance(value, tuple | list):
            raise InputError(f"{name}={shown(value)}: must be the widths of the hidden layers, such as (64, 64)")
        return tuple(whole_number(name, width, least=1) for width in value)
    if field.type in (int, "int"):
        return whole_number(name, value, least=0 if name == "seed" else 1)
    if name == "activation" and value not in ACTIVATIONS:
        raise InputError(f"activation={shown(value)}: must be one of {', '.join(ACTIVATIONS)}")
    if field.type in (float, "float"):
        return _checked_float(name, value)
    return value


def _checked_float(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InputError(f"{name}={shown(value)}: must be a number")
    if name in _SHARES and not 0 <= value <= 1:
        raise InputError(f"{name}={value:g}: must be between 0 and 1")
    if name in _POSITIVE and not value > 0:
        raise InputError(f"{name}={value:g}: must be above 0")
    if name in _NATURAL and value < 0:
        raise InputError(f"{name}={value:g}: must be at least 0")
    return float(value)
