"""Actuators as records.

`record` keeps what mjSpec keeps, `shortcut` expands motor, position and others, `dcmotor` its own.
"""
