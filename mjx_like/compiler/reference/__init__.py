"""Derived constants of a compiled model, in plain NumPy float64: what MuJoCo's mj_setConst computes."""

from mjx_like.compiler.reference.derive import derive

__all__ = ["derive"]
