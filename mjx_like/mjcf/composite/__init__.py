"""Composites.

`plan` reads the element, `expand` makes its bodies by `chain`, `grid`, `shell`; `skin`, `weights` cover them.
"""
