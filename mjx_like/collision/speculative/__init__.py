"""Contacts before an impact (flag `speculative`): `advancement` finds its time, `speculative_contact` the contact."""
