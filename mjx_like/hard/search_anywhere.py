"""The search for the central path, by plain operations or by the kernel."""

import jax
import jax.numpy as jnp

from mjx_like.hard.interior_point import Found
from mjx_like.hard.problem import Problem
from mjx_like.hard.search import search
from mjx_like.math.on_gpu import MOST, Function, Trial, anywhere

Array = jax.Array


def search_anywhere(iterations: int, p: Problem, nu: Array, wanted: Array) -> Found:
    """Return what `search` does, by the kernel where the program is compiled for a GPU of NVIDIA and it takes `p`."""
    args = (p, nu, wanted)
    return anywhere(_load, search, *args, fixed=(iterations,)) if takes(p) else search(iterations, *args)


def _load() -> tuple[Function, Trial]:
    from mjx_like.hard.search_kernel import search_kernel, search_trial  # here: see `on_gpu`

    return search_kernel, search_trial


def takes(p: Problem) -> bool:
    """Return whether the kernel takes problems of this kind.

    They have single precision, few dofs, pairs beside limits, and surfaces that do not move.
    """
    friction = p.contact.J.shape[-2] > 0 or not p.contact.k.shape[-1]
    still = p.contact.surface is None
    return still and p.A.dtype == jnp.float32 and 0 < p.A.shape[-1] <= MOST and p.J.rest.shape[-2] > 0 and friction
