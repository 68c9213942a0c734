"""What the command line shows while it works."""

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator


@contextlib.contextmanager
def phase(name: str) -> Iterator[list[str]]:
    """Show that a phase runs and how long it took; strings appended to the list are shown when it ends.

    On a terminal the seconds count up while it runs.
    """
    begin, done, notes = time.perf_counter(), threading.Event(), []
    live = sys.stderr.isatty()

    def count() -> None:
        while not done.wait(0.25):
            print(f"\r{name} ... {time.perf_counter() - begin:.0f} s", end="", file=sys.stderr, flush=True)

    if live:
        threading.Thread(target=count, daemon=True).start()
    else:
        print(f"{name} ...", file=sys.stderr, flush=True)
    try:
        yield notes
    finally:
        done.set()
        tail = f" ({', '.join(notes)})" if notes else ""
        print(
            f"{chr(13) if live else ''}{name}: {time.perf_counter() - begin:.1f} s{tail}", file=sys.stderr, flush=True
        )


# XLA compares the features of a kept program with the processor's and finds preferences there, such as
# +prefer-no-gather, which are no features of any processor (jax-ml/jax#38445): the program runs as it should.
LOADED_ANYWAY = b"Loading XLA:CPU AOT result"


@contextlib.contextmanager
def without_lines(mark: bytes = LOADED_ANYWAY) -> Iterator[None]:
    """Hide the lines with `mark` of what libraries write to the standard error stream; the others come at the end.

    What Python writes to `sys.stderr` goes through at once.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held, os.fdopen(os.dup(2), "w") as shown:
        python, own = sys.stderr, _is_stream_two(sys.stderr)
        os.dup2(held.fileno(), 2)
        sys.stderr = shown if own else python
        try:
            yield
        finally:
            sys.stderr = python
            shown.flush()
            os.dup2(shown.fileno(), 2)
            held.seek(0)
            os.write(2, b"".join(line for line in held if mark not in line))


def _is_stream_two(stream: object) -> bool:
    try:
        return stream.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return False
