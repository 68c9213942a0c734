"""What a program costs on an H100, counted without one: kernels that are launched and bytes that they move.

`python -m benchmarks.gpu_meter [MODEL ...]` compiles a rollout of 8192 worlds ahead of time and prints a row for each
model; `--gradient` counts its gradient, `--contact hard` its steps with hard contact. Without models it counts those of
`CEILINGS` and fails above one of them: the guard of what a GPU would have to do. It needs the CUDA plugin of the jax at
hand and its assembler (`pip install "jax-cuda12-plugin==JAX" "jax-cuda12-pjrt==JAX" nvidia-cuda-nvcc-cu12`), neither a
GPU nor a driver.

Bytes are those of the operands and results of each kernel, an upper bound where it reads part of them. A loop whose
count is not known counts four times, of the branches of a conditional the dearer counts. The bound is what bandwidth
and launches alone would allow. It ranks designs: real programs are several times slower.
"""

import argparse
import dataclasses
import functools
import glob
import math
import os
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH, STEPS, PASSES = 8192, 10, 4
BANDWIDTH, LAUNCH = 3.35e12, 2.5e-6  # bytes/s and seconds; NVIDIA's data sheet of the H100 SXM, and experience
# Kernels a step, and kB a world and step.
CEILINGS = {
    "models/humanoid.xml": (125, 400),
    "models/ant.xml": (112, 110),
    "models/half_cheetah.xml": (80, 65),
    "models/quadruped.xml": (133, 280),
}
_TARGET = """platform_name: "CUDA" device_description_str: "NVIDIA H100 80GB HBM3"
dnn_version_info { major: 9 minor: 7 } runtime_version { major: 12 minor: 9 patch: 0 }
gpu_device_info { cuda_compute_capability { major: 9 } core_count: 132 fpus_per_core: 128 clock_rate_ghz: 1.98
threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048 shared_memory_per_block: 49152
shared_memory_per_core: 233472 shared_memory_per_block_optin: 232448 registers_per_core_limit: 65536
registers_per_block_limit: 65536 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
memory_bandwidth: 3352320000000 l2_cache_size: 52428800 device_memory_size: 84929347584 }"""
_WIDTHS = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "f32": 4, "s32": 4, "u32": 4}
_WIDTHS |= {"f64": 8, "s64": 8, "u64": 8}
_FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id", "replica-id"}


class NoCompiler(Exception):
    """The CUDA plugin of jax is not installed."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Kernels and bytes of one step of all worlds."""

    kernels: float
    bytes: float

    @property
    def bound(self) -> float:
        """World steps per second that bandwidth and launches allow."""
        return BATCH / (self.bytes / BANDWIDTH + self.kernels * LAUNCH)


@functools.cache
def _place():
    """Return a sharding on one H100 that is not there, after setting JAX up to compile for it."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    tools = [
        str(pathlib.Path(x).parents[1])
        for x in glob.glob(f"{sys.prefix}/lib/python*/site-packages/nvidia/cu*/bin/ptxas")
    ]
    own = f"--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false --xla_gpu_cuda_data_dir={(*tools, '')[0]}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {own}"
    import jax
    import numpy as np
    from jax._src import xla_bridge
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    try:
        h100 = topologies.get_topology_desc("1x1x1", platform="cuda", target_config=_TARGET, topology="1x1x1")
    except Exception as error:
        raise NoCompiler(
            "no CUDA plugin of jax to compile for a GPU: see python -m benchmarks.gpu_meter --help"
        ) from error
    known = xla_bridge.canonicalize_platform
    xla_bridge.canonicalize_platform = lambda name: name if name == "cuda" else known(name)
    jax.default_backend = lambda: "gpu"  # what the engine asks when it chooses its operations
    return NamedSharding(Mesh(np.array(h100.devices[:1]), ("x",)), PartitionSpec())


def program_text(path: str, gradient: bool = False, contact: str = "soft") -> str:
    """Return the optimised HLO of a rollout of `BATCH` worlds of a model, or of its gradient by the controls."""
    place = _place()
    import jax

    import mjx_like as mjx

    m = mjx.Model.from_xml_path(path, contact=contact)
    d = mjx.make_data(m)

    def shape(x, *lead):
        return jax.ShapeDtypeStruct((*lead, *x.shape), x.dtype, sharding=place)

    def end(ctrl, m, d):
        return mjx.rollout(m, d, ctrl, record=lambda d: d.qpos)

    ctrl = jax.ShapeDtypeStruct((BATCH, STEPS, m.nu), d.qpos.dtype, sharding=place)
    function = jax.grad(lambda *args: end(*args)[..., 0].sum()) if gradient else end
    args = ctrl, jax.tree.map(shape, m), jax.tree.map(lambda x: shape(x, BATCH), d)
    return jax.jit(function).lower(*args).compile().as_text()


def cost(text: str) -> Cost:
    """Return the cost of a step of a program of `STEPS` steps."""
    bodies, entry = _computations(text)
    moved = [(times, size) for times, size in _kernels(bodies, entry, 1)]
    return Cost(sum(t for t, _ in moved) / STEPS, sum(t * size for t, size in moved) / STEPS)


@dataclasses.dataclass(frozen=True)
class _Instruction:
    kind: str  # of its result
    operation: str
    rest: str

    def called(self, key: str) -> list[str]:
        found = re.search(key + r"=(?:\{([^}]*)\}|(%[\w.-]+))", self.rest)
        return re.findall(r"%([\w.-]+)", "".join(x or "" for x in found.groups())) if found else []


def _computations(text: str) -> tuple[dict[str, dict[str, _Instruction]], str]:
    """Return the instructions of each computation by name, and the name of the first to run."""
    bodies, now, entry = {}, {}, ""
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%?([\w.-]+) \(.*\{$", line)
        if head:
            now = bodies[head[2]] = {}
            entry = head[2] if head[1] else entry
            continue
        found = re.match(r"\s+(?:ROOT )?%([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\((.*)$", line)
        if found:
            now[found[1]] = _Instruction(found[2], found[3], found[4])
    return bodies, entry


def _size(kind: str) -> int:
    """Return the bytes of arrays of a type."""
    arrays = re.findall(r"\b(" + "|".join(_WIDTHS) + r")\[([\d,]*)\]", kind)
    return sum(_WIDTHS[name] * math.prod(int(n) for n in dims.split(",") if n) for name, dims in arrays)


def _kernels(bodies: dict, name: str, times: int) -> Iterator[tuple[int, int]]:
    """Yield how often each kernel of a computation runs, and the bytes that it moves."""
    body = bodies[name]
    for step in body.values():
        if step.operation == "while":
            known = re.search(r"known_trip_count\D*(\d+)", step.rest)
            for part in step.called("body") + step.called("condition"):
                yield from _kernels(bodies, part, times * (int(known[1]) if known else PASSES))
        elif step.operation == "conditional":
            names = step.called("branch_computations")
            names = names or step.called("true_computation") + step.called("false_computation")
            branches = [list(_kernels(bodies, x, times)) for x in names]
            yield from max(branches, key=lambda rows: sum(t * size for t, size in rows))
        elif step.operation == "call":
            yield from _kernels(bodies, step.called("to_apply")[0], times)
        elif step.operation not in _FREE:
            operands = re.findall(r"%([\w.-]+)", step.rest.split(")")[0])
            yield times, _size(step.kind) + sum(_size(body[x].kind) for x in operands if x in body)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--gradient", action="store_true", help="count the gradient of the rollout")
    parser.add_argument("--contact", choices=("soft", "hard"), default="soft", help="soft contact, or hard")
    args = parser.parse_args()
    above = False
    for path in args.models or [str(ROOT / name) for name in CEILINGS]:
        try:
            found = cost(program_text(path, args.gradient, args.contact))
        except NoCompiler as error:
            print(error, file=sys.stderr)
            return 2
        name, kB = os.path.relpath(path), found.bytes / BATCH / 1e3
        row = f"{name}: {found.kernels:.0f} kernels a step, {kB:.0f} kB a world and step"
        row += f", at most {found.bound:,.0f} steps/s"
        ceiling = None if args.models else CEILINGS[name]
        if ceiling and (found.kernels > ceiling[0] or kB > ceiling[1]):
            row, above = f"{row}: ABOVE {ceiling[0]} kernels or {ceiling[1]} kB", True
        print(row, flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
