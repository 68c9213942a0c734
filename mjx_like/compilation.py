"""What makes JAX compile quickly: programs kept on disk, the emitters that take less time, a calm garbage collector."""

import gc
import os
import pathlib

import jax
import jaxlib

from mjx_like.errors import InputError, shown

_EMITTERS = "xla_cpu_use_fusion_emitters"
_WITHOUT = (0, 11)  # jaxlib that no longer has that flag: it would end the process
_COLLECT_AFTER = 10_000  # new objects
_LEAST_SECONDS = 0.3  # what compiles faster is not kept


def compile_quickly(folder: str | os.PathLike | None = None) -> pathlib.Path:
    """Make this process compile quickly, and return the folder where it keeps compiled programs.

    Call it before JAX's first array: XLA reads its flags once. A program that a process has compiled is read from the
    folder by later ones, in about a second; a program is another one after any change of it, of the shapes, or of
    jax's version. Nothing is ever deleted: the folder can be, at any time. This sets JAX's own
    `jax_compilation_cache_dir` and, on jaxlib below 0.11, adds `--xla_cpu_use_fusion_emitters=false` to XLA_FLAGS
    unless the flag is there: programs of this package then compile in half the time on a CPU, and run faster
    (docs/performance.md). Results change by rounding. Python's cyclic garbage collector, which walks over all that a
    trace has made again and again, runs after 10,000 new objects instead of 700.

    Args:
      folder: where to keep programs; None for JAX_COMPILATION_CACHE_DIR or, without it, mjx_like under XDG_CACHE_HOME
        or ~/.cache.

    Raises:
      InputError: `folder` is no path, or names a file.
    """
    chosen = _default_folder() if folder is None else folder
    if not isinstance(chosen, (str, os.PathLike)):
        raise InputError(f"folder={shown(folder)}: must be the path of a folder, or None")
    path = pathlib.Path(chosen).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder={shown(str(chosen))}: cannot keep programs there: {error.strerror}") from None
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _LEAST_SECONDS)
    choose_emitters()
    first, second, third = gc.get_threshold()
    if 0 < first < _COLLECT_AFTER:
        gc.set_threshold(_COLLECT_AFTER, max(second, 50), third)
    return path


def choose_emitters() -> None:
    """Set the flag of `compile_quickly`, for this process and those that it starts."""
    flags = os.environ.get("XLA_FLAGS", "")
    if tuple(map(int, jaxlib.__version__.split(".")[:2])) < _WITHOUT and _EMITTERS not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --{_EMITTERS}=false".strip()


def _default_folder() -> str | pathlib.Path:
    own = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return own or pathlib.Path(cache) / "mjx_like"
