"""The four elements of docs/extending.md: each diff applied to a copy of the package, each program run on it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
SECTIONS = (ROOT / "docs" / "extending.md").read_text().split("\n## ")[1:]
LONG = ("A pair of geoms", "An integrator", "A sensor")
BLOCK = r"```{}\n(.*?)```"


def run(command, **options):
    """Run a command; its output is the message where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "section",
    [pytest.param(x, id=x.splitlines()[0], marks=[pytest.mark.slow] if x.startswith(LONG) else []) for x in SECTIONS],
)
def test_the_diff_applies_and_its_program_runs(section, tmp_path):
    (diff,), (program,) = (re.findall(BLOCK.format(kind), section, re.DOTALL) for kind in ("diff", "python"))
    shutil.copytree(ROOT / "mjx_like", tmp_path / "mjx_like", ignore=shutil.ignore_patterns("__pycache__"))
    run(["git", "apply", "-"], input=diff, cwd=tmp_path)
    shutil.copy(ROOT / "tests" / "test_tables.py", tmp_path)
    (tmp_path / "program.py").write_text("import mjx_like\nassert __file__[:9] in mjx_like.__file__\n" + program)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    run([sys.executable, "program.py"], cwd=tmp_path, env=environment)
    tables = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "test_tables.py"]
    run([sys.executable, "-m", *tables], cwd=tmp_path, env=environment)


def test_four_elements():
    assert len(SECTIONS) == 4
