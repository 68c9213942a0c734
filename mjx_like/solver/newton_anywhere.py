"""Newton's method, by plain operations or by the kernel."""

import jax.numpy as jnp

from mjx_like.math.on_gpu import MOST, Function, Trial, anywhere
from mjx_like.solver.newton import newton
from mjx_like.solver.problem import Problem, Settings, Solution, Start


def newton_anywhere(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return what `newton` does, by the kernel where the program is compiled for a GPU of NVIDIA and it takes `p`."""
    return anywhere(_load, newton, p, start, fixed=(settings,)) if takes(p) else newton(settings, p, start)


def _load() -> tuple[Function, Trial]:
    from mjx_like.solver.newton_kernel import newton_kernel, newton_trial  # here: see `on_gpu`

    return newton_kernel, newton_trial


def takes(p: Problem) -> bool:
    """Return whether the kernel takes problems of this kind: single precision and few dofs."""
    return p.M.dtype == jnp.float32 and 0 < p.M.shape[-1] <= MOST and p.J.shape[-2] > 0
