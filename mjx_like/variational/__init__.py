"""The variational integrator: steps that keep momentum at any time step and energy bounded; maximal coordinates.

Read `displacement` (finite motions of all bodies) first, then `midpoint` (the conditions of a step), `root` (their
solution as a differentiable function), `step` (from a Model and its Data) and `conserved` (what a step keeps, and
velocities at an instant). `maximal` has poses and velocities of bodies in place of joint coordinates, `joints` the way
back, joint by joint.
"""
