"""Flexcomps: `plan` reads the element, `expand` makes points, elements and bodies.

Points come from `shapes`, `file_mesh` or `gmsh`; `rod_chain`, `node_grid` and `partial_cell` are kinds of dof;
`open_surface` and `winding_number` tell inside from outside.
"""
