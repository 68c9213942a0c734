"""MuJoCo's own plugins, built in: `registry` checks them, `cable`, `sdf` and `sdf_shape` compile them."""
