"""For programs written for MJX or dm_control.

`mjx/` has MJX's names, arguments and records: `from mjx_like.compat import mjx` in place of `from mujoco import mjx`.
`install` gives it to libraries that import `mujoco.mjx` themselves; `native` turns its Model and Data into those of the
top level. `physics` shows one world as dm_control's Physics, with arrays of NumPy that `named` indexes by names.
"""

from mjx_like.compat.install import install as install
from mjx_like.compat.mjx._src.types import native as native
from mjx_like.compat.physics import Physics as Physics
from mjx_like.compat.physics import PhysicsError as PhysicsError
