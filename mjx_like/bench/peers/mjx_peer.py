"""MJX: vmap of a scan over its step, as its users write it."""

from job import compiled, error, finish, inputs, spread, start, timed

JOB = start()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import mujoco  # noqa: E402
from mujoco import mjx  # noqa: E402

jax.config.update("jax_enable_x64", JOB["dtype"] == "float64")


def record(d: mjx.Data) -> tuple:
    """Return contacts and rows in use of one world; MJX does not report its iterations."""
    used = jnp.any(d._impl.efc_J != 0, axis=-1) if d._impl.efc_J.size else jnp.zeros(0)
    return (d._impl.contact.dist < 0).sum(), used.sum()


def rollout(m: mjx.Model, d: mjx.Data, ctrl: jax.Array) -> tuple:
    def advance(d, u):
        d = mjx.step(m, d.replace(ctrl=u))
        return d, record(d)

    return jax.lax.scan(advance, d, ctrl)


def measure(job: dict) -> dict:
    mj, states = mujoco.MjModel.from_xml_path(job["model"]), inputs(job)
    for name in ("iterations", "ls_iterations"):
        setattr(mj.opt, name, job[name] or getattr(mj.opt, name))
    m, d = mjx.put_model(mj), mjx.make_data(mj)

    def worlds(prefix: str) -> mjx.Data:
        names = ("qpos", "qvel", "act", "qacc_warmstart")
        given = {name: jnp.asarray(states[prefix + name], d.qpos.dtype) for name in names}
        count = len(given["qpos"])
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), d).replace(**given)

    batch, ctrl = worlds(""), jnp.asarray(states["ctrl"], d.qpos.dtype)
    run, answer = compiled(lambda m, d, u: jax.vmap(rollout, in_axes=(None, 0, 0))(m, d, u), m, batch, ctrl)
    _, seen = jax.block_until_ready(run(m, batch, ctrl))
    answer |= timed(lambda: jax.block_until_ready(run(m, batch, ctrl)), job["batch"] * job["steps"])
    for name, values in zip(("contacts", "rows"), seen, strict=True):
        answer |= spread(name, values)
    answer["allocated"] = f"{d._impl.contact.dist.shape[0]} / {d._impl.efc_J.shape[0]}"
    if "sample_qacc" in states:
        samples = worlds("sample_").replace(ctrl=jnp.asarray(states["sample_ctrl"], d.qpos.dtype))
        qacc = jax.jit(jax.vmap(lambda d: mjx.forward(m, d).qacc))(samples)
        answer |= error(qacc, states["sample_qacc"])
    return answer


if __name__ == "__main__":
    from importlib.metadata import version

    finish(JOB, {"engine": f"MJX {version('mujoco-mjx')}", **measure(JOB)})
