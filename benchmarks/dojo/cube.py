"""Row cube: a real cube from its tosses, identified through hard contact, errors on tosses that were not fitted.

CUBE_TOSSES names the file of the whole set; the excerpt in notebooks/data is taken where it is not set.
"""

import os
import pathlib
import time

import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from benchmarks import identification as real
from benchmarks.dojo.pictures import figure, save
from mjx_like import sysid

EXCERPT = real.ROOT / "notebooks/data/cube_tosses.npz"
MODEL = str(real.ROOT / "models/cube.xml")
FITTED = 20  # tosses, of the excerpt half
LENGTH = 4  # frames of a prediction
NOISE = {"qpos": np.repeat([1e-3, 1 / 30], 3), "qvel": np.inf}  # what a prediction may miss [m, rad]
ROBUST = 3.0
FEW = {"geom_pos@table[2]", "opt.gravity[2]", "body_inertia@cube", "body_ipos@cube"}  # given in the paper
HELD = 1e-9  # standard deviation of what is given, in its coordinate: the same program serves both fits
FRICTION, OFF_MEAN, OFF_MOST = (0.16, 0.22), 3.5, 9.7  # of the paper; % of the half-width


def cube(out: pathlib.Path | None) -> None:
    """Friction, vertices, gravity, the table and the inertia of the cube, from predictions over four frames."""
    tosses = _tosses()
    count = min(FITTED, len(tosses) // 2)
    fitted, others = tosses[:count], tosses[count:]
    print(f"cube: {count} real tosses fitted by predictions of {LENGTH} frames, {len(others)} held out")
    _print_lowest(tosses)
    hard, soft = _hard(), mjx.Model.from_xml_path(MODEL)
    few = _fit("hard, the paper's 25 parameters", hard, fitted, 1, few=True)
    more = _fit("hard, with gravity, table, inertia", hard, fitted, 1)
    like = _fit("soft, the same and solref", soft, fitted, real.EVERY)
    print("  mean errors of simulations from the first frame: half-widths, degrees | fitted | held out")
    models = {
        "hard, nominal, friction 0.18": (hard, 1),
        "hard, the paper's 25 parameters": (few.model, 1),
        "hard, with gravity, table, inertia": (more.model, 1),
        "soft, the same and solref": (like.model, real.EVERY),
    }
    paths = {}
    for name, (m, every) in models.items():
        paths[name] = [_simulated(m, part, every) for part in (fitted, others)]
        _report(name, [real.mean_errors(*x) for x in zip(paths[name], (fitted, others), strict=True)])
    for friction in (0.18, 1.0):
        m = mjx.with_leaves(soft, {"geom_friction@table[0]": friction})
        _report(f"MuJoCo C, defaults, friction {friction}", [real.mujoco_errors(m, x) for x in (fitted, others)])
    if out:
        _draw({name: x[1] for name, x in paths.items()}, others, out)


def _tosses() -> list[np.ndarray]:
    """Return the tosses, frames as in notebooks/data/README.md, at most 100 of each.

    Raises:
      SystemExit: no such file.
    """
    path = pathlib.Path(os.environ.get("CUBE_TOSSES", EXCERPT))
    if not path.is_file():
        raise SystemExit(f"cube: no file {path}: set CUBE_TOSSES to the npz of tosses that notebooks/data describes")
    data = np.load(path)
    ends = zip(data["start"], data["start"][1:], strict=False)
    return [data["frames"][a:b][: real.FRAMES].astype(float) for a, b in ends]


def _hard() -> mjx.Model:
    """Return the cube with hard contact and one time step for each frame."""
    return mjx.Model.from_xml_path(MODEL, contact="hard").tree_replace({"opt.timestep": jnp.asarray(1 / real.RATE)})


def _states(toss: np.ndarray, every: int) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos and qvel of the frames; one time step a frame ends with the mean velocity, which the data have."""
    qpos, qvel = real.states(toss)
    return (qpos, np.c_[toss[:, 7:10] * real.HALF_WIDTH, toss[:, 10:]]) if every == 1 else (qpos, qvel)


def _fit(name: str, m: mjx.Model, tosses: list[np.ndarray], every: int, few: bool = False) -> sysid.Fit:
    """Return the identification, and print what it found.  few: friction and vertices alone."""
    begin = time.perf_counter()

    def prior(leaf: str) -> float:
        return HELD if few and leaf in FEW else np.inf

    parts = [
        sysid.bounded("geom_friction@table[0]", 0.02, 1.0, start=0.3),
        sysid.free(real.VERTICES, scale=1e-3),
        sysid.free("geom_pos@table[2]", scale=1e-3, prior=prior("geom_pos@table[2]")),
        sysid.free("opt.gravity[2]", scale=0.1, prior=prior("opt.gravity[2]")),
        sysid.scaled("body_inertia@cube", 0.5, 2.5, prior=prior("body_inertia@cube")),
        sysid.free("body_ipos@cube", scale=1e-3, prior=prior("body_ipos@cube")),
    ]
    if m.hard is None:
        least = 2 * float(m.opt.timestep)
        parts.append(sysid.bounded("geom_solref@table[0]", least, 0.1, start=0.008))
        parts.append(sysid.bounded("geom_solref@table[1]", 0.05, 3.0))
    recordings = []
    for toss in tosses:
        qpos, qvel = _states(toss, every)
        recordings.append(sysid.Recording(np.arange(len(qpos)) / real.RATE, qpos=qpos, qvel=qvel))
    options = {"lengths": (LENGTH,), "derivative": "forward", "robust": ROBUST, "tolerance": 1e-3, "progress": False}
    found = sysid.fit(m, recordings, parts, noise=NOISE, **options)
    seconds = time.perf_counter() - begin
    print(f"  {name}: {len(found.history)} iterations, {seconds:.0f} s")
    _print_values(found.values, few)
    return found


def _print_values(values: np.ndarray, few: bool) -> None:
    """Print friction and vertices beside the paper's, and the others."""
    places = values[1:25].reshape(8, 3)
    off = _off(places, 0.0)
    print(
        f"    friction {values[0]:.3f} (paper {FRICTION[0]} to {FRICTION[1]}); vertices off by {off.mean():.1f} % of"
        f" the half-width, most {off.max():.1f} % (paper {OFF_MEAN}, {OFF_MOST})"
    )
    if few:
        return
    table, gravity, inertia = values[25:28]
    centre = " ".join(f"{1e3 * x:.1f}" for x in values[28:31])
    moved = _off(places, table)
    print(
        f"    table {1e3 * table:+.2f} mm: as round corners of that radius, off by {moved.mean():.1f} %, most"
        f" {moved.max():.1f} %; gravity {-gravity:.2f} m/s^2, inertia {inertia:.2f} of a solid cube's, centre of mass"
        f" at {centre} mm" + (f", solref {values[31]:.4f} {values[32]:.2f}" if len(values) > 31 else "")
    )


def _off(places: np.ndarray, radius: float) -> np.ndarray:
    """Return how far vertices are from the nominal ones [% of the half-width], moved out by a radius, shape (8,)."""
    nominal = np.sign(places) * real.SPHERE
    return 100 * np.linalg.norm(places + radius * np.sign(places) - nominal, axis=1) / real.HALF_WIDTH


def _simulated(m: mjx.Model, tosses: list[np.ndarray], every: int) -> np.ndarray:
    """Return qpos of simulations from the first frames, at the frames after, shape (tosses, frames, 7)."""
    first = [[x[0] for x in _states(toss, every)] for toss in tosses]
    qpos, qvel = (np.array(x) for x in zip(*first, strict=True))
    d = mjx.batch(mjx.make_data(m), qpos=qpos, qvel=qvel)
    return np.asarray(mjx.rollout(m, d, steps=every * (real.FRAMES - 1), every=every).qpos)


def _report(name: str, errors: list[tuple[float, float]]) -> None:
    print(f"  {name:<36} | {real.row(errors[0])} | {real.row(errors[1])}", flush=True)


def _lowest(tosses: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return how high the lowest nominal corner is where it turns [half-widths], and how far below the centre."""
    depths, arms = [], []
    for toss in tosses:
        w, x, y, z = toss[:, 3:7].T / np.linalg.norm(toss[:, 3:7], axis=1)
        up = np.abs([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        arm = up.sum(0)
        height = toss[:, 2] - arm
        turns = 1 + np.flatnonzero((height[1:-1] <= height[:-2]) & (height[1:-1] <= height[2:]) & (height[1:-1] < 0.1))
        depths.append(height[turns])
        arms.append(arm[turns])
    return np.concatenate(depths), np.concatenate(arms)


def _print_lowest(tosses: list[np.ndarray]) -> None:
    depths, arms = _lowest(tosses)
    parts = []
    for name, low, high in (("a face", 0, 1.02), ("an edge", 1.38, 1.44), ("a corner", 1.6, 1.8)):
        own = depths[(arms >= low) & (arms < high)]
        parts.append(f"on {name} {1e3 * real.HALF_WIDTH * np.median(own):.1f} mm" if len(own) else f"never on {name}")
    print(f"  the nominal cube's lowest point where it turns in the recordings, median: {', '.join(parts)}")


def _errors(path: np.ndarray, toss: np.ndarray) -> np.ndarray:
    """Return distance [half-widths] and angle [degrees], shape (frames, 2), NaN after the end of the toss."""
    qpos = real.states(toss)[0][1:]
    path = path[: len(qpos)]
    found = np.full((real.FRAMES - 1, 2), np.nan)
    found[: len(qpos), 0] = np.linalg.norm(path[:, :3] - qpos[:, :3], axis=1) / real.HALF_WIDTH
    found[: len(qpos), 1] = np.degrees(2 * np.arccos(np.clip(np.abs(np.sum(path[:, 3:] * qpos[:, 3:], axis=1)), 0, 1)))
    return found


def _draw(paths: dict[str, np.ndarray], tosses: list[np.ndarray], out: pathlib.Path) -> None:
    """Draw errors over time, and how low the nominal cube's corners come in the recordings."""
    plot, axes = figure(1, 3, 9.5, 2.8)
    seconds = np.arange(1, real.FRAMES) / real.RATE
    for name, path in paths.items():
        mean = np.nanmean([_errors(*x) for x in zip(path, tosses, strict=True)], axis=0)
        for k in range(2):
            axes[0, k].plot(seconds, mean[:, k], label=name, lw=0.9)
    for axis, what in zip(axes[0], ("distance [half-widths]", "angle [degrees]"), strict=False):
        axis.set_title(f"held-out tosses: mean {what}")
        axis.set_xlabel("time [s]")
    axes[0, 0].legend()
    depths, arms = _lowest(tosses)
    axes[0, 2].plot(arms, depths, ".", ms=1.5)
    axes[0, 2].set_title("lowest point of the nominal cube [half-widths]")
    axes[0, 2].set_xlabel("below the centre [half-widths]: face 1, corner 1.73")
    save(plot, out / "hard_cube.png")
