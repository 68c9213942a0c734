"""Row stack: what should stand still for a minute does: ten boxes, a house of cards, a box on a slope."""

import pathlib
import time

import jax
import mujoco
import numpy as np

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save

H, SECONDS, EVERY = 0.01, 60, 50
SETTLED = 1  # s, from which drift counts
SETTINGS = ((1e-5, 1e-4), (1e-6, 1e-8))  # gap [m] and slip [m/s]
SCENE = """<mujoco><option timestep="{h}" integrator="implicitfast" cone="elliptic"/>
<default><geom friction="{mu} .005 .0001"/></default>
<worldbody><geom type="plane" size="5 5 1"{tilt}/>{bodies}</worldbody></mujoco>"""
BODY = '<body pos="{pos}"{turn}><freejoint/><geom type="box" size="{size}" mass="{mass}"/></body>'
CARD = np.array([0.005, 0.05, 0.1])  # m, half sizes
LEAN, SLOPE, MU = np.deg2rad(20), np.deg2rad(20), 0.5  # friction holds to 26.6 degrees


def _stack() -> str:
    bodies = (BODY.format(pos=f"0 0 {0.05 + 0.1 * k}", turn="", size=".05 .05 .05", mass=1) for k in range(10))
    return SCENE.format(h=H, mu=MU, tilt="", bodies="".join(bodies))


def _cards() -> str:
    """Return two cards that lean on one another, and stand by friction alone."""
    thick, _, tall = CARD
    x, z = thick * np.cos(LEAN) + tall * np.sin(LEAN), tall * np.cos(LEAN) + thick * np.sin(LEAN)
    bodies = (
        BODY.format(
            pos=f"{side * x} 0 {z}", turn=f' euler="0 {-side * 20} 0"', size="{} {} {}".format(*CARD), mass=0.01
        )
        for side in (-1, 1)
    )
    return SCENE.format(h=H, mu=MU, tilt="", bodies="".join(bodies))


def _wedge() -> str:
    normal = np.array([-np.sin(SLOPE), 0, np.cos(SLOPE)])
    pos = " ".join(map(str, 0.1 * normal))
    body = BODY.format(pos=pos, turn=' euler="0 -20 0"', size=".2 .1 .1", mass=1)
    return SCENE.format(h=H, mu=MU, tilt=' euler="0 -20 0"', bodies=body)


SCENES = {"stack of ten boxes": _stack, "two cards": _cards, "box on a slope": _wedge}


def _creep(slip: float) -> float:
    """Return the speed of the box on the slope by the law of friction, each of four contacts bearing a quarter."""
    share, width = np.tan(SLOPE) / MU, 4 * slip / (2 * np.cos(SLOPE))
    return 2 * width * share / (1 - share * share)


def stack(out: pathlib.Path | None) -> None:
    """Drift of bodies that should stand still, from 1 s to 60 s."""
    plot, axes = figure(1, len(SCENES), 9.5, 2.8)
    print(f"standing still: largest way of a body from {SETTLED} to {SECONDS} s, h = {H}")
    times = np.arange(1, round(SECONDS / H / EVERY) + 1) * H * EVERY
    for axis, (name, xml) in zip(axes[0], SCENES.items(), strict=True):
        paths = {}
        for gap, slip in SETTINGS:
            begin = time.perf_counter()
            label = f"gap {gap:g}, slip {slip:g}"
            m = mjx.with_hard_contact(mjx.Model.from_xml_string(xml()), gap, slip)
            paths[label], short = _ours(m)
            seconds = time.perf_counter() - begin
            more = f", slip t {slip * (SECONDS - SETTLED):.1e} m"
            if xml is _wedge:
                more += f", by the law {_creep(slip) * (SECONDS - SETTLED):.2e} m"
            _report(name, label, times, paths[label], more, short, seconds)
        begin = time.perf_counter()
        paths["MuJoCo C, soft"] = _in_c(xml())
        _report(name, "MuJoCo C, soft", times, paths["MuJoCo C, soft"], "", 0, time.perf_counter() - begin)
        for label, path in paths.items():
            axis.semilogy(times, np.maximum(_drift(times, path), 1e-12), label=label)
        axis.set_title(f"{name}: drift [m]")
        axis.set_xlabel("time [s]")
        axis.legend()
    if out:
        save(plot, out / "hard_standing.png")


def _report(name: str, label: str, times: np.ndarray, path: np.ndarray, more: str, short: int, seconds: float) -> None:
    drift = _drift(times, path)[-1]
    print(f"  {name}: {label:<24} {drift:.2e} m{more} (solves short {short}; {seconds:.0f} s)", flush=True)


def _drift(times: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Return the largest way of a body since it settled, shape (times,).  path: shape (times, bodies, 3)."""
    first = int(np.searchsorted(times, SETTLED - 1e-9))
    way = np.linalg.norm(path - path[first], axis=-1).max(1)
    return np.where(times < SETTLED, 0, way)


@jax.jit
def _rolled(m: mjx.Model, d: mjx.Data) -> tuple[jax.Array, jax.Array]:
    def many(d, _):
        d, _ = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, EVERY)
        return d, d.qpos.reshape(-1, 7)[:, :3]

    d, path = jax.lax.scan(many, d, None, round(SECONDS / H / EVERY))
    return path, d.unconverged


def _ours(m: mjx.Model) -> tuple[np.ndarray, int]:
    path, short = _rolled(m, mjx.make_data(m))
    return np.asarray(path), int(short)


def _in_c(xml: str) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(xml)
    data, path = mujoco.MjData(model), []
    for k in range(round(SECONDS / H)):
        mujoco.mj_step(model, data)
        if (k + 1) % EVERY == 0:
            path.append(data.qpos.reshape(-1, 7)[:, :3].copy())
    return np.array(path)
