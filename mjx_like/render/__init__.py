"""Images of a model, by rays, in JAX: colour, depth and segmentation, mapped over worlds and differentiable.

`image` renders; `camera` says where rays begin, `drawn` what is there, `hit` what they meet; `color` is what that looks
like, from `light` and `texture`, whose pictures are those of `mipmap`. `video` writes trajectories as moving pictures.
"""
