"""What stands on the kinematic tree alone: `plan` (levels, ancestor masks), `jacobian` and `object_jacobian`.

`groups` takes bodies apart by the child of the world that they hang on, for masks of many trees; `many` decides
which models store matrices as blocks, `blocks` reads and writes those. `spring` has
displacements of springs, `inherited` armature and damping from actuators, `history` buffers of samples.
"""
