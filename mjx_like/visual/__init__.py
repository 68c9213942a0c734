"""What a model looks like, on the host: triangles, colours, pictures and where they are. NumPy, for viewers and files.

`surface` makes the triangles of geoms and sites, `look` their colours and textures; `cube` lays cube maps on them;
`part` gathers all by body; `skin` are skins, `flex` flexes, `tube` the capsules of ropes; `frames` says where bodies,
lights and tendons are along a trajectory, `grid` where the worlds of a batch stand; `overlay` has contacts, forces,
frames and cameras.
"""
