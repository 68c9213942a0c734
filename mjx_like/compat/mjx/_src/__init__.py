"""The modules of MJX's `_src` that its clients import.

`types` has the records and `dataclasses` what makes their subclasses pytrees; `bind` finds entries by elements of a
mujoco.MjSpec; `io` reads and writes objects of `mujoco`; `forward`, `smooth`, `ray` and `support` are the engine's
functions for these records, `math` those of vectors and quaternions.
"""
