"""Flexes: `tables` lays out vertices, edges and elements; `element`, `face` and `cell` their geometry.

`stretching`, `bending`, `rod` and `interpolated` are the stiffness of each kind.
"""
