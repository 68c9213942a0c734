"""Rows momentum and energy: what a floating body of five links keeps without forces from outside."""

import functools
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save
from mjx_like.variational.conserved import mean_velocity, velocity_at_instant

Array = jax.Array

BODY = """<mujoco><option gravity="0 0 0"><flag contact="disable" autoreset="disable"/></option>
<default><geom contype="0" conaffinity="0"/><joint armature="0.01"/></default>
<worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".2 .15 .3" mass="4" pos=".03 0 .05"/>
  <body pos="0 .2 .2"><joint name="a" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .5 .1" size=".05" mass="1"/>
    <body pos="0 .5 .1"><joint name="b" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .1 .4 0" size=".04" mass=".7"/>
    </body></body>
  <body pos="0 -.1 -.3"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 .1 -.6" size=".06" mass="2"/>
    <body pos="0 .1 -.6"><joint name="e" axis="1 1 0"/><geom type="box" size=".1 .05 .2" mass=".9" pos="0 0 -.2"/>
    </body></body></body></worldbody>
<actuator><motor joint="a"/><motor joint="b"/><motor joint="c"/><motor joint="e"/></actuator></mujoco>"""
STEPS = (0.1, 0.05, 0.01, 0.001)
HOLD = 0.1  # s, of one control
LONG = 1000.0  # s, of the run whose energy is drawn over time, at the longest step
WINDOW = 10.0  # s, of which the largest change is drawn

_MOST = 1e3  # rad/s or m/s, beyond which a run of MuJoCo C counts as diverged; it starts at 2


def momentum(out: pathlib.Path | None) -> None:
    """Motors act between the links for 10 s: the sums of linear and angular momenta stay as they were."""
    controls = 0.3 * np.random.default_rng(0).uniform(-1, 1, (100, 4))
    print("floating body of five links, motors on, 10 s: largest change of linear [N s] and angular momentum [N m s]")
    found = {name: [_largest(run(h, controls)) for h in STEPS] for name, run in METHODS.items()}
    for name, changes in found.items():
        _say(name, [change[:2] for change in changes])
    if out:
        plot, axes = figure(1, 2, 7.2, 2.7)
        for i, what in enumerate(("linear momentum [N s]", "angular momentum [N m s]")):
            _by_step(axes[0, i], {name: [x[i] for x in changes] for name, changes in found.items()}, what)
            axes[0, i].axhline(1e-10, color="gray", lw=0.8, ls=":")
            axes[0, i].text(STEPS[0], 5e-11, "aim", color="gray", fontsize=7, ha="right", va="top")
        _legend(plot, axes[0, 0])
        save(plot, out / "variational_momentum.png")


def energy(out: pathlib.Path | None) -> None:
    """Without motors, for 100 s: the energy stays near what it was; at the longest step for 1000 s."""
    print("floating body of five links, motors off, 100 s: largest change of the energy over the energy")
    found = {name: [_largest(run(h, _rest(100.0)))[2:] for h in STEPS] for name, run in METHODS.items()}
    for name, changes in found.items():
        _say(name, changes)
    print(f"the same at h = {STEPS[0]}: largest in the first and in the last {WINDOW:.0f} s of {LONG:.0f}")
    curves = {name: _windows(run(STEPS[0], _rest(LONG))) for name, run in METHODS.items()}
    for name, curve in curves.items():
        print(f"  {name:<17} {curve[0]:.1e} {curve[-1]:.1e}")
    if out:
        plot, axes = figure(1, 2, 7.2, 2.7)
        _by_step(axes[0, 0], {name: np.ravel(x) for name, x in found.items()}, "energy, relative, in 100 s")
        for name, curve in curves.items():
            axes[0, 1].semilogy(WINDOW * (0.5 + np.arange(curve.size)), curve, ".-", ms=3, lw=0.9, label=name)
        title = f"h = {STEPS[0]} s, largest in each {WINDOW:.0f} s"
        axes[0, 1].set(xlabel="time [s]", ylabel="change of energy, relative", title=title, ylim=(1e-6, 1))
        _legend(plot, axes[0, 0])
        save(plot, out / "variational_energy.png")


def _rest(time: float) -> np.ndarray:
    return np.zeros((round(time / HOLD), 4))


def _say(name: str, changes: list[np.ndarray]) -> None:
    said = {h: " ".join(f"{x:.1e}" for x in values) for h, values in zip(STEPS, changes, strict=True)}
    parts = (f"h = {h}: {'diverges' if 'nan' in words else words}" for h, words in said.items())
    print(f"  {name:<17} " + "   ".join(parts))


def _by_step(axes: Any, changes: dict[str, Any], what: str) -> None:
    for name, values in changes.items():
        axes.loglog(STEPS, values, "o-", ms=3, lw=1.2, label=name)
    axes.set(xlabel="time step [s]", ylabel=f"change of {what}")


def _legend(plot: Any, axes: Any) -> None:
    plot.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(METHODS))


def _change(kept: np.ndarray) -> np.ndarray:
    """Return the changes from the start, shape (count, 3): lengths of those of both momenta, and of relative energy."""
    diff = kept - kept[0]
    linear, angular = np.linalg.norm(diff[:, :3], axis=1), np.linalg.norm(diff[:, 3:6], axis=1)
    return np.stack([linear, angular, np.abs(diff[:, 6]) / kept[0, 6]], axis=1)


def _largest(kept: np.ndarray) -> np.ndarray:
    return np.max(_change(kept), axis=0)


def _windows(kept: np.ndarray) -> np.ndarray:
    """Return the largest changes of the relative energy in each window of the long run."""
    return np.max(_change(kept)[1:, 2].reshape(-1, round(WINDOW / STEPS[0])), axis=1)


def _ours(h: float, controls: np.ndarray) -> np.ndarray:
    """Return linear and angular momentum about the origin and energy at the start and after each step, shape (n, 7).

    All are at the instant, by its velocity: the start, the same for all, is changed to the mean velocity before it.
    """
    m, d = _start(h)
    every = round(HOLD / h)
    return np.asarray(_along(m, d, jnp.repeat(jnp.asarray(controls), every, axis=0)))


def _start(h: float) -> tuple[mjx.Model, mjx.Data]:
    m = mjx.Model.from_xml_string(BODY)
    m = m.replace(opt=m.opt.replace(integrator="variational", timestep=h))
    rng, d = np.random.default_rng(1), mjx.make_data(m)
    qpos = mjx.integrate_pos(m, d.qpos, jnp.asarray(rng.uniform(-1, 1, m.nv)), 1.0)
    return m, d.replace(qpos=qpos, qvel=jnp.asarray(rng.normal(size=m.nv)))


@jax.jit
def _along(m: mjx.Model, d: mjx.Data, controls: Array) -> Array:
    def go(d, ctrl):
        d = mjx.step(m, d.replace(ctrl=ctrl))
        return d, _kept(m, d)

    d = d.replace(qvel=mean_velocity(m, mjx.forward(m, d)))
    return jnp.concatenate([_kept(m, d)[None], jax.lax.scan(go, d, controls)[1]])


def _kept(m: mjx.Model, d: mjx.Data) -> Array:
    d = mjx.forward(m, d)
    d = d.replace(qvel=velocity_at_instant(m, d))
    d = mjx.subtree_vel(m, mjx.fwd_velocity(m, d))
    linear = jnp.sum(m.body_mass) * d.subtree_linvel[0]
    angular = d.subtree_angmom[0] + jnp.cross(d.subtree_com[0], linear)
    return jnp.concatenate([linear, angular, 0.5 * jnp.vdot(d.qvel, d.M @ d.qvel)[None]])


def _in_c(integrator: int, h: float, controls: np.ndarray) -> np.ndarray:
    """Return what `_ours` does, of MuJoCo C; nan once it diverged."""
    model = mujoco.MjModel.from_xml_string(BODY)
    model.opt.timestep, model.opt.integrator = h, integrator
    data, d, every = mujoco.MjData(model), _start(h)[1], round(HOLD / h)
    data.qpos[:], data.qvel[:] = d.qpos, d.qvel
    found = np.full((len(controls) * every + 1, 7), np.nan)
    found[0] = _kept_in_c(model, data)
    for i in range(1, len(found)):
        data.ctrl[:] = controls[(i - 1) // every]
        mujoco.mj_step(model, data)
        if not np.abs(data.qvel).max() < _MOST:
            break
        found[i] = _kept_in_c(model, data)
    return found


def _kept_in_c(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_subtreeVel(model, data)
    mujoco.mj_energyVel(model, data)
    linear = np.sum(model.body_mass) * data.subtree_linvel[0]
    angular = data.subtree_angmom[0] + np.cross(data.subtree_com[0], linear)
    return np.array([*linear, *angular, data.energy[1]])


METHODS = {
    "ours, variational": _ours,
    "MuJoCo C, Euler": functools.partial(_in_c, mujoco.mjtIntegrator.mjINT_EULER),
    "MuJoCo C, RK4": functools.partial(_in_c, mujoco.mjtIntegrator.mjINT_RK4),
}
