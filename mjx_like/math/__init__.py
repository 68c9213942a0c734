"""Mathematics on trailing axes: every function broadcasts over the leading ones.

`safe` (and `quotient`, its divisions) have derivatives at singular points; `quaternion`, `frame`, `spatial`, `pose` are
geometry; `linalg`, `linear`, `lapack`, `tangent` matrices; `rule` gives functions derivatives of their own,
`transposable` transposes, and `moving` what a loop starts from its tangents. `vector` and `component_first` put
components first, as do `unfused`, whose products are rounded, and `unfused_pose`, `world_last` (with
`world_last_program`, `world_last_loops` and `world_last_products`) the world last, by the `programs` that JAX traces,
for code that XLA fuses; `select` reads and writes by index, and by `block_mask`, `lists` what flags choose or keys
sort; `batching` sees a batch as a whole, `lots` loops over one whose worlds end at different times. `platform` tells
whether a program is for a CPU, `one_kernel` what is one kernel there, `lanes` which searches of many worlds are, by
`loop_rules` and `pivots`; `on_gpu` tells where kernels of our own run, whose parts `kernel` has.
"""
