"""Hard contact: no penetration and Coulomb friction at the end of a step, by an interior point method.

Read `problem` (the conditions) first, then `scaling` and `elimination` (their linear systems), `boundary` and
`interior_point` (a step of the search), `search` (of a batch), `implicit_gradient` (its solution as a differentiable
function), `reach`, `free_motion` and `rows` (from a Model and its Data to a problem), `restitution`, `stage` and
`inverse`.
"""
