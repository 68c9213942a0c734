"""Settings: wrong ones are told in one line; every task that has a row exists."""

import re

import pytest

from mjx_like.envs.make import TASKS
from mjx_like.errors import InputError
from mjx_like.learning.presets import CONFIGS, PRESETS, configured, preset
from mjx_like.learning.train import ALGORITHMS, name_of
from tests.support.processes import succeeds

WRONG = {
    "whole": ("ppo", {"worlds": 0}, "worlds=0: must be a whole number of at least 1"),
    "fraction": ("ppo", {"worlds": 2.5}, "worlds=2.5: must be a whole number"),
    "share": ("ppo", {"discount": 1.5}, "discount=1.5: must be between 0 and 1"),
    "positive": ("shac", {"policy_learning_rate": 0}, "policy_learning_rate=0: must be above 0"),
    "negative": ("ppo", {"entropy_cost": -1}, "entropy_cost=-1: must be at least 0"),
    "word": ("ppo", {"clip": "much"}, "clip='much': must be a number"),
    "layers": ("ppo", {"policy_layers": 64}, "policy_layers=64: must be the widths of the hidden layers"),
    "activation": ("ppo", {"activation": "gelu2"}, "activation='gelu2': must be one of elu"),
    "minibatches": ("ppo", {"worlds": 1, "unroll": 2}, "minibatches=8: more than worlds * unroll, 2"),
    "name": ("ppo", {"learning_rates": 1}, "ppo has no setting 'learning_rates'; did you mean 'learning_rate'?"),
    "algorithm": ("pop", {}, "no algorithm 'pop'; did you mean 'ppo'?"),
}


@pytest.mark.parametrize("algorithm, settings, message", WRONG.values(), ids=list(WRONG))
def test_wrong_settings(algorithm, settings, message):
    with pytest.raises(InputError, match=re.escape(message)):
        configured(algorithm, **settings)


def test_rows_of_the_table_are_settings():
    assert set(PRESETS) <= set(TASKS) and set(CONFIGS) == set(ALGORITHMS)
    for task, algorithm in ((task, algorithm) for task in TASKS for algorithm in ALGORITHMS):
        assert name_of(preset(task, algorithm)) == algorithm
    assert preset("hopper", "ppo", worlds=7).worlds == 7


def test_no_such_task():
    with pytest.raises(InputError, match="no task 'hoper'; did you mean 'hopper'"):
        preset("hoper", "ppo")


@pytest.mark.parametrize("missing", ["flax", "orbax"])
def test_the_package_needs_no_extra_until_it_is_used(missing):
    code = f"""import sys; sys.modules['{missing}'] = None
import mjx_like, mjx_like.cli
from mjx_like.errors import UnsupportedError
try:
    import mjx_like.learning
except UnsupportedError as error:
    print(error)"""
    assert succeeds(code).strip() == f"learning needs {missing}: pip install 'mjx_like[learn]'"
