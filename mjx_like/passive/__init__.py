"""Passive forces, MuJoCo's engine_passive: `stage` sums springs, dampers and gravity compensation with the rest.

`fluid` (with `ellipsoid`, and `fluid_derivative` for implicit steps), `adhesion` and `cable` are the others; `plan`
says which exist.
"""
