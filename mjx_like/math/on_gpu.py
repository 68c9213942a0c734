"""Where kernels of our own run: on a GPU of NVIDIA, once they have agreed with the plain operations there.

What a kernel is written with takes 0.3 s to import: it is imported where there is a GPU.
"""

import functools
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jax import lax

MOST = 64  # dofs
SWITCH = "MJX_LIKE_KERNELS"  # environment variable; "off": plain operations everywhere
_CLOSE = 1e-3  # single precision, well-conditioned trials

Function = Callable[..., Any]
Trial = Callable[[], tuple[Function, Function, tuple[Any, ...]]]


def anywhere(
    load: Callable[[], tuple[Function, Trial]], plain: Function, *args: Any, fixed: tuple[Any, ...] = ()
) -> Any:
    """Return what `plain` does, by a kernel where the program is compiled for a GPU of NVIDIA.

    load: imports the kernel, and returns it and a trial. That returns the kernel, the plain operations and a small
    problem to try them on, before the kernel is first used. fixed: what both functions take first, static.
    """
    plain = functools.partial(plain, *fixed)
    if jax.default_backend() != "gpu":
        return plain(*args)
    kernel, trial = load()
    if not works(trial):
        return plain(*args)
    return lax.platform_dependent(*args, cuda=_for_device(functools.partial(kernel, *fixed)), default=plain)


def works(trial: Trial) -> bool:
    """Return whether a kernel may be used: not where it is switched off, or fails on the device at hand.

    Where programs are compiled for a GPU that is not there, there is nothing to try it on.
    """
    if os.environ.get(SWITCH, "on") == "off" or not _has_triton():
        return False
    return not _at_hand() or _agrees(trial)


def _at_hand() -> bool:
    """Return whether there is a GPU, and not only programs for one."""
    return jax.devices()[0].platform == "gpu"


def _for_device(kernel: Function) -> Function:
    """Return a kernel that knows what it is compiled for, which jax 0.11 asks for and earlier releases cannot be told.

    Where no GPU is at hand, and the caller has not named one, an H100 stands for the one that it is compiled for.
    """
    if _at_hand() or not hasattr(jax.sharding, "AbstractDevice"):
        return kernel
    given = jax.sharding.get_abstract_mesh()
    if given.abstract_device is not None:
        return kernel
    mesh = given.update(abstract_device=jax.sharding.AbstractDevice("NVIDIA H100", 132, "gpu"))

    def named(*args: Any) -> Any:
        with jax.sharding.use_abstract_mesh(mesh):
            return kernel(*args)

    return named


def _has_triton() -> bool:
    """Return whether kernels can be compiled: jax 0.11 calls what they are written with deprecated."""
    try:
        from jax.experimental.pallas import triton  # noqa: F401
    except ImportError:
        return False
    return True


_tried: dict[Trial, bool] = {}


def _agrees(trial: Trial) -> bool:
    if trial not in _tried:
        failure = _failure(trial)
        if failure:
            device = jax.devices()[0].device_kind
            warnings.warn(
                f"{trial.__name__}: plain operations instead of a kernel on {device}: {failure}", stacklevel=2
            )
        _tried[trial] = not failure
    return _tried[trial]


def _failure(trial: Trial) -> str:
    """Return what is wrong with a kernel's result, or why there is none; nothing where it is right.

    A thread of its own runs the trial, since this one traces the program that asks, and would trace it in.
    """

    def both() -> list[Any]:
        own, plain, args = trial()
        return [jax.tree.leaves(jax.jit(f)(*args)) for f in (own, plain)]

    with ThreadPoolExecutor(1) as thread:
        try:
            results = thread.submit(both).result()
        except Exception as error:  # whatever the compiler or the driver says: plain operations are there
            return str(error).partition("\n")[0] or type(error).__name__
    close = all(np.allclose(a, b, rtol=_CLOSE, atol=_CLOSE) for a, b in zip(*results, strict=True))
    return "" if close else "its result is another"
