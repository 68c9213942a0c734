"""The compiler, for methods of Model and Spec.

Both classes stand below the compiler in the order of imports, and their loaders and writers belong to their face. It is
imported when one of them is called.
"""

import importlib
from types import ModuleType


def compiler() -> ModuleType:
    """Return the module of the public loaders."""
    return importlib.import_module("mjx_like.compiler.load")
