"""What the command line hides and what it lets through."""

import os
import sys

from mjx_like.cli.progress import LOADED_ANYWAY, without_lines


def test_lines_of_kept_programs_are_hidden_and_others_are_not(capfd):
    with without_lines():
        os.write(2, b"E cpu_aot_loader.cc] " + LOADED_ANYWAY + b". Target machine feature +prefer-no-gather\n")
        os.write(2, b"E another line\n")
        print("of Python", file=sys.stderr)
    print("after", file=sys.stderr)
    said = capfd.readouterr().err
    assert sorted(said.splitlines()) == ["E another line", "after", "of Python"]


def test_what_fails_still_tells_its_lines(capfd):
    try:
        with without_lines():
            os.write(2, b"F why it failed\n")
            raise RuntimeError
    except RuntimeError:
        pass
    assert "why it failed" in capfd.readouterr().err
