"""Test set-up: float64, and cheap compilation (results unchanged), before jax is imported; bounded memory."""

import ctypes
import gc
import importlib.metadata
import os
import pathlib
from collections.abc import Iterator

import pytest

QUICK = "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1"  # both cores have a worker
if tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2])) < (0, 11):
    QUICK += " --xla_cpu_use_fusion_emitters=false"  # later releases end the process over it
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK}"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
gc.set_threshold(10_000, 50, 10)  # tracing makes many objects that live on: collections took a seventh of the time

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

MOST = 4e9  # bytes of a worker, above which it forgets its programs; two workers had 15 GB at the end
_STATM = pathlib.Path("/proc/self/statm")
_LIBC = ctypes.CDLL(None)


@pytest.fixture(autouse=True, scope="module")
def _bounded_memory() -> Iterator[None]:
    yield
    if _STATM.exists() and int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") > MOST:
        jax.clear_caches()
        gc.collect()
        if hasattr(_LIBC, "malloc_trim"):  # glibc keeps what is free: all later modules would end so, too
            _LIBC.malloc_trim(0)
