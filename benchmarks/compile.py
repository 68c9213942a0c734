"""How much text the programs of a model are, and how long they take to compile: `python -m benchmarks.compile`.

Run it from the root of the repository, on a machine that does nothing else. Each row is a process of its own, without
the cache of compiled programs. Equations of the jaxpr and lines of StableHLO are what is traced, HLO lines, fusions and
bytes, each loop's once, what XLA makes of it. The gradient is that of a rollout by its controls and its first
velocities; `written` is that of five steps written out in a Python loop, by the velocities. `--flags default` leaves
out what `mjx_like.compile_quickly` sets; `--peer` adds MJX where it takes the model.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {path.stem: path for path in sorted([*ROOT.glob("models/*.xml"), *ROOT.glob("benchmarks/models/*.xml")])}
MODELS |= {path.stem: path for path in sorted(ROOT.glob("tests/models/features/pair_*.xml"))}
DEFAULT = "arm,humanoid,ant,quadruped,hopper,pair_box_box,pair_cylinder_box,every_geom,every_sensor"
FUNCTIONS = ("step", "batch", "rollout", "gradient", "jacobian", "written")
STEPS, WRITTEN, WORLDS = 50, 5, 8
COUNTS = ("equations", "lines", "hlo", "fusions", "kB")
COLUMNS = ("model", "function", "engine", *COUNTS, "trace s", "compile s", "peak MiB")


def function_of(m: Any, d: Any, name: str, engine: Any) -> tuple[Callable[..., Any], tuple]:
    """Return the function of a name and its arguments; engine: mjx_like or mujoco.mjx."""
    import jax
    import jax.numpy as jnp

    ctrl = jnp.zeros((STEPS, m.nu), d.qpos.dtype)

    def end(ctrl, qvel):
        start = d.replace(qvel=qvel)
        if engine.__name__ == "mjx_like":
            return jnp.sum(engine.rollout(m, start, ctrl, record=lambda d: d.qpos)[-1])
        last = jax.lax.scan(lambda d, u: (engine.step(m, d.replace(ctrl=u)), None), start, ctrl)[0]
        return jnp.sum(last.qpos)

    def written(qvel):
        x = d.replace(qvel=qvel)
        for _ in range(WRITTEN):
            x = engine.step(m, x)
        return jnp.sum(x.qpos)

    def batch(worlds):
        return jax.vmap(lambda d: engine.step(m, d))(worlds)

    if name == "step":
        return lambda d: engine.step(m, d), (d,)
    if name == "batch":
        return batch, (jax.tree.map(lambda x: jnp.broadcast_to(x, (WORLDS, *x.shape)), d),)
    if name == "jacobian":
        return lambda d: engine.transition_jacobian(m, d), (d,)
    if name == "written":
        return jax.grad(written), (d.qvel,)
    return (end if name == "rollout" else jax.grad(end, (0, 1))), (ctrl, d.qvel)


def loaded(path: pathlib.Path, name: str, engine: str = "mjx_like") -> tuple[Callable[..., Any], tuple]:
    """Return the function of a name for the model of a file, and its arguments."""
    if engine == "mjx":
        import mujoco
        from mujoco import mjx

        m = mjx.put_model(mujoco.MjModel.from_xml_path(str(path)))
        return function_of(m, mjx.make_data(m), name, mjx)
    import mjx_like

    m = mjx_like.Model.from_xml_path(str(path))
    return function_of(m, mjx_like.make_data(m), name, mjx_like)


def lowered(function: Callable[..., Any], arguments: tuple) -> Any:
    """Return a function traced and lowered."""
    import jax

    return jax.jit(function).lower(*arguments)


def lines(program: Any) -> int:
    """Return the number of lines of StableHLO of a lowered function."""
    return program.as_text().count("\n")


def main() -> None:
    """Print a row for each model and function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=DEFAULT, help=f"comma-separated, names or files (default: {DEFAULT})")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="comma-separated (default: all)")
    parser.add_argument("--flags", choices=("quick", "default"), default="quick")
    parser.add_argument("--peer", action="store_true", help="also MJX")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a row gets (default: 600)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    files = {name for name in args.models.split(",") if pathlib.Path(name).is_file()}
    for option, known in (("models", {*MODELS, *files}), ("functions", FUNCTIONS)):
        unknown = sorted(set(getattr(args, option).split(",")) - set(known))
        if unknown:
            parser.error(f"--{option}: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    if args.worker:
        print(json.dumps(measured(args.models, args.functions, args.worker)))
        return
    if args.flags == "quick":
        from mjx_like.compilation import choose_emitters

        choose_emitters()  # the processes of the rows inherit it
    print(("{:18}{:10}{:9}" + "{:>10}" * 8).format(*COLUMNS))
    for model in args.models.split(","):
        for name in args.functions.split(","):
            for engine in ("mjx_like", "mjx") if args.peer else ("mjx_like",):
                _print(args, model, name, engine)


def _print(args: argparse.Namespace, model: str, name: str, engine: str) -> None:
    command = [sys.executable, "-m", __spec__.name, "--models", model, "--functions", name, "--worker", engine]
    head = f"{pathlib.Path(model).stem:18}{name:10}{engine:9}"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit)
    except subprocess.TimeoutExpired:
        print(f"{head} more than {args.limit:g} s", flush=True)
        return
    if done.returncode:
        print(f"{head} {(done.stderr.strip().splitlines() or ['it failed'])[-1][:90]}", flush=True)
        return
    row = json.loads(done.stdout.splitlines()[-1])
    print(head + "".join(f"{x:>10,}" if isinstance(x, int) else f"{x:>10.1f}" for x in row), flush=True)


def measured(model: str, name: str, engine: str) -> list[float]:
    """Return COUNTS, seconds to trace and lower, seconds to compile, peak memory [MiB]; name: of the function."""
    import jax

    from mjx_like.bench.peers.job import equations

    function, arguments = loaded(MODELS.get(model, pathlib.Path(model)), name, engine)
    begin = time.perf_counter()
    traced = jax.jit(function).trace(*arguments)
    program = traced.lower()
    middle = time.perf_counter()
    compiled = program.compile()
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    text, accessed = compiled.as_text(), round(compiled.cost_analysis()["bytes accessed"] / 1000)
    counts = [equations(traced.jaxpr.jaxpr), lines(program), text.count("\n"), text.count(" fusion("), accessed]
    return [*counts, middle - begin, end - middle, peak]


if __name__ == "__main__":
    main()
