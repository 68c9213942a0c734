"""Meshes: `asset` compiles one from vertices and faces; `inertia`, `normal`, `hull`, `polygon` are its parts.

`geom` fits primitives; `box_tree`, `distance` and `field` make a signed distance field on a grid; `bucket_order` is
the order in which MuJoCo's hash container lists points, `curve` one that keeps neighbours near for the search of rays.
"""
