"""What the peers share: the job that they are given, clocks, counts of a compiled program, and their answer.

A peer is a process of its own: `python mjx_like/bench/peers/<peer>.py JOB.json`. It pins itself to one core, reads the
states and controls that all peers replay, waits for its turns to measure, and writes its answer to the job's `out`.
This module is free of jax and mujoco until a function needs them.
"""

import json
import os
import pathlib
import re
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LEAST_SECONDS = 1.0


def start() -> dict[str, Any]:
    """Return the job named on the command line, after pinning this process as it says."""
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    if job["platform"] == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    else:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the peers share the device
    return job


def finish(job: dict[str, Any], answer: dict[str, Any]) -> None:
    """Write the answer, with the peak memory of this process [MiB]."""
    answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pathlib.Path(job["out"]).write_text(json.dumps(answer, default=float))


def inputs(job: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the replayed states (batch, ...), controls (batch, steps, nu) and samples with C's acceleration."""
    with np.load(job["states"]) as file:
        return dict(file)


def timed(run: Callable[[], Any], work: int) -> dict[str, Any]:
    """Return steps per second of wall and of CPU time of `run`, which does `work` steps: medians over the rounds.

    A round takes a second or more. It begins when the process that compares engines writes a line.
    """
    rounds = []
    print("ready", flush=True)
    while sys.stdin.readline():
        rounds.append(_round(run, work))
        print("ready", flush=True)
    wall, cpu = zip(*(rounds or [_round(run, work)]), strict=True)
    return {"wall_rate": np.median(wall), "cpu_rate": np.median(cpu), "cpu_rates": cpu}


def _round(run: Callable[[], Any], work: int) -> tuple[float, float]:
    repeats, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < LEAST_SECONDS:
        run()
        repeats += 1
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return repeats * work / wall, repeats * work / cpu


def compiled(function: Callable, *args: Any) -> tuple[Callable, dict[str, float]]:
    """Return `function` compiled for `args`; trace and compile seconds; numbers of equations and HLO instructions."""
    import jax

    begin = time.perf_counter()
    trace = jax.jit(function).trace(*args)
    lowered = trace.lower()
    middle = time.perf_counter()
    program = lowered.compile()
    end = time.perf_counter()
    instructions = re.findall(r"^\s+(?:ROOT )?%?[\w.-]+ = ", program.as_text(), re.MULTILINE)
    counts = {"equations": equations(trace.jaxpr.jaxpr), "hlo": len(instructions)}
    return program, {"trace_s": middle - begin, "compile_s": end - middle, **counts}


def equations(jaxpr: Any) -> int:
    """Return the number of equations of a jaxpr and of all that it calls."""
    total = len(jaxpr.eqns)
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for inner in value if isinstance(value, list | tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                total += equations(inner) if hasattr(inner, "eqns") else 0
    return total


def spread(name: str, values: Any) -> dict[str, float]:
    """Return mean, 95 % quantile and maximum under `name`."""
    values = np.asarray(values, float)
    return {f"{name}_mean": values.mean(), f"{name}_p95": np.quantile(values, 0.95), f"{name}_max": values.max()}


def error(ours: Any, reference: np.ndarray) -> dict[str, float]:
    """Return median and maximum over the samples of |a - a*| / |a*|, a* C's converged acceleration."""
    wrong = np.linalg.norm(np.asarray(ours, float) - reference, axis=-1) / np.linalg.norm(reference, axis=-1)
    return {"error_median": np.median(wrong), "error_max": wrong.max()}
