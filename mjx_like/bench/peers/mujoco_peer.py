"""MuJoCo C on one thread; also makes the states, controls and reference accelerations that all peers replay."""

import copy

import mujoco
import mujoco.rollout
import numpy as np
from job import error, finish, inputs, spread, start, timed

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
WARM_UP = 300  # steps of random controls before the states that are replayed: all models have landed by then
HOLD = 5  # steps that a random control stays the same
SAMPLES = 64


def load(job: dict) -> mujoco.MjModel:
    m = mujoco.MjModel.from_xml_path(job["model"])
    for name in ("iterations", "ls_iterations"):
        setattr(m.opt, name, job[name] or getattr(m.opt, name))
    return m


def controls(m: mujoco.MjModel, rng: np.random.Generator, batch: int, steps: int) -> np.ndarray:
    """Return random controls within their ranges, shape (batch, steps, nu)."""
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, m.actuator_ctrlrange.T, [[-1.0], [1.0]])
    drawn = rng.uniform(low, high, (batch, -(-steps // HOLD), m.nu))
    return np.repeat(drawn, HOLD, axis=1)[:, :steps]


def run(m: mujoco.MjModel, state: np.ndarray, warm: np.ndarray, ctrl: np.ndarray) -> np.ndarray:
    with mujoco.rollout.Rollout(nthread=0) as engine:
        return engine.rollout(m, mujoco.MjData(m), state, ctrl, initial_warmstart=warm)[0]


def pack(m: mujoco.MjModel, states: dict[str, np.ndarray]) -> np.ndarray:
    """Return state vectors of `states`, shape (batch, size)."""
    d, rows = mujoco.MjData(m), []
    for qpos, qvel, act in zip(states["qpos"], states["qvel"], states["act"], strict=True):
        d.qpos[:], d.qvel[:], d.act[:] = qpos, qvel, act
        rows.append(np.zeros(mujoco.mj_stateSize(m, STATE)))
        mujoco.mj_getState(m, d, rows[-1], STATE)
    return np.stack(rows)


def replay(m: mujoco.MjModel, states: dict[str, np.ndarray], world: int, see) -> mujoco.MjData:
    """Step one world through its controls, calling `see` after each; return its MjData."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.act[:] = (states[n][world] for n in ("qpos", "qvel", "act"))
    d.qacc_warmstart[:] = states["qacc_warmstart"][world]
    for u in states["ctrl"][world]:
        d.ctrl[:] = u
        mujoco.mj_step(m, d)
        see(d)
    return d


def prepare(job: dict) -> None:
    """Write the inputs: states some way into random motion, controls, and samples with converged accelerations."""
    m, rng = mujoco.MjModel.from_xml_path(job["model"]), np.random.default_rng(job["seed"])
    batch, d = job["batch"], mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    begin = {n: np.tile(getattr(d, n), (batch, 1)) for n in ("qpos", "qvel", "act", "qacc_warmstart")}
    begin["qvel"] += 0.01 * rng.normal(size=begin["qvel"].shape)
    state = run(m, pack(m, begin), begin["qacc_warmstart"], controls(m, rng, batch, WARM_UP))[:, -1]
    out = {n: np.empty_like(v) for n, v in begin.items()} | {"ctrl": controls(m, rng, batch, job["steps"])}
    for world in range(batch):
        mujoco.mj_setState(m, d, state[world], STATE)
        d.ctrl[:] = out["ctrl"][world, 0]
        mujoco.mj_forward(m, d)  # converged enough for a warm start
        for name in begin:
            out[name][world] = d.qacc if name == "qacc_warmstart" else getattr(d, name)
    np.savez(job["states"], **out, **sample(m, out))


def sample(m: mujoco.MjModel, states: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return states at the end of the replay, and C's acceleration there after 200 iterations without tolerance."""
    exact, names, rows = copy.copy(m), ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"), []
    exact.opt.iterations, exact.opt.ls_iterations, exact.opt.tolerance = 200, 50, 0
    for world in np.linspace(0, len(states["qpos"]) - 1, min(SAMPLES, len(states["qpos"]))).astype(int):
        d = replay(m, states, world, lambda d: None)
        rows.append({name: getattr(d, name).copy() for name in names})
        mujoco.mj_forward(exact, d)
        rows[-1]["qacc"] = d.qacc.copy()
    return {f"sample_{name}": np.stack([row[name] for row in rows]) for name in rows[0]}


def measure(job: dict) -> dict:
    """Return speed, and iterations, contacts and rows of a few worlds stepped one by one."""
    m, states = load(job), inputs(job)
    state, seen = pack(m, states), []
    answer = timed(lambda: run(m, state, states["qacc_warmstart"], states["ctrl"]), job["batch"] * job["steps"])
    for world in range(min(32, job["batch"])):
        replay(m, states, world, lambda d: seen.append((d.solver_niter.max(), d.ncon, d.nefc)))
    for name, values in zip(("iterations", "contacts", "rows"), np.transpose(seen), strict=True):
        answer |= spread(name, values)
    return answer | error(accelerations(m, states), states["sample_qacc"])


def accelerations(m: mujoco.MjModel, states: dict[str, np.ndarray]) -> np.ndarray:
    """Return C's acceleration at the samples with the settings that are timed."""
    d, out = mujoco.MjData(m), []
    for world in range(len(states["sample_qpos"])):
        for name in ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"):
            getattr(d, name)[:] = states[f"sample_{name}"][world]
        mujoco.mj_forward(m, d)
        out.append(d.qacc.copy())
    return np.stack(out)


def main() -> None:
    job = start()
    if job["prepare"]:
        prepare(job)
        finish(job, {})
    else:
        finish(job, {"engine": f"MuJoCo C {mujoco.__version__}", **measure(job)})


if __name__ == "__main__":
    main()
