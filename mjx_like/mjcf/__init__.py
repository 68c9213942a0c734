"""From text to a Spec and back, without JAX: MuJoCo's xml_native_reader and user API.

Read `reader` first, then `spec` and `element`, what it makes. `schema/` is the grammar as a table, `reading/` text
and values, `build` merges sections, `default` resolves classes, `frame` does the arithmetic of poses. `actuator/`,
`asset/`, `attach/` (with replicate), `composite/`, `flexcomp/` and `urdf/` expand what one element stands for.
`writer` writes, after `canonical`; `edit/` is `mjx.Spec`.
"""
