"""Scaled frames (MuJoCo 4's frame scale): factors of everything that stands in one or refers into it.

Read `factors` first, then `target` (what others refer to); `section`, `actuator`, `asset`, `deformable` apply them;
`stretch` handles factors that differ between axes.
"""
