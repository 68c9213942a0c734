"""Constraint rows, MuJoCo's engine_core_constraint.

Read `stage` first. `plan` says which rows can exist; `slots` fills those of equalities, friction and limits
(`equality`), `contact` those of contacts; `assemble` puts the active ones together. `impedance` and `spring` turn
solref and solimp into stiffness, damping and regularisation, `exact_diagonal` and `softening` do so by other rules;
`adhesion` attracts; `tree_rows` is the Jacobian in models of many trees. `contact_force`, `contact_points` and
`jacobian_product` read the result.
"""
