"""The constraint solver, MuJoCo's engine_solver.

Read `problem` (what is minimised) and `law` (force, cost and curvature of a row) first, then `stage`,
`implicit_gradient` (the optimum as a differentiable function). `rows` takes rows from Data, `capacity` at the least
size. `newton` and `cg` share `linesearch` and `search`; `newton_kernel` is `newton` for GPUs, with `kernel_rows`, and
`newton_anywhere` either.
`pgs` and `noslip` work on the `dual`: `sweep` is a pass of `pgs` over the rows, in the order of `shuffle`; `islands`
splits worlds. `by_tree` solves models of many trees: `tree_problem` is what is minimised, `entries` says which rows
touch which tree, `small_islands` is for few trees that touch, `coupled` for worlds with many, by the linear
`tree_systems`. `constraint_force` serves inverse dynamics, `statistics` looks at a solve.
"""
