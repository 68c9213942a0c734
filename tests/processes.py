"""Python programs in a process of their own."""

import pathlib
import subprocess
import sys


def succeeds(code: str) -> None:
    """Assert that a program ends without an error."""
    root = pathlib.Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
