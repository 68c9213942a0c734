"""Tendons.

`stage` gives lengths, Jacobians and velocities; `span` a straight or wrapped segment, by `wrap` (MuJoCo's mju_wrap)
over `reflection`; `plan` lays out paths.
"""
