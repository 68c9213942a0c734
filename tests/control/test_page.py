"""docs/control.md: its examples run, and its table has every task."""

import pathlib
import re

import numpy as np
import pytest

from mjx_like.control.tasks import TASKS

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "control.md").read_text()


@pytest.mark.slow
def test_examples_run_in_their_order(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "control.md", "exec"), names)
    assert names["run"].ctrl.shape == (20, 1) and np.all(np.isfinite(names["run"].ctrl))
    assert names["found"].cost < names["found"].history[0]


def test_every_task_is_in_the_table():
    assert not {name for name in TASKS if name not in PAGE}
