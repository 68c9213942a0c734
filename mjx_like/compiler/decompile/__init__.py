"""From the arrays of a compiled model back to a Spec: every value written out, no default class.

Read `model` first; `source` reads arrays by object. `tree`, `asset`, `mesh`, `link`, `plugin` write their parts,
`flex` (with `flex_grid` and `flex_rod`) deformables.
"""
