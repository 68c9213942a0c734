"""What stands on the kinematic tree alone: `plan` (levels, ancestor masks), `jacobian` and `object_jacobian`.

`groups` takes bodies apart by the child of the world that they hang on, for masks of many trees. `spring` has
displacements of springs, `inherited` armature and damping from actuators, `history` buffers of samples.
"""
