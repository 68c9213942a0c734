"""Pairs whose contacts have a closed form: `plane`, `sphere`, `capsule`, `box` with what is named after them.

`clip` cuts one face with another, for boxes; `plane_mesh` finds the vertices of a hull under a plane.
"""
