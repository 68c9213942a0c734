"""Derived constants of a compiled model, in plain NumPy float64: what MuJoCo's mj_setConst computes.

`derive` calls the rest: `kinematics`, `com`, `inertia`, `tendon` (over `wrap`), `transmission`, `fixed`, `flex`,
`statistics`. It is the one permitted twin of the engine; a test holds `set_const` to it.
"""

from mjx_like.compiler.reference.derive import derive

__all__ = ["derive"]
