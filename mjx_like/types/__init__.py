"""Records, no algorithms.

`enums` (with `sensor_type`, `actuator_type`), `option`, `topology`, `plans`, `model`, `data`.

`pytree` makes a record a JAX pytree, `named` is what `m.body("x")` returns, `hooks` the user's functions,
`smoothing` the widths of gradual contacts, `hard` how hard contact is solved, `visual` how a model is drawn.
"""
