"""Files of assets: `source` finds and reads them. Meshes: `obj`, `stl`, `msh` to `mesh_data`; `builtin`, `grid`.

`png` reads images and height fields, `skn` skins, `isosurface` triangulates a field for display.
"""
