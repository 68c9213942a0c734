"""Contacts by Minkowski portal refinement, MuJoCo's way with the flag `nativeccd` off.

`mpr` is the refinement, `portal_contact` the contact points of a pair.
"""
