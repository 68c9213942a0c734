"""Leaves by name: `entries` has the rows of named objects, `selection` what a name stands for, `change` sets it."""
