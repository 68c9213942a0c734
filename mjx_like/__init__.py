"""A differentiable rigid-body simulator in pure JAX that speaks MuJoCo's language."""
