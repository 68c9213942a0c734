"""For programs written for MJX: `from mjx_like.compat import mjx` in place of `from mujoco import mjx`.

`mjx/` has MJX's names, arguments and records; `install` gives it to libraries that import `mujoco.mjx` themselves;
`native` turns its Model and Data into those of the top level.
"""

from mjx_like.compat.install import install as install
from mjx_like.compat.mjx._src.types import native as native
