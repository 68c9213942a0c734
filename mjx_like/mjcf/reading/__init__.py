"""Reading a file.

`file` (bytes), `xml` (elements, of a text that `repair` puts right), `include`, `values` (typed attributes), `validate`
against the table.

`names` checks references, `checks` what a single element must satisfy.
"""
