"""From a Spec to a Model, in NumPy float64: MuJoCo's user_model and user_objects.

Read `compile` first, the order of everything. `context`, `settings`, `tree`, `pose`, `limits` are what elements
share; `element/` compiles one kind of element a file, `mesh/`, `flex/` and `plugin/` the large ones; `scale/`
applies scaled frames before, `reduce` fuses and discards; `reference/` derives constants (mj_setConst), `simple`,
`finite`, `lengthrange` finish. `arrays` stacks rows to columns; `contact` and `integrator` are what custom elements
choose; `finalize` makes Topology, plans and leaves, `unfinalize` goes back, `decompile/` on to a Spec. `load` and
`recompile` are what Model and Spec call.
"""
