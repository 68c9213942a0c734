"""Reading a file.

`file` (bytes), `xml` (elements), `include`, `values` (typed attributes), `validate` against the table.

`names` checks references, `checks` what a single element must satisfy.
"""
