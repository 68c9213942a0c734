"""Building and editing a Spec in Python, in the vocabulary of MuJoCo's mjSpec.

Read `spec` first; `access` has its look-ups. `item` is an element, `tree` bodies and frames, `section` actuators,
sensors, tendons and equalities, `part` meshes and flexes, `settings` options and defaults. `value` converts, `alias`
knows mjSpec's names, `change` attaches and deletes, `archive` reads and writes zip files.
"""
