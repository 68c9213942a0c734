"""Sensors, MuJoCo's engine_sensor: `stage` evaluates them in three stages by the rows of `table`.

Kernels: `site`, `frame`, `joint`, `scene`, `view`, `contact`, `touch`, `tactile`, `distance`, `enclosure` over
`volume`. `delay` keeps histories, `noise` adds noise, `plan` groups sensors by kernel.
"""
