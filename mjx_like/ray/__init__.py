"""Rays against the geoms of a model, MuJoCo's engine_ray.

`stage` for all, `surface` for meshes, height fields and fields.
"""
