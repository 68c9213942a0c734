"""Row convergence: residual, iterations and condition number of the search, on states of three robots in contact."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

import mjx_like as mjx
from benchmarks.dojo.pictures import figure, save
from mjx_like.hard.components import parts
from mjx_like.hard.elimination import System
from mjx_like.hard.interior_point import tolerance
from mjx_like.hard.problem import contact_bound, times
from mjx_like.hard.rows import least_distance, motion, problem
from mjx_like.hard.scaling import Scaling
from mjx_like.hard.search import search
from mjx_like.integrator.table import step_metric
from mjx_like.math import lapack

GAPS = (1e-3, 1e-4, 1e-5, 1e-6)
ROBOTS = ("hopper", "quadruped", "humanoid")
WORLDS, FALL, KEPT, MOST = 8, 200, 5, 30  # worlds, steps of each, one state kept of so many steps, iterations


def convergence(out: pathlib.Path | None) -> None:
    """The first solve of a step, over gaps, from the velocity without contacts; as reported: within 15 iterations."""
    print(f"solver, float64: iterations to a residual of {tolerance(jnp.dtype('float64')):g}, over states in contact")
    plot, axes = figure(2, len(ROBOTS), 9.5, 5)
    for column, name in enumerate(ROBOTS):
        m = mjx.with_hard_contact(mjx.Model.from_xml_path(f"models/{name}.xml"))
        states = _states(m)
        for gap in GAPS:
            one = m.replace(opt=m.opt.replace(gap=jnp.asarray(gap), slip=jnp.asarray(10 * gap)))
            errors, conditions, contacts = (np.asarray(x) for x in _solves(one, states))
            _report(name, gap, errors[contacts > 0], conditions[contacts > 0])
            shown = errors[contacts > 0]
            axes[0, column].semilogy(np.median(shown, axis=0), label=f"gap {gap:g} m")
            axes[1, column].semilogy(np.median(conditions[contacts > 0], axis=0), label=f"gap {gap:g} m")
        axes[0, column].set_title(f"{name}: residual, median")
        axes[1, column].set_title(f"{name}: condition number, median")
        axes[1, column].set_xlabel("iterations")
        axes[0, column].legend()
    if out:
        save(plot, out / "hard_convergence.png")


def _report(name: str, gap: float, errors: np.ndarray, conditions: np.ndarray) -> None:
    done = errors <= tolerance(jnp.dtype("float64"))
    took = np.where(done.any(1), done.argmax(1), MOST + 1)
    over = 100 * (took > MOST).mean()
    print(
        f"  {name:<9} gap {gap:g}: median {np.median(took):.0f}, 95 % within {np.quantile(took, 0.95):.0f}, over {MOST}"
        f" {over:.1f} % of {len(took)}; residual after 15: median {np.median(errors[:, 15]):.0e};"
        f" condition at the end: median {np.median(conditions[:, -1]):.0e}, most {conditions[:, -1].max():.0e}",
        flush=True,
    )


def _states(m: mjx.Model) -> mjx.Data:
    """Return states of rollouts with random controls, with a leading axis."""
    low, high = m.actuator_ctrlrange.T
    ctrl = low + (high - low) * jax.random.uniform(jax.random.PRNGKey(0), (WORLDS, FALL, m.nu))
    d = mjx.make_data(m, key=0)

    @jax.jit
    def run(d, ctrl):
        def go(d, u):
            d = d.replace(ctrl=0.5 * (d.ctrl + u))
            return mjx.step(m, d), (d.qpos, d.qvel, d.ctrl)

        return jax.lax.scan(go, d, ctrl)[1]

    found = jax.vmap(run, (None, 0))(d, ctrl)
    qpos, qvel, ctrl = (x[:, FALL // 4 :: KEPT].reshape(-1, x.shape[-1]) for x in found)
    many = jax.tree.map(lambda x: jnp.broadcast_to(x, (len(qpos), *x.shape)), d)
    return many.replace(qpos=qpos, qvel=qvel, ctrl=ctrl)


@jax.jit
def _solves(m: mjx.Model, states: mjx.Data) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return residuals and condition numbers after each number of iterations, and numbers of contacts that push."""

    def one(d):
        d = mjx.fwd_acceleration(m, mjx.fwd_actuation(m, mjx.fwd_velocity(m, mjx.fwd_position(m, d))))
        own = motion(m, d, step_metric(m, d))
        free = lapack.solve(own.A, own.b)
        p, _ = problem(m, d, own, jnp.zeros_like(free), least_distance(d))

        def after(count):
            found = search(count, p, free)
            z = found.best
            contact = Scaling(contact_bound(p, z.gamma), parts(z.c), z.eta, parts(times(p.contact.J, z.nu)))
            loss = Scaling(p.bound, parts(z.loss_c), z.loss_eta, parts(times(p.loss.J, z.nu)))
            size = jnp.linalg.svd(System(p, z, contact.linear, loss.linear).matrix(), compute_uv=False)
            return found.error, size[0] / size[-1]

        errors, conditions = jax.lax.map(after, jnp.arange(MOST + 1))
        return errors, conditions, jnp.sum(p.contact.used * (p.distance[-p.contact.used.shape[0] :] < 1e-2))

    return jax.lax.map(one, states)
