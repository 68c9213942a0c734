"""What stands on the kinematic tree alone: `plan` (levels, ancestor masks), `jacobian` and `object_jacobian`.

`spring` has displacements of springs, `inherited` armature and damping from actuators, `history` buffers of samples.
"""
