"""Row penetration: robots dropped onto the floor at many step sizes, how deep they sink and where the torso stands."""

import pathlib
import time

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save

STEPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)  # s; the paper's heights are those of 0.05 to 0.002
PAPER = {"Atlas, MuJoCo": "failure, -28, -46 mm", "Atlas, Dojo": "+1e-9, +1e-4, +8e-3 mm"}
SECONDS, CHUNK = 2.0, 10
STIFF = 1e5  # N m s/rad, damping of the humanoid's joints: it keeps its pose, as the paper's Atlas does
STARTS = {  # m, above the pose of standing, and the pitch [rad] that makes the soles level
    "quadruped": (0.2, 0.0),
    "humanoid": (0.1, -0.02),
}


def penetration(out: pathlib.Path | None) -> None:
    """Drops of the quadruped, held by its servos, and of the humanoid, held by damping."""
    print(f"drops: least distance at a step's end over {SECONDS} s, and at the last one [m]; torso there [m]")
    for name, figures in PAPER.items():
        print(f"  as reported, {name}: {figures} at h = 0.1, 0.01, 0.001")
    plot, axes = figure(len(STARTS), 2, 9.5, 5)
    for row, name in zip(axes, STARTS, strict=True):
        paths = _drops(name)
        for column, who in enumerate(("ours", "MuJoCo C")):
            for h in STEPS:
                row[column].plot(np.arange(1, len(paths[who][h]) + 1) * h, paths[who][h], label=f"{1 / h:g} Hz", lw=0.9)
            row[column].set_title(f"{name}, {who}: height of the torso [m]")
            row[column].set_xlabel("time [s]")
            row[column].legend()
        row[1].set_ylim(row[0].get_ylim())
    if out:
        save(plot, out / "hard_drops.png")


def _drops(name: str) -> dict[str, dict[float, np.ndarray]]:
    """Print a robot's figures, and return the heights of its torso, ours and C's, by step size."""
    paths = {"ours": {}, "MuJoCo C": {}}
    model = mujoco.MjModel.from_xml_path(f"models/{name}.xml")
    soft = mjx.Model.from_xml_path(f"models/{name}.xml")
    if name == "humanoid":
        model.dof_damping[6:] = STIFF
        soft = soft.replace(dof_damping=soft.dof_damping.at[6:].set(STIFF))
    hard = mjx.with_hard_contact(soft)
    for h in STEPS:
        begin = time.perf_counter()
        heights, least, short = _ours(
            hard.replace(opt=hard.opt.replace(timestep=jnp.asarray(h))), _start(name, model), h
        )
        seconds = time.perf_counter() - begin
        model.opt.timestep = h
        theirs, depths = _in_c(model, _start(name, model), h)
        print(
            f"  {name:<9} h = {h:<5}: ours {least.min():+.1e}, {least[-1]:+.1e}; torso {heights[-1]:.4f} (solves short"
            f" {short}; {seconds:.0f} s)   MuJoCo C {depths.min():+.1e}, {depths[-1]:+.1e}; torso {theirs[-1]:.4f}",
            flush=True,
        )
        paths["ours"][h], paths["MuJoCo C"][h] = heights, theirs
    for who, heights in paths.items():
        ends = [heights[h][-1] for h in STEPS if 0.002 <= h <= 0.05]
        print(f"  {name:<9} {who}: torso at rest, 20 to 500 Hz, within {max(ends) - min(ends):.1e} m of one another")
    return paths


@jax.jit
def _chunk(m: mjx.Model, d: mjx.Data) -> tuple[mjx.Data, tuple[jax.Array, jax.Array]]:
    def go(d, _):
        d = mjx.step(m, d)
        return d, (d.qpos[2], jnp.min(mjx.fwd_position(m, d).contact.dist))

    return jax.lax.scan(go, d, None, CHUNK)


def _start(name: str, model: mujoco.MjModel) -> np.ndarray:
    """Return qpos above the floor."""
    above, pitch = STARTS[name]
    qpos = model.key_qpos[0].copy()
    qpos[2] += above
    qpos[3:7] = np.cos(pitch / 2), 0, np.sin(pitch / 2), 0
    return qpos


def _ours(m: mjx.Model, qpos: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Return heights of the torso, least distances at the ends of steps, and how many solves fell short."""
    d = mjx.make_data(m, key="home").replace(qpos=jnp.asarray(qpos))
    found = []
    for _ in range(round(SECONDS / h / CHUNK)):
        d, records = _chunk(m, d)
        found.append(records)
    heights, least = (np.concatenate(x) for x in zip(*found, strict=True))
    return heights, least, int(d.unconverged)


def _in_c(model: mujoco.MjModel, qpos: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[:] = qpos
    heights, depths = [], []
    for _ in range(round(SECONDS / h)):
        mujoco.mj_step(model, data)
        mujoco.mj_fwdPosition(model, data)
        heights.append(data.qpos[2])
        depths.append(min((c.dist for c in data.contact), default=np.inf))
    return np.array(heights), np.array(depths)
