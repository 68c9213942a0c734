"""What tests share: models in both engines, random states, and one comparison with MuJoCo C."""

import copy
import functools
import pathlib

import mujoco
import numpy as np

from mjx_like.interop.convert import put_model
from tests.support.tolerances import ACCELERATION as ACCELERATION
from tests.support.tolerances import ROW as ROW
from tests.support.tolerances import TIGHT as TIGHT

STATE = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "qacc_warmstart", "qfrc_applied", "xfrc_applied",
         "plastic")  # fmt: skip
GYM = pathlib.Path(__import__("gymnasium").__file__).parent / "envs/mujoco/assets"


def load(source: str, **options):
    """Return (mujoco.MjModel, Model by put_model) of an XML string or a path; solved to convergence in both.

    options: more of `mjOption`. The MjModel is the caller's own, the Model is shared.
    """
    mj, m = _load(source, **options)
    return copy.copy(mj), m


@functools.lru_cache(maxsize=64)
def _load(source: str, **options):
    mj = (
        mujoco.MjModel.from_xml_string(source)
        if source.lstrip().startswith("<")
        else mujoco.MjModel.from_xml_path(source)
    )
    mj.opt.tolerance, mj.opt.iterations, mj.opt.ls_iterations = 0, 200, 50
    for name, value in options.items():
        setattr(mj.opt, name, value)
    return mj, put_model(mj)


def states(mj: mujoco.MjModel, count: int = 4, seed: int = 0, steps: int = 30) -> list[dict[str, np.ndarray]]:
    """Return `count` states: random joint positions, velocities and controls, some steps into motion."""
    rng, out, data = np.random.default_rng(seed), [], mujoco.MjData(mj)
    for trial in range(count):
        mujoco.mj_resetData(mj, data)
        if trial:
            mujoco.mj_integratePos(mj, data.qpos, 0.3 * rng.normal(size=mj.nv), 1.0)
            for j in np.flatnonzero(mj.jnt_limited & (mj.jnt_type >= 2)):
                low, high = mj.jnt_range[j]
                data.qpos[mj.jnt_qposadr[j]] = rng.uniform(low - 0.05 * (high - low), high + 0.05 * (high - low))
        data.qvel[:] = rng.normal(size=mj.nv)
        data.ctrl[:] = rng.uniform(-1, 1, size=mj.nu)
        data.qfrc_applied[:] = 0.1 * rng.normal(size=mj.nv)
        data.xfrc_applied[1:] = 0.1 * rng.normal(size=(mj.nbody - 1, 6))
        for _ in range(steps * trial // max(count - 1, 1)):
            mujoco.mj_step(mj, data)
        out.append({name: np.array(getattr(data, name)) for name in STATE})
    return out


def reference(mj: mujoco.MjModel, state: dict[str, np.ndarray]) -> mujoco.MjData:
    """Return MuJoCo's MjData after mj_forward from `state`, lazily computed fields included."""
    data = mujoco.MjData(mj)
    for name, value in state.items():
        getattr(data, name)[...] = value
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    mujoco.mj_subtreeVel(mj, data)
    return data


def error(ours, theirs) -> float:
    """Return max|ours - theirs| / (1 + max|theirs|); infinite for another size or a NaN."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.size != theirs.size or not np.isfinite(ours).all():
        return np.inf
    return float(np.abs(ours.ravel() - theirs.ravel()).max(initial=0) / (1 + np.abs(theirs).max(initial=0)))
