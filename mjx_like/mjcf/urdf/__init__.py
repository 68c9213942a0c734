"""URDF: `model` makes the tree of links and joints, `geom` its shapes, `node` reads an element."""
