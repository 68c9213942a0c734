"""Row trajectories: iLQR through hard contact, from smooth to hard, beside the figures of the paper's table III."""

import pathlib
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save
from mjx_like.control import Cost, ilqr
from mjx_like.control.tasks import TASKS, Task

GAPS = {  # first and last gap [m], stages; 3e-4 is the paper's kappa of 3e-4 J for a kilogram at 0.1 s
    "1e-3 to 1e-5 m": (1e-3, 1e-5, 3),
    "1e-2 to 1e-5 m": (1e-2, 1e-5, 4),
    "1e-5 m alone": (1e-5, 1e-5, 1),
    "3e-4 m alone": (3e-4, 3e-4, 1),
}
TOLERANCE = 1e-3  # of the cost, where gaps fall; 1e-7 where there is one
EARLY = 20  # iterations of a stage that is not the last, at most
VIOLATION = 5e-3


class Problem(NamedTuple):
    """A task at the paper's time step and horizon, with its goal and the iterations that the paper reports."""

    task: Task
    h: float  # s
    goal: np.ndarray  # of the first three positions at the end
    iterations: int
    gaps: tuple[str, ...]


def trajectories(out: pathlib.Path | None) -> None:
    """Box to the right and up, and the hopper."""
    print(f"iLQR with hard contact; replayed open loop at the default gap; the paper: violation below {VIOLATION}")
    plot, axes = figure(1, len(PROBLEMS), 9.5, 2.8)
    for axis, (name, make) in zip(axes[0], PROBLEMS.items(), strict=True):
        problem = make()
        knots = len(problem.task.ctrl) + 1
        print(f"  {name}: {knots} knots, h = {problem.h}; the paper: {problem.iterations} iterations")
        path = np.concatenate([np.asarray(problem.task.d.qpos)[None], _solved(problem)])
        for k, label in enumerate(("x", "z")):
            axis.plot(np.arange(len(path)) * problem.h, path[:, k], ".-", lw=0.9, ms=3, label=label)
            axis.axhline(problem.goal[k], lw=0.5, ls=":", color="k")
        axis.set_title(f"{name}: replay at gap 1e-5 m [m]")
        axis.set_xlabel("time [s]")
        axis.legend()
    if out:
        save(plot, out / "hard_trajectories.png")


def _solved(problem: Problem) -> np.ndarray:
    """Print iterations and violations by gaps, and return the first's path at the default gap."""
    m = problem.task.m.tree_replace({"opt.timestep": jnp.asarray(problem.h)})
    d = problem.task.d
    replay = jax.jit(lambda ctrl: mjx.rollout(mjx.with_hard_contact(m), d, ctrl).qpos)
    first = None
    for label in problem.gaps:
        start, end, stages = GAPS[label]
        tolerance = TOLERANCE if stages > 1 else 1e-7
        ctrl, counts, begin = problem.task.ctrl, [], time.perf_counter()
        most = [EARLY] * (stages - 1) + [200]
        for stage, iterations in zip(mjx.anneal_contact(m, start, end, stages), most, strict=True):
            options = {"iterations": iterations, "tolerance": tolerance, "progress": False}
            found = ilqr(stage, d, problem.task.cost, ctrl, **options)
            ctrl, counts = found.ctrl, [*counts, int(found.iterations)]
        path = np.asarray(replay(ctrl))
        first = path if first is None else first
        off = [np.abs(np.asarray(x)[-1, :3] - problem.goal).max() for x in (found.qpos, path)]
        print(
            f"    gap {label:<14}: {sum(counts)} iterations {counts}, violation {off[0]:.1e}, replayed {off[1]:.1e}"
            f" (cost {float(found.cost):.4g}; {time.perf_counter() - begin:.0f} s)",
            flush=True,
        )
    return first


def _box(goal: str, iterations: int) -> Problem:
    """Return the task from no forces at all."""
    task = TASKS[f"box_{goal}"](steps=10, contact="hard")
    place = np.array([1.0, 0, 0] if goal == "right" else [0, 1.0, 0])
    return Problem(task._replace(ctrl=jnp.zeros_like(task.ctrl)), 0.1, place, iterations, tuple(GAPS))


def _hopper() -> Problem:
    """Return a hop to 0.5 m ahead from a crouch, from torques that hold it there."""
    task, h = TASKS["hopper"](steps=20, contact="hard"), 0.05
    m, d = task.m, task.d
    goal = np.array([0.5, 1.1, 0])
    cost = Cost(
        lambda m, d: np.sqrt(2 * h) * jnp.concatenate([0.03 * d.qvel, 0.3 * d.ctrl]),
        lambda m, d: np.sqrt(2 * 500) * jnp.concatenate([d.qpos[:3] - goal, 0.02 * d.qvel]),
    )
    ctrl = jnp.broadcast_to(_holding(m, d), task.ctrl.shape)
    return Problem(task._replace(cost=cost, ctrl=ctrl), h, goal, 96, ("1e-3 to 1e-5 m", "1e-2 to 1e-5 m"))


def _holding(m: mjx.Model, d: mjx.Data) -> jax.Array:
    """Return controls that hold the crouch: the weight acts below the centre of mass."""
    d = mjx.forward(m, d)
    total, com = jnp.sum(m.body_mass), d.subtree_com[0]
    weight = -total * m.opt.gravity[2]
    joints = [m.name2id(mjx.ObjType.JOINT, name) for name in ("hip", "knee", "ankle")]
    arm = com[0] - d.xanchor[jnp.array(joints), 0]
    dofs = jnp.array([m.jnt_dofadr[j] for j in joints])
    torque = d.qfrc_bias[dofs] + weight * arm  # a force F up at an arm x turns by -x F about y
    return torque / m.actuator_gear[:, 0]


PROBLEMS = {"box right": lambda: _box("right", 30), "box up": lambda: _box("up", 106), "hopper": _hopper}
