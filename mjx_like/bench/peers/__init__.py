"""One script for each engine that is measured, each run in a process of its own: `ours`, `mjx_peer`, `mujoco_peer`.

`job` is what they share: the description of a measurement and the line of JSON that answers it.
"""
