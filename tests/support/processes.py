"""Python programs in a process of their own."""

import os
import pathlib
import subprocess
import sys


def succeeds(code: str, *arguments: object, **environment: str) -> str:
    """Assert that a program ends without an error, and return what it printed."""
    root = pathlib.Path(__file__).parents[2]
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout
