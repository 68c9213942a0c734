"""From accelerations to the state one step later, MuJoCo's engine_forward.

`table` has a row for each integrator: `euler`, `implicit`, `implicitfast`, `rk4`, `discrete`, `variational`. All end in
`advance`, over `position` (quaternions) and `plastic` (springs that yield). `velocity_derivative` and `bias_derivative`
are the matrices of implicit steps, `continuous` inverts a step, `plan` says where quaternions stand and what is damped.
"""
