"""Contacts of convex geoms without a closed form.

Read `convex_pair` first. `ccd` runs `gjk` (over `simplex`) and, in penetration, `epa` (over `polytope` and its
`horizon`). `manifold` makes several points of two faces (`feature`, `polygon`). `derivative`, `touched_surface` and
`facet_derivative` differentiate the optimum, not the search, and `pose_slopes` does so for the pairs that touch alone.
`flat_tables` holds vertices, faces and edges of boxes, cylinders and meshes.
"""
