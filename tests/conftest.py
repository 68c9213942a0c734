"""Test set-up: float64, and cheap compilation (results unchanged), before jax is imported."""

import gc
import importlib.metadata
import os

QUICK = "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1"  # both cores have a worker
if tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2])) < (0, 11):
    QUICK += " --xla_cpu_use_fusion_emitters=false"  # later releases end the process over it
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK}"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
gc.set_threshold(10_000, 50, 10)  # tracing makes many objects that live on: collections took a seventh of the time

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
