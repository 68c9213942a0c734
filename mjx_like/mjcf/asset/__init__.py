"""Files of assets: `source` finds and reads them. Meshes: `obj`, `stl`, `msh` to `mesh_data`; `builtin`, `grid`.

`ears` cuts the polygons of `obj` into triangles. `png` reads images and height fields, `pattern` makes procedural
textures, `skn` reads skins, `isosurface` triangulates a field for display.
"""
