"""What the command line shows while it works."""

import contextlib
import sys
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
