"""What platform a program is written for, where a CPU and an accelerator want other operations for one result."""

import jax


def on_cpu() -> bool:
    """Return whether programs run on a CPU, where XLA makes a loop of each operation that ends a fusion.

    There products with constant matrices make the fewest loops. An accelerator pays for each of them with a kernel
    and for what it reads and writes, while gathers and short sums join the kernels around them.
    """
    return jax.default_backend() == "cpu"
