"""`mujoco.mjx` for libraries that import it themselves, such as MuJoCo Playground and Brax."""

import importlib
import pkgutil
import sys

from mjx_like.compat import mjx
from mjx_like.compat.mjx import _src
from mjx_like.errors import InputError

_HOME = "mjx_like.compat.mjx"


def install() -> None:
    """Make `from mujoco import mjx` give `mjx_like.compat.mjx` to all that this process imports from now on.

    Call it before the first import of such a library:

        import mjx_like.compat
        mjx_like.compat.install()
        from mujoco_playground import registry

    Raises:
      InputError: MJX itself is imported already, so that some modules would hold it and others not.
      ImportError: mujoco is not installed, which such libraries need for their models.
    """
    import mujoco

    found = sys.modules.get("mujoco.mjx")
    if found is mjx:
        return
    if found is not None:
        raise InputError("mujoco.mjx is imported already: call mjx_like.compat.install() before what imports it")
    inner = [f"{_HOME}._src.{module.name}" for module in pkgutil.iter_modules(_src.__path__)]
    for name in (_HOME, f"{_HOME}._src", *inner):
        sys.modules[name.replace(_HOME, "mujoco.mjx")] = importlib.import_module(name)
    mujoco.mjx = mjx
