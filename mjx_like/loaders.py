"""The compiler's entry points, for methods of Model and Spec.

Both classes stand below the compiler in the order of imports, and their loaders and writers belong to their face. So
the compiler hands its functions down: `mjx_like/__init__.py` installs them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Loaders(NamedTuple):
    """What Model and Spec call; each is documented where they do."""

    from_xml_path: Callable[..., Any]
    from_xml_string: Callable[..., Any]
    compile_model: Callable[..., Any]
    recompile: Callable[..., Any]
    spec_of_model: Callable[..., Any]
    spec_to_xml: Callable[..., str]
    spec_to_file: Callable[..., None]
    spec_to_zip: Callable[..., None]


_installed: list[Loaders] = []


def install(loaders: Loaders) -> None:
    """Make these the entry points of Model and Spec."""
    _installed[:] = [loaders]


def compiler() -> Loaders:
    """Return the entry points."""
    return _installed[0]
