"""One kind of element a file: resolved attributes to the fields of mjModel.

`body` compiles the tree with `joint` and `geom`; `asset`, `texture`, `skin`, `visual` what is seen; `contact`,
`equality`, `tendon`, `actuator` (rules of gains and dynamics in `actuator_law`), `sensor` what refers to the tree;
`custom` the rest.
"""
