"""A and B of MuJoCo C's differences beside ours, at the same knots: of a task's guess, and where C's loop ends.

python -m benchmarks.control.differences box_right --eps 1e-6
"""

import argparse
import itertools
import time

import jax
import mujoco
import numpy as np

import mjx_like as mjx
from benchmarks.control.__main__ import EPS, TOLERANCE, InC
from mjx_like.control import ilqr
from mjx_like.control.linearisation import linearise_at
from mjx_like.control.states import States
from mjx_like.control.tasks import TASKS

OFF = 1e-2  # differences of elements of A or B that count


def knots(c: InC, ctrl: np.ndarray) -> States:
    """Return the state before each of C's steps, with the solver's guess there.  ctrl: shape (steps, nu)."""
    mujoco.mj_resetData(c.m, c.d)
    c.set(States(*(np.asarray(getattr(c.task.d, name))[None] for name in States._fields)), 0, ctrl[0])
    found = []
    for u in ctrl:
        found.append(States(c.d.time, *(getattr(c.d, name).copy() for name in States._fields[1:])))
        c.d.ctrl[:] = u
        mujoco.mj_step(c.m, c.d)
    return States(*(np.stack(x) for x in zip(*found, strict=True)))


def differences(c: InC, at: States, ctrl: np.ndarray, eps: float, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return C's A and B at each knot.  at: states before each step; ctrl: shape (steps, nu)."""
    nx, default = 2 * c.m.nv + c.m.na, c.m.opt.tolerance
    A, B = np.zeros((len(ctrl), nx, nx)), np.zeros((len(ctrl), nx, c.m.nu))
    c.m.opt.tolerance = tolerance
    for k, u in enumerate(ctrl):
        c.set(at, k, u)
        mujoco.mjd_transitionFD(c.m, c.d, eps, True, A[k], B[k], None, None)
    c.m.opt.tolerance = default
    return A, B


def depths(c: InC, at: States, ctrl: np.ndarray) -> np.ndarray:
    """Return the least distance from zero of a contact's distance at each knot [m]; infinite without contact."""
    found = []
    for k, u in enumerate(ctrl):
        c.set(at, k, u)
        mujoco.mj_forward(c.m, c.d)
        found.append(min((abs(x.dist) for x in c.d.contact), default=np.inf))
    return np.array(found)


def report(label: str, c: InC, ours: tuple, at: States, ctrl: np.ndarray) -> None:
    """Print how far C's A and B are from ours, without the first knot: from it no state moves."""
    print(f"{label}: median depth of the shallowest contact {np.median(depths(c, at, ctrl)):.2g} m")
    print(
        "| eps | tolerance | knots with A off | largest | median | B off | largest | ms a knot |\n" + "|---" * 8 + "|"
    )
    for eps, tolerance in itertools.product(EPS, (float(c.m.opt.tolerance), TOLERANCE, 0.0)):
        began = time.perf_counter()
        theirs = differences(c, at, ctrl, eps, tolerance)
        each = 1e3 * (time.perf_counter() - began) / len(ctrl)
        a, b = (np.abs(x - y).max((1, 2))[1:] for x, y in zip(ours, theirs, strict=True))
        print(
            f"| {eps:g} | {tolerance:g} | {(a > OFF).sum()} of {len(a)} | {a.max():.2g} | {np.median(a):.2g} | "
            f"{(b > OFF).sum()} | {b.max():.2g} | {each:.2f} |"
        )


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--eps", type=float, default=EPS[0], help="size of the differences that C's loop uses")
    parser.add_argument("--iterations", type=int, default=200)
    args = parser.parse_args()
    mjx.compile_quickly()
    jax.config.update("jax_enable_x64", True)
    task = TASKS[args.task]()
    c = InC(args.task, task, args.eps)
    linear = jax.jit(lambda at, ctrl: linearise_at(task.m, task.d, at, ctrl))
    for label, iterations in (("guess", 0), ("end", args.iterations)):
        with c.engine():
            found = ilqr(task.m, task.d, task.cost, task.ctrl, iterations=iterations, progress=False)
        ctrl = np.asarray(found.ctrl)
        at = knots(c, ctrl)
        ours = [np.asarray(x) for x in linear(at, ctrl)]
        report(f"{label}, cost {float(found.cost):.4g}", c, ours, at, ctrl)


if __name__ == "__main__":
    main()
