"""mjx_like: its own `rollout`, as its users call it."""

from importlib.metadata import version

from job import compiled, error, finish, inputs, spread, start, timed

JOB = start()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import mjx_like  # noqa: E402
from mjx_like import Data, Model  # noqa: E402
from mjx_like.cli.controls import random_controls  # noqa: E402

jax.config.update("jax_enable_x64", JOB["dtype"] == "float64")
STATE = ("qpos", "qvel", "act", "qacc_warmstart")


def record(d: Data) -> tuple:
    """Return solver iterations, contacts and rows of one world."""
    return d.solver_niter, d.ncon, d.nefc


def worlds(d: Data, states: dict, prefix: str) -> Data:
    """Return a batch of Data at the states whose names begin with `prefix`."""
    given = {name: jnp.asarray(states[prefix + name], d.qpos.dtype) for name in STATE}
    count = len(given["qpos"])
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), d).replace(**given)


def load(job: dict) -> Model:
    names = ("nconmax", "njmax", "contact", "gap", "slip", "integrator")
    m = Model.from_xml_path(job["model"], **{n: job[n] for n in names})
    changed = {n: job[n] for n in ("iterations", "ls_iterations", "refresh") if job[n] is not None}
    return m.replace(opt=m.opt.replace(**changed))


def measure(job: dict) -> dict:
    if job["platform"] == "gpu" and jax.default_backend() == "cpu":
        raise mjx_like.InputError("jax finds no GPU here")
    m, states = load(job), inputs(job)
    d = mjx_like.make_data(m)
    batch, ctrl = worlds(d, states, ""), jnp.asarray(states["ctrl"], d.qpos.dtype)
    run, answer = compiled(lambda m, d, u: mjx_like.rollout(m, d, u, record=record, return_data=True), m, batch, ctrl)
    seen, final = jax.block_until_ready(run(m, batch, ctrl))
    answer |= timed(lambda: jax.block_until_ready(run(m, batch, ctrl)), job["batch"] * job["steps"])
    for name, values in zip(("iterations", "contacts", "rows"), seen, strict=True):
        answer |= spread(name, values)
    answer["allocated"] = f"{m.nconmax} / {m.njmax}"
    full = (final.maxuse_con > m.nconmax) | (final.maxuse_efc > m.njmax)
    answer |= {"overflow": int(np.sum(full)), "unconverged": int(np.sum(final.unconverged))}
    own = ["hard contact"] * (m.hard is not None) + [job["integrator"]] * (job["integrator"] is not None)
    answer["engine"] = ", ".join([f"mjx_like {version('mjx_like')}", *own])
    if "sample_qacc" in states and not own:  # MuJoCo's are of soft contact and the integrator of the model
        samples = worlds(d, states, "sample_").replace(ctrl=jnp.asarray(states["sample_ctrl"], d.qpos.dtype))
        answer |= error(jax.jit(jax.vmap(lambda d: mjx_like.forward(m, d).qacc))(samples), states["sample_qacc"])
    return answer


def prepare(job: dict) -> None:
    """Write the inputs where MuJoCo is not installed: states at the start, small velocities, random controls."""
    m, rng = load(job), np.random.default_rng(job["seed"])
    d = mjx_like.make_data(m, key=0 if m.nkey else None)
    out = {name: np.tile(np.asarray(getattr(d, name), float), (job["batch"], 1)) for name in STATE}
    out["qvel"] += 0.01 * rng.normal(size=out["qvel"].shape)
    np.savez(job["states"], **out, ctrl=random_controls(m, job["seed"], job["batch"], 0, job["steps"]))


def main() -> None:
    if JOB["prepare"]:
        prepare(JOB)
        finish(JOB, {})
    else:
        finish(JOB, measure(JOB))


if __name__ == "__main__":
    main()
