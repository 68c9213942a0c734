"""Row curves: the Dojo paper's figure 4, a box on a floor pushed by an impulse, and the derivative of where it goes.

The box has a side of 0.5 m and 1 kg, gravity is 1 m/s^2, the coefficient of friction 1, one step takes 0.1 s.  The
paper's smoothness is a complementarity kappa [J s]; ours is a gap and a slip: kappa over m g h, for the mass m that a
contact feels, and over mu m g h.  The exact figures solve the central path's equations in NumPy.
"""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from scipy.optimize import root

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save

SIDE, MASS, G, MU, H = 0.5, 1.0, 1.0, 1.0, 0.1
INERTIA = MASS * SIDE * SIDE / 6
KAPPAS = (1e-3, 1e-4, 1e-8)
PUSH = 0.1  # N s, of the figures that are printed
PAPER = {  # displacement [m] and derivative there, by kappa, of the design: the exact path of four corners
    ("impact", 1e-4): (4.492e-3, 0.050220),
    ("impact", 1e-8): (4.4723e-5, 0.0500022),
    ("friction", 1e-4): (1.667e-3, 0.02414),
    ("friction", 1e-8): (2.120e-5, 0.02151),
}
CASES = {"impact": 1, "friction": 0}  # the coordinate that is pushed and looked at
SAMPLES, DEVIATIONS = 500, (0.01, 0.03, 0.1)  # N s
CORNER = f'<geom size="1e-9" pos="{{x}} 0 {{z}}" friction="{MU} 0 0"/>'
CORNERS = [(x, z) for z in (-SIDE / 2, SIDE / 2) for x in (-SIDE / 2, SIDE / 2)]
BOX = f"""<mujoco><option timestep="{H}" gravity="0 0 {-G}" integrator="implicitfast" cone="elliptic"/><worldbody>
<geom type="plane" size="5 5 1" friction="{MU} 0 0"/>
<body pos="0 0 {SIDE / 2}"><inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
{"".join(CORNER.format(x=x, z=z) for x, z in CORNERS)}</body></worldbody></mujoco>"""


def curves(out: pathlib.Path | None) -> None:
    """Displacement and derivative over the impulse, for impact and friction, and smoothing by samples beside."""
    box = mjx.Model.from_xml_string(BOX)
    pushes = np.linspace(-0.1, 0.3, 81)
    here = int(np.argmin(np.abs(pushes - PUSH)))
    smooth = {(case, kappa): _ours(box, kappa, place, pushes) for case, place in CASES.items() for kappa in KAPPAS}
    print(f"planar box, at an impulse of {PUSH} N s: displacement [m], derivative [m / N s]")
    for (case, kappa), (x, slope, lost) in smooth.items():
        exact = "{:.4e} {:.6f}".format(*_exact(CASES[case], kappa))
        paper = "{:.4e} {:.6f}".format(*PAPER[case, kappa]) if (case, kappa) in PAPER else "-"
        print(f"  {case:<8} kappa {kappa:g}: ours {x[here]:.4e} {slope[here]:.6f}   exact {exact}   design {paper}")
        if lost:
            print(f"           {lost} of {len(pushes)} solves short")
    sampled = {case: _by_samples(box, place, pushes) for case, place in CASES.items()}
    for case, place in CASES.items():
        ends = [_in_c(place, push) for push in (PUSH, PUSH - 1e-6, PUSH + 1e-6)]
        print(f"  {case:<8} MuJoCo C, soft: {ends[0]:.4e} {(ends[2] - ends[1]) / 2e-6:.6f}")
        for deviation, (values, noise) in sampled[case].items():
            value = f"{values[here]:.4f} +- {noise[here]:.4f} by chance"
            print(f"  {case:<8} {SAMPLES} samples, deviation {deviation}: {value}")
        apart = np.abs(smooth[case, 1e-4][0] - smooth[case, 1e-8][0]).max()
        print(f"  {case:<8} largest difference of displacement, kappa 1e-4 from 1e-8: {apart:.2e} m")
    if out:
        _draw(out, pushes, smooth, sampled)


def _hard(box: mjx.Model, kappa: float) -> mjx.Model:
    felt = 1 / float(mjx.forward(box, mjx.make_data(box)).efc_diagA[0])
    return mjx.with_hard_contact(box, kappa / (felt * G * H), kappa / (MU * felt * G * H), iterations=60)


def _moved(m: mjx.Model, way: jax.Array, push: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the displacement along `way`, shape (3,), after a step with an impulse, and whether its solve is short."""
    end = mjx.step(m, mjx.make_data(m).replace(qfrc_applied=way * push / H))
    return end.qpos @ way, end.unconverged


_MANY = jax.jit(jax.vmap(jax.value_and_grad(_moved, 2, has_aux=True), (None, None, 0)))
_SAMPLES = jax.jit(lambda m, way, pushes: jax.lax.map(jax.vmap(lambda push: _moved(m, way, push)[0]), pushes))


def _ours(box: mjx.Model, kappa: float, place: int, pushes: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    (x, lost), slopes = _MANY(_hard(box, kappa), jnp.eye(3)[place], jnp.asarray(pushes))
    return np.asarray(x), np.asarray(slopes), int(lost.sum())


def _by_samples(box: mjx.Model, place: int, pushes: np.ndarray) -> dict[float, tuple[np.ndarray, np.ndarray]]:
    """Return, by deviation, the derivative from samples of the sharp box and its own deviation by chance."""
    m, way = _hard(box, KAPPAS[-1]), jnp.eye(3)[place]
    noise = np.random.default_rng(0).normal(size=(len(pushes), SAMPLES))
    found = {}
    for deviation in DEVIATIONS:
        ends = np.asarray(_SAMPLES(m, way, jnp.asarray(pushes[:, None] + deviation * noise)))
        values = (ends - ends.mean(1, keepdims=True)) * noise / deviation
        found[deviation] = values.mean(1), values.std(1) / SAMPLES**0.5
    return found


def _in_c(place: int, push: float) -> float:
    model = mujoco.MjModel.from_xml_string(BOX)
    data = mujoco.MjData(model)
    data.qfrc_applied[place] = push / H
    mujoco.mj_step(model, data)
    return data.qpos[place]


def _exact(place: int, kappa: float) -> tuple[float, float]:
    """Return displacement and derivative at the impulse on the central path of all four corners."""
    ends = [H * _velocity(place, push, kappa)[place] for push in (PUSH, PUSH - 1e-5, PUSH + 1e-5)]
    return ends[0], (ends[2] - ends[1]) / 2e-5


def _velocity(place: int, push: float, kappa: float) -> np.ndarray:
    """Return x, z and pitch velocity at the end of a step, by continuation from a large kappa."""
    y, k = np.array([0, -3.0, -3.0]), 0.1
    while True:
        found = root(lambda y, k=k: _balance(_from_heights(y), place, push, k), y, tol=1e-13)
        y = found.x
        if k == kappa:
            return _from_heights(y)
        k = max(0.6 * k, kappa)


def _from_heights(y: np.ndarray) -> np.ndarray:
    """Return velocities from that along x and the logarithms of the heights of the lower corners."""
    rear, front = np.exp(y[1:])
    pitch = np.arcsin((rear - front) / SIDE)
    return np.array([y[0], ((rear + front) / 2 - SIDE / 2 * (1 - np.cos(pitch))) / H, pitch / H])


def _balance(v: np.ndarray, place: int, push: float, kappa: float) -> np.ndarray:
    """Return what is left of the balance of impulses; the friction of the central path is in closed form."""
    c, s = np.cos(H * v[2]), np.sin(H * v[2])
    left = np.array([MASS * v[0], MASS * (v[1] + G * H), INERTIA * v[2]])
    left[place] -= push
    for corner in CORNERS:
        x, z = np.array([[c, s], [-s, c]]) @ corner
        normal = kappa / (SIDE / 2 + H * v[1] + z)
        slide, width = v[0] + z * v[2], kappa / (2 * MU * normal)
        rub = -MU * normal * slide / (width + np.hypot(width, slide))
        left -= np.array([rub, normal, z * rub - x * normal])
    return left


def _draw(out: pathlib.Path, pushes: np.ndarray, smooth: dict, sampled: dict) -> None:
    """Draw displacements, and derivatives by smoothness and by samples."""
    plot, axes = figure(2, 3, 9.5, 5)
    for row, case in zip(axes, CASES, strict=True):
        for kappa in KAPPAS:
            row[0].plot(pushes, smooth[case, kappa][0], label=f"kappa {kappa:g}")
            row[1].plot(pushes, smooth[case, kappa][1], label=f"kappa {kappa:g}")
        for deviation, (values, _) in sampled[case].items():
            row[2].plot(pushes, values, lw=0.8, label=f"deviation {deviation} N s")
        row[2].plot(pushes, smooth[case, KAPPAS[-1]][1], "k:", label="without smoothing")
        names = ("displacement [m]", "derivative, ours", f"derivative, {SAMPLES} samples")
        for axis, name in zip(row, names, strict=True):
            axis.set_title(f"{case}: {name}")
            axis.set_xlabel("impulse [N s]")
            axis.legend()
    save(plot, out / "hard_curves.png")
