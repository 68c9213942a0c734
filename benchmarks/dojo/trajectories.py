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
from mjx_like.control.tasks.quadruped import FEET

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
    height: int = 1  # the coordinate that the picture shows beside x


def trajectories(out: pathlib.Path | None) -> None:
    """Box to the right and up, the hopper and the quadruped."""
    print(f"iLQR with hard contact; replayed open loop at the default gap; the paper: violation below {VIOLATION}")
    plot, axes = figure(1, len(PROBLEMS), 9.5, 2.8)
    for axis, (name, make) in zip(axes[0], PROBLEMS.items(), strict=True):
        problem = make()
        knots = len(problem.task.ctrl) + 1
        print(f"  {name}: {knots} knots, h = {problem.h}; the paper: {problem.iterations} iterations")
        path = np.concatenate([np.asarray(problem.task.d.qpos)[None], _solved(problem)])
        for k, label in ((0, "x"), (problem.height, "z")):
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


def _quadruped() -> Problem:
    """Return a trot of four strides to 0.2 m ahead, from set points that hold the standing pose.

    Trunk and feet follow a kinematic gait: feet on one diagonal swing together while the others stand.
    """
    task, h, ahead, strides = TASKS["quadruped"](steps=40, contact="hard"), 0.05, 0.2, 4
    m, d, hold = task.m, task.d, task.ctrl[0]
    sites = np.array([m.name2id(mjx.ObjType.SITE, foot) for foot in FEET])
    feet = np.asarray(mjx.kinematics(m, d).site_xpos)[sites]
    goal, seconds = np.asarray(d.qpos)[:3] + np.array([ahead, 0, 0]), 40 * h
    first = np.array([0, 0.5, 0.5, 0])  # of a cycle, which begins with the swing, where each foot starts

    def gait(time: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return where trunk and feet should be, shapes (3,) and (4, 3)."""
        done = strides * time / seconds + first
        share = jnp.clip(2 * (done % 1), 0, 1)
        forward = ahead / strides * (jnp.floor(done) + share * share * (3 - 2 * share) - (first > 0))
        up = 0.04 * jnp.sin(np.pi * share)
        trunk = goal - jnp.array([ahead, 0, 0]) * (1 - time / seconds)
        return trunk, feet + jnp.stack([forward, 0 * up, up], axis=1)

    def running(m: mjx.Model, d: mjx.Data) -> jax.Array:
        trunk, swing = gait(d.time)
        off = [3 * (d.qpos[:3] - trunk), 3 * d.qpos[4:7], 5 * (d.site_xpos[sites] - swing).ravel()]
        return np.sqrt(2 * h) * jnp.concatenate([*off, 0.03 * d.qvel, 0.3 * (d.ctrl - hold)])

    def final(m: mjx.Model, d: mjx.Data) -> jax.Array:
        return np.sqrt(2 * 500) * jnp.concatenate([d.qpos[:3] - goal, 0.3 * d.qpos[4:7], 0.02 * d.qvel])

    return Problem(task._replace(cost=Cost(running, final)), h, goal, 20, ("1e-3 to 1e-5 m",), height=2)


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


PROBLEMS = {
    "box right": lambda: _box("right", 30),
    "box up": lambda: _box("up", 106),
    "hopper": _hopper,
    "quadruped": _quadruped,
}
