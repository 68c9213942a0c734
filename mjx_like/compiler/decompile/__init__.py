"""From the arrays of a compiled model back to a Spec: every value written out, no default class."""
