"""System identification against truth and on real data: python -m benchmarks.identification pendulum|arm|cube.

pendulum: mass and damping from noisy angles, 100 times; how often one standard error covers the truth.
arm: inertias of two links from noisy torques, truths drawn from the prior, 50 times.
cube: friction, stiffness, damping, inertia and height of the table from real tosses; errors on others, beside the best
constant choice and beside MuJoCo C with the same parameters. `--data` takes a file with more tosses than the excerpt in
notebooks/data; the first `--fit` of them are fitted. With `--vertices` the eight vertices are found one by one, 24
numbers: "all" beside the rest, "alone" with no more than the friction; `--after` lets that begin where the fit without
them ends.
"""

import argparse
import pathlib
import tempfile
import time
from typing import Any

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import mjx_like as mjx  # noqa: E402
from mjx_like import sysid  # noqa: E402
from mjx_like.sysid.identifiability import in_words  # noqa: E402
from tests.sysid import pendulum as rod  # noqa: E402
from tests.sysid import test_forces as links  # noqa: E402

ROOT = pathlib.Path(__file__).parents[1]
HALF_WIDTH = 0.0524  # [m]
SPHERE = 0.0519  # from the centre to those of the spheres that are vertices, along each axis [m]
RATE = 148  # frames a second
EVERY = 4  # time steps of a frame
FRAMES = 100
GRAVITY = 9.61  # that of the recorded free flight [m/s^2]
NOISE = {"qpos": np.repeat([0.1 * HALF_WIDTH, 0.2], 3), "qvel": np.inf}  # what a simulation may miss [m, rad]
VERTICES = tuple(f"geom_pos@vertex_{i}" for i in range(8))
FRICTIONS = (0.1, 0.14, 0.18, 0.22, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=("pendulum", "arm", "cube"))
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "notebooks/data/cube_tosses.npz")
    parser.add_argument("--fit", type=int, default=10, help="tosses that are fitted; the others are reported")
    parser.add_argument("--few", action="store_true", help="of the cube, without its size and centre of mass")
    parser.add_argument("--vertices", choices=("all", "alone"), help="of the cube, vertices one by one")
    parser.add_argument("--after", action="store_true", help="begin them where the fit without them ends")
    parser.add_argument("--prior", type=float, default=np.inf, help="standard deviation of their coordinates [mm]")
    parser.add_argument("--skip", type=int, default=0, help="tosses before those that are fitted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=pathlib.Path, help="picture of the fit of the cube or the pendulum")
    args = parser.parse_args()
    if args.vertices and args.few or args.after and not args.vertices:
        parser.error("--few is without --vertices, --after with it")
    mjx.compile_quickly()
    {"pendulum": pendulum, "arm": arm, "cube": cube}[args.case](args)


def pendulum(args: argparse.Namespace) -> None:
    """Print values, standard errors and their coverage."""
    true = rod.model()
    moved, start = rod.motion(true), rod.guess(true)
    parameters = sysid.Parameters(start, [sysid.positive(name) for name in rod.NAMES])
    values, errors, begin = [], [], time.perf_counter()
    for seed in range(args.repetitions):
        recording = rod.noisy(moved, args.seed + seed)
        found = sysid.fit(start, [recording], parameters, noise={"qpos": 0.01}, progress=False)
        values.append(found.values)
        errors.append(found.standard_errors)
        if seed == 0:
            first = time.perf_counter() - begin
    each = (time.perf_counter() - begin - first) / max(args.repetitions - 1, 1)
    z = (np.array(values) - rod.TRUTH) / errors
    print(f"first fit {first:.1f} s, further ones {each:.2f} s; {args.repetitions} repetitions")
    for k, name in enumerate(rod.NAMES):
        one, two = (np.mean(np.abs(z[:, k]) < n) for n in (1, 2))
        spread = f"mean {np.mean(values, axis=0)[k]:.5f}, spread {np.std(values, axis=0)[k]:.5f}"
        print(f"{name}: truth {rod.TRUTH[k]}, {spread}, mean standard error {np.mean(errors, axis=0)[k]:.5f}")
        print(f"  {one:.2f} within one standard error, {two:.2f} within two")
    if args.plot:
        sysid.plot_fit(found, args.plot)


def arm(args: argparse.Namespace) -> None:
    """Print coverage of the inertial parameters of two links, and errors of torques along other motions."""
    m = mjx.Model.from_xml_string(links.XML)
    parameters = sysid.Parameters(m, [sysid.inertia(body, prior=links.PRIOR) for body in ("upper", "lower")])
    torques = links.torques_of(m)
    z, ratio = [], []
    for seed in range(args.seed, args.seed + args.repetitions):
        rng = np.random.default_rng(seed)
        true, values, _ = parameters.found(m, parameters.start + links.PRIOR * rng.normal(size=parameters.start.size))
        motion, other = links.samples(1000 + seed), links.samples(2000 + seed)
        clean = np.asarray(torques(true, **motion))
        force = clean + links.NOISE * rng.normal(size=clean.shape)
        found = sysid.fit_forces(m, parameters, **motion, force=force, noise=links.NOISE, progress=False)
        z.append((found.values - values) / found.standard_errors)
        off = [np.asarray(torques(x, **other)) - np.asarray(torques(true, **other)) for x in (m, found.model)]
        ratio.append([np.sqrt(np.mean(x**2)) for x in off])
    before, after = np.median(ratio, axis=0)
    print(f"{args.repetitions} arms: {np.mean(np.abs(z) < 1):.2f} of the values within one standard error")
    print(f"torques of other motions are off by {before:.2f} N m before, {after:.4f} after; noise {links.NOISE} N m")


def cube(args: argparse.Namespace) -> None:
    """Print errors of position [half-widths] and rotation [degrees] of tosses that were not fitted."""
    data = np.load(args.data)
    bounds = data["start"]
    tosses = [data["frames"][a:b][:FRAMES].astype(float) for a, b in zip(bounds, bounds[1:], strict=False)]
    chosen = slice(args.skip, args.skip + args.fit)
    fitted, others = tosses[chosen], tosses[: chosen.start] + tosses[chosen.stop :]
    m = mjx.Model.from_xml_path(str(ROOT / "models/cube.xml"))
    of = {f: mjx.with_leaves(m, {"geom_friction@table[0]": f}) for f in FRICTIONS}
    best = min(of, key=lambda f: simulated_errors(of[f], fitted)[0])
    begin = time.perf_counter()
    found = fit_cube(m, fitted, parts_of_cube(m, args, None if args.after else args.vertices))
    if args.after:
        found = fit_cube(found.model, fitted, parts_of_cube(m, args, args.vertices, friction=None, time_constant=None))
    seconds = time.perf_counter() - begin
    print(found, f"\n{seconds:.0f} s; {len(fitted)} tosses fitted, {len(others)} others")
    if args.vertices:
        print_vertices(found)
    print("parameters | fitted | others (half-widths, degrees)")
    for name, model in (
        ("MuJoCo's defaults (friction 1)", mjx.with_leaves(m, {"geom_friction@table[0]": 1.0})),
        ("published friction 0.18, else defaults", of[0.18]),
        (f"best of {FRICTIONS} on the fitted tosses, {best}", of[best]),
        ("identified", found.model),
    ):
        print(f"{name} | {row(simulated_errors(model, fitted))} | {row(simulated_errors(model, others))}", flush=True)
    c = [mujoco_errors(found.model, part) for part in (fitted, others)]
    print(f"identified, MuJoCo C | {row(c[0])} | {row(c[1])}")
    if args.plot:
        sysid.plot_fit(found, args.plot, recording=1)


def parts_of_cube(
    m: mjx.Model,
    args: argparse.Namespace,
    vertices: str | None,
    friction: float | None = 0.2,
    time_constant: float | None = 0.008,
) -> list[Any]:
    """Return what is to be found of the cube and the table.

    vertices: "all", "alone" or None; friction, time_constant: to start from, None for the model's.
    """
    first = sysid.bounded("geom_friction@table[0]", 0.02, 1.0, start=friction)
    each = sysid.free(VERTICES, scale=1e-3, prior=args.prior)
    if vertices == "alone":
        return [first, each]
    contact = [
        first,
        sysid.bounded("geom_solref@table[0]", 2 * float(m.opt.timestep), 0.1, start=time_constant),
        sysid.bounded("geom_solref@table[1]", 0.05, 3.0),
        sysid.scaled("body_inertia@cube", 0.5, 2.0),
        sysid.free("geom_pos@table[2]", scale=1e-3, prior=5),
    ]
    size = each if vertices == "all" else sysid.scaled("geom_pos@vertex_*", 0.9, 1.1)
    return contact if args.few else [*contact, size, sysid.free("body_ipos@cube", scale=1e-3, prior=3)]


def fit_cube(m: mjx.Model, tosses: list[np.ndarray], parts: list[Any]) -> sysid.Fit:
    """Return the identification from tosses: segments of 15 and 30 frames, then whole ones, with secants."""
    recordings = [recording_of_toss(toss) for toss in tosses]
    options = {"lengths": (15, 30, None), "iterations": (6, 6, 10), "step": 0.05, "tolerance": 1e-3}
    return sysid.fit(m, recordings, parts, noise=NOISE, **options)


def print_vertices(found: sysid.Fit) -> None:
    """Print how far the vertices are from the nominal ones, and what the data determine least."""
    own = np.flatnonzero([name.startswith(VERTICES) for name in found.coordinates])
    places = found.values[[name.startswith(VERTICES) for name in found.labels]].reshape(8, 3)
    nominal = SPHERE * np.sign(places)
    off = 100 * np.linalg.norm(places - nominal, axis=1) / HALF_WIDTH
    print(f"vertices off the nominal ones: mean {off.mean():.1f} %, most {off.max():.1f} % of the half-width")
    errors = 1e3 * found.standard_errors[[name.startswith(VERTICES) for name in found.labels]]
    print(f"standard errors of their coordinates {errors.min():.3f} to {errors.max():.3f} mm")
    shifts = np.kron(np.ones((1, 8)), np.eye(3)) / 8
    scale = np.sign(places).ravel() / 24
    names = ("shift x", "shift y", "shift z", "growth")
    for name, way in zip(names, (*shifts, scale), strict=True):
        error = np.sqrt(way @ found.covariance[np.ix_(own, own)] @ way)
        print(f"  common {name} {1e3 * way @ (places - nominal).ravel():+.2f} +- {error:.3f} mm")
    print(f"singular values {found.singular_values[0]:.4g} to {found.singular_values[-1]:.3g}; least determined:")
    for value, direction in list(zip(found.singular_values, found.directions, strict=True))[-3:]:
        print(f"  {in_words(direction, found.coordinates)}: standard error {1 / value:.2g}")


def states(toss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos and qvel of the frames of a toss, in SI units.

    The velocities of the data are means over the frame before. In free flight that is 1.5 of four steps behind.
    """
    quat = toss[:, 3:7] / np.linalg.norm(toss[:, 3:7], axis=1, keepdims=True)
    velocity = toss[:, 7:10] * HALF_WIDTH + [0, 0, -GRAVITY * 0.5 * (EVERY - 1) / (EVERY * RATE)]
    return np.c_[toss[:, :3] * HALF_WIDTH, quat], np.c_[velocity, toss[:, 10:]]


def recording_of_toss(toss: np.ndarray) -> sysid.Recording:
    qpos, qvel = states(toss)
    return sysid.Recording(np.arange(len(qpos)) / RATE, qpos=qpos, qvel=qvel)


def simulated_errors(m: mjx.Model, tosses: list[np.ndarray]) -> tuple[float, float]:
    """Return mean errors of tosses that are simulated from their first frame."""
    first = [[x[0] for x in states(toss)] for toss in tosses]
    d = mjx.batch(mjx.make_data(m), qpos=np.array([x[0] for x in first]), qvel=np.array([x[1] for x in first]))
    return mean_errors(np.asarray(mjx.rollout(m, d, steps=EVERY * (FRAMES - 1), every=EVERY).qpos), tosses)


def mujoco_errors(m: mjx.Model, tosses: list[np.ndarray]) -> tuple[float, float]:
    """Return the same by MuJoCo C."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "cube.xml")
        mjx.save_xml(path, m)
        c = mujoco.MjModel.from_xml_path(path)
    paths = np.zeros((len(tosses), FRAMES - 1, 7))
    for i, toss in enumerate(tosses):
        d = mujoco.MjData(c)
        d.qpos[:], d.qvel[:] = (x[0] for x in states(toss))
        for k in range(FRAMES - 1):
            mujoco.mj_step(c, d, EVERY)
            paths[i, k] = d.qpos
    return mean_errors(paths, tosses)


def mean_errors(paths: np.ndarray, tosses: list[np.ndarray]) -> tuple[float, float]:
    """Return means over frames and then tosses of distance [half-widths] and angle [degrees]."""
    distances, angles = [], []
    for path, toss in zip(paths, tosses, strict=True):
        real = states(toss)[0][1:]
        path = path[: len(real)]
        distances.append(np.mean(np.linalg.norm(path[:, :3] - real[:, :3], axis=1)) / HALF_WIDTH)
        turn = np.clip(np.abs(np.sum(path[:, 3:] * real[:, 3:], axis=1)), 0, 1)
        angles.append(np.mean(np.degrees(2 * np.arccos(turn))))
    return float(np.mean(distances)), float(np.mean(angles))


def row(errors: tuple[float, float]) -> str:
    return f"{errors[0]:.3f}, {errors[1]:.1f}"


if __name__ == "__main__":
    main()
