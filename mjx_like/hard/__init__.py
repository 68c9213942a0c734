"""Hard contact: no penetration and Coulomb friction at the end of a step, by Newton's and an interior point method.

Read `problem` (the conditions; `pair_rows`: J of pairs) first, then `scaling`, `elimination` and `augmented` (their
linear systems; vectors by `components`), `boundary` and `interior_point` (a step of the search), `newton` (the search
of a CPU), `kept` (what it begins with, from the solve before), `search` (of a batch), `search_kernel` (the same as one
kernel of a GPU, with `kernel_program`, `kernel_pairs`, `kernel_block`, `kernel_rows` and `sample`), `search_anywhere`
(either of both), `attempts` (again where a search fails), `implicit_gradient` (the solution as a differentiable
function), `reach`, `free_motion` and `rows` (from a Model and its Data to a problem), `carried` (contacts that a solve
takes from the one before), `restitution`, `stage` and `inverse`.
"""
