"""What `view` and `play` share: where the viewer listens, and showing until somebody stops it."""

import argparse
import threading
import webbrowser
from typing import Any, NoReturn

from mjx_like.cli.setup import natural
from mjx_like.viewer.live import Live, Player


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --host, --port and --no-browser."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    parser.add_argument("--port", type=natural, default=8080, help="0 for any that is free (default: 8080)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def show(args: argparse.Namespace, opened: Any, shown: Live | Player) -> NoReturn:
    """Say where the viewer is, open a browser unless told not to, and show until Ctrl-C.  opened: a viser server."""
    address = f"http://{'localhost' if args.host in ('127.0.0.1', '0.0.0.0') else args.host}:{opened.get_port()}"
    print(f"{'viewer':<22}{address}  (stop with Ctrl-C)", flush=True)
    if not args.no_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    while True:
        shown.tick()
