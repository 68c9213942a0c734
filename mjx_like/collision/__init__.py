"""Contacts, MuJoCo's engine_collision_driver.

Read in the order of the data: `candidate_pairs` (which geoms may touch, by static filters) and `plan` (their
layout); `driver`, the stage; `broadphase` (bounds), `at_need` and `near_rows` (kernels and searches of what is near),
`pair_pose` and `shape` (what kernels take), `candidate_points` (all points of all pairs by the row of `table`),
`mixing` (contact parameters), `buffer` (the deepest points kept, in MuJoCo's order). Kernels: `closed/` closed forms,
`convex/` GJK and EPA, `portal/` portal refinement, `hfield` height fields, `sdf/` signed distance fields,
`speculative/` contacts before an impact, `user_function` hooks. `distance` and `distance_search` measure without
contacts; `surface_velocity` moves surfaces.
"""
