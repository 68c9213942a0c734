"""Smooth dynamics, MuJoCo's engine_core_smooth (nothing here softens contacts: that is `mjx_like.smoothing`).

In the order of the pipeline: `kinematics` (of `poses`, by `in_order` where they are MuJoCo's to the last bit), `com`,
`camlight`, `crb`, `com_vel`, `rne`, with `subtree_vel`, `energy`, `xfrc`. `object_motion` reads poses and velocities of
objects, `square_root` factors the inertia, `plan` has nodes and masks.
"""
