"""Images of a model, by rays, in JAX: colour, depth and segmentation, mapped over worlds and differentiable.

`image` renders; `camera` says where rays begin, `hit` what they meet, `light` and `texture` what that looks like.
`video` writes trajectories as moving pictures.
"""
