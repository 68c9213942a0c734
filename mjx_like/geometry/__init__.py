"""Shapes, one property a file: `support`, `aabb`, `inertia`, `ray`, `ray_surface`, `signed_distance`.

`triangle_tree` finds the first of many triangles on a ray. `convex` is the support function of all convex shapes in one
program, `plugin_shape` the shapes of MuJoCo's plugins.
"""
