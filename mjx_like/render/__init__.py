"""Images of a model, by rays, in JAX: colour, depth and segmentation, mapped over worlds and differentiable.

`image` renders; `camera` says where rays begin, `drawn` what is there, with the triangles of `skin`, and `hit` what
they meet. `color` is what that looks like, from `light`, `corner`, which smooths triangles, and `texture`, whose
pictures are those of `mipmap` and whose coordinates on primitive shapes those of `unwrap`; `haze` is before it.
`video` writes trajectories as moving pictures.
"""
