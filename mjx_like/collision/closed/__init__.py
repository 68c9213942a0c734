"""Pairs whose contacts have a closed form: `plane`, `sphere`, `capsule`, `box` with what is named after them.

`box_axis` finds the axis of least overlap of two boxes, `clip` cuts one of their faces with another; `plane_mesh` finds
the vertices of a hull under a plane.
"""
