"""Actuation, MuJoCo's engine_core_smooth (transmission) and engine_forward (actuation).

Read `stage` first: controls and activations to forces to joint forces. `table` has a row for each type of dynamics,
gain and bias; `muscle`, and the controllers `pid`, `dcmotor`, `orientation` (over `servo`) are their kernels.
`transmission` gives lengths and moments; `delay` late controls; `period` the turn of a servo's target; `derivative`
what implicit integrators need; `plan` groups actuators by kernel.
"""
