"""Print sizes, options, capacities of a model, and what of it is not supported."""

import argparse

import numpy as np

from mjx_like.cli.setup import add_model_arguments, add_option_arguments, load
from mjx_like.hard_contact import without_meaning
from mjx_like.state.memory import data_bytes
from mjx_like.types.enums import ConeType, DisableBit, EnableBit, IntegratorType, JointType, SolverType
from mjx_like.types.model import Model

SIZES = (
    "nq nv nu na nactuator nbody njnt ntree ngeom nsite ncam nlight nmesh nhfield nflex npair nexclude neq ntendon "
    "nsensor nsensordata nkey nmocap"
).split()
METHODS = {
    SolverType.NEWTON: "Newton's method on the primal problem",
    SolverType.CG: "conjugate gradients on the primal problem, island by island",
    SolverType.PGS: "projected Gauss-Seidel on the dual problem, island by island",
}
LARGEST = 5  # fields of Data that are shown
FLOATS = ("timestep", "tolerance", "ls_tolerance", "impratio", "gravity", "wind", "density", "viscosity")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_option_arguments(parser)


def run(args: argparse.Namespace) -> None:
    print(describe(args.model, load(args)))


def describe(title: str, m: Model) -> str:
    """Return the description of a model as text."""
    lines = [title, "sizes"]
    lines += [f"  {name:<12} {getattr(m, name)}" for name in SIZES if getattr(m, name)]
    lines += [f"  {'mass':<12} {float(np.sum(m.body_mass)):.6g} kg", "joints"]
    kinds = np.asarray(m.jnt_type)
    lines += [f"  {kind.name.lower():<12} {np.sum(kinds == kind)}" for kind in JointType if np.any(kinds == kind)]
    lines += ["options", *options(m), "capacities"]
    lines += [f"  nconmax      {m.nconmax} contacts", f"  njmax        {m.njmax} constraint rows"]
    lines += memory(m)
    lines += ["not supported"] if m.unsupported else ["not supported: nothing; the engine can run all of it"]
    lines += [f"  {item}" for item in m.unsupported]
    return "\n".join(lines)


def memory(m: Model) -> list[str]:
    """Return the lines about the memory of one world."""
    fields = data_bytes(m)
    total = sum(fields.values())
    lines = ["memory of a world", f"  {'Data':<12} {_bytes(total)}"]
    large = [(name, size) for name, size in list(fields.items())[:LARGEST] if size > 0.05 * total]
    return lines + [f"    {name:<22} {_bytes(size)}, {size / total:.0%}" for name, size in large]


def _bytes(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def options(m: Model) -> list[str]:
    """Return the lines about the model's options."""
    o = m.opt
    enums = {"integrator": IntegratorType, "cone": ConeType, "solver": SolverType}
    lines = [f"  {name:<12} {kind(getattr(o, name)).name.lower()}" for name, kind in enums.items()]
    lines[-1] += f": {METHODS[SolverType(o.solver)]}"
    if m.hard is not None:
        gap, slip, recovery = float(o.gap), float(o.slip), float(o.recovery)
        lines += [
            f"  contact      hard: gap {gap:g} m, slip {slip:g} m/s, recovery {recovery:g} m/s",
            f"               at most {o.contact_iterations} steps a solve, contacts found again {o.refresh} times",
        ]
        if m.hard.rebounds:
            rebound = f"restitution {float(o.restitution):g} above {float(o.rebound_speed):g} m/s"
            lines += [f"               {rebound}"]
        lines += [] if o.grad_gap is None else [f"               derivatives at a gap of {float(o.grad_gap):g} m"]
        lines += ["               mocap bodies push at no more than the speed of recovery"] if m.nmocap else []
        lines += ["               RK4 steps as Euler"] if o.integrator == IntegratorType.RK4 else []
        lines += [f"               no meaning: {', '.join(unused)}"] if (unused := without_meaning(m)) else []
    lines += [f"  noslip       {o.noslip_iterations} sweeps at most after the solver"] if o.noslip_iterations else []
    lines += [f"  {name:<12} {getattr(o, name)}" for name in ("iterations", "ls_iterations")]
    for name in FLOATS:
        value = np.asarray(getattr(o, name))
        if name in ("timestep", "tolerance", "gravity") or np.any(value != (name == "impratio")):
            lines.append(f"  {name:<12} {' '.join(f'{x:.6g}' for x in value.ravel())}")
    for label, kind, bits in (("disabled", DisableBit, o.disableflags), ("enabled", EnableBit, o.enableflags)):
        if names := [bit.name.lower() for bit in kind if bits & bit]:
            lines.append(f"  {label:<12} {' '.join(names)}")
    return lines
