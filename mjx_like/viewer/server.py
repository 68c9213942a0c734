"""viser: whether it is there, and a server of it that says nothing."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from mjx_like.errors import UnsupportedError


def import_viser() -> Any:
    """Return the module viser.

    Raises:
      UnsupportedError: it is not installed; the message says how to.
    """
    try:
        import viser
    except ImportError:
        raise UnsupportedError('the viewer needs viser: pip install "mjx_like[viewer]"') from None
    return viser


@contextlib.contextmanager
def server(host: str = "127.0.0.1", port: int = 0) -> Iterator[Any]:
    """A viser.ViserServer that stops at the end; port: 0 for any that is free.

    Raises:
      UnsupportedError: viser is not installed.
    """
    viser = import_viser()
    with contextlib.redirect_stdout(io.StringIO()):  # it prints where it listens, and that it stopped
        opened = viser.ViserServer(host=host, port=port, verbose=False)
    try:
        yield opened
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            opened.stop()
