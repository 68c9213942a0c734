"""One program measured on the device at hand, in a process of its own; `benchmarks.gpu` starts it.

It compiles, prints `ready` with what it knows by then, and times a round for each line that it reads. A run goes on
from the states that the last one reached, so that rounds are of worlds in motion and in contact.
"""

import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

SECONDS = 1.0  # of a round


@dataclasses.dataclass(frozen=True)
class Case:
    """What is measured.

    what: `rollout`; `gradient` of a rollout by its controls; `mjx`, the same rollout by MJX; `check` and
        `check_gradient`, the first two against the CPU.
    kernels: whether those of our own are used. contact: `soft` or `hard`.
    profile: path, without an ending, of a list of kernels with their times and of the program; None for no profile.
    """

    what: str
    model: str
    batch: int
    steps: int = 20
    kernels: bool = True
    float64: bool = False
    contact: str = "soft"
    profile: str | None = None

    @property
    def name(self) -> str:
        about = " without own kernels" * (not self.kernels) + " in double precision" * self.float64
        about += f" {self.contact} contact" * (self.contact != "soft")
        return f"{self.what} {pathlib.Path(self.model).stem} {self.batch}{about}"


def ours(case: Case) -> tuple[Any, Any, Any, Callable[..., Any]]:
    """Return Model, Data of many worlds that differ a little, random controls, and a rollout or its gradient."""
    import jax
    import jax.numpy as jnp

    import mjx_like as mjx
    from mjx_like.cli.controls import random_controls

    m = mjx.Model.from_xml_path(case.model, contact=case.contact)
    worlds = _differing(mjx.make_data(m, key=0 if m.nkey else None), case.batch)
    ctrl = jnp.asarray(random_controls(m, 0, case.batch, 0, case.steps), worlds.qpos.dtype)

    def rollout(m, d, ctrl):
        return mjx.rollout(m, d, ctrl, record=lambda d: d.qpos[:2], return_data=True)

    def ahead(ctrl, m, d):
        positions, last = rollout(m, d, ctrl)
        return positions[..., 0].sum(), last

    def advance(m, d, ctrl):
        if case.what in ("gradient", "check_gradient"):
            found, last = jax.grad(ahead, has_aux=True)(ctrl, m, d)
        else:
            found, last = rollout(m, d, ctrl)
        seen = {
            "contacts": last.maxuse_con.max(),
            "rows": last.maxuse_efc.max(),
            "overflow": ((last.maxuse_con > m.nconmax) | (last.maxuse_efc > m.njmax)).sum(),
            "unconverged": last.unconverged.sum(),
            "lost": (~jnp.isfinite(last.qpos).all(axis=-1)).sum(),
        }
        return last, found, seen

    return m, worlds, ctrl, advance


def mjx_peer(case: Case) -> tuple[Any, Any, Any, Callable[..., Any]]:
    """Return the same of MJX: `vmap` of a scan over its step, as its users write it."""
    import jax
    import jax.numpy as jnp
    import mujoco
    from mujoco import mjx

    from mjx_like.cli.controls import random_controls

    mj = mujoco.MjModel.from_xml_path(case.model)
    data = mujoco.MjData(mj)
    if mj.nkey:
        mujoco.mj_resetDataKeyframe(mj, data, 0)
    m, d = mjx.put_model(mj), mjx.make_data(mj)
    worlds = _differing(d.replace(qpos=jnp.asarray(data.qpos, d.qpos.dtype)), case.batch)
    ctrl = jnp.asarray(random_controls(mj, 0, case.batch, 0, case.steps), d.qpos.dtype)

    def world(m, d, ctrl):
        return jax.lax.scan(lambda d, u: (mjx.step(m, d.replace(ctrl=u)), None), d, ctrl)[0]

    def advance(m, d, ctrl):
        last = jax.vmap(world, in_axes=(None, 0, 0))(m, d, ctrl)
        return last, None, {"lost": (~jnp.isfinite(last.qpos).all(axis=-1)).sum()}

    return m, worlds, ctrl, advance


def _differing(d: Any, batch: int) -> Any:
    import jax
    import jax.numpy as jnp

    worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d)
    return worlds.replace(
        qvel=worlds.qvel + 0.01 * jax.random.normal(jax.random.key(0), worlds.qvel.shape, worlds.qvel.dtype)
    )


def check(case: Case) -> dict[str, Any]:
    """Return how far states, or gradients over the largest of a world, on the device are from those of the CPU."""
    import jax
    import numpy as np

    m, d, ctrl, advance = ours(case)
    found = []
    for device in (jax.devices()[0], jax.devices("cpu")[0]):
        last, output, _ = jax.jit(advance)(*jax.device_put((m, d, ctrl), device))
        values = {"gradient": output} if case.what == "check_gradient" else {"qpos": last.qpos, "qvel": last.qvel}
        found.append({name: np.asarray(x, np.float64).reshape(case.batch, -1) for name, x in values.items()})
    row = {}
    for name, reference in found[1].items():
        apart = np.abs(found[0][name] - reference).max(axis=-1, initial=0)
        if case.what == "check_gradient":
            apart = apart / np.abs(reference).max(axis=-1)
        row |= {f"{name}_apart": float(apart.max()), f"{name}_apart_median": float(np.median(apart))}
    return row


def rounds(case: Case) -> Iterator[dict[str, Any]]:
    """Yield what is known once the program is compiled, then the rate of each round."""
    import jax

    m, d, ctrl, advance = mjx_peer(case) if case.what == "mjx" else ours(case)
    m, d, ctrl = jax.device_put((m, d, ctrl))
    begin = time.perf_counter()
    compiled = jax.jit(advance, donate_argnums=1).lower(m, d, ctrl).compile()
    seconds = time.perf_counter() - begin
    d, _, seen = jax.block_until_ready(compiled(m, d, ctrl))
    yield {"compile_s": seconds, "own_kernels": compiled.as_text().count("gpu$xla.gpu.triton")}
    while True:
        best, end = 0.0, time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            now = time.perf_counter()
            d, _, seen = jax.block_until_ready(compiled(m, d, ctrl))
            best = max(best, case.batch * case.steps / (time.perf_counter() - now))
        if case.profile:
            with tempfile.TemporaryDirectory() as folder:
                with jax.profiler.trace(folder):
                    d, _, seen = jax.block_until_ready(compiled(m, d, ctrl))
                pathlib.Path(case.profile + ".txt").write_text(kernel_times(pathlib.Path(folder), case.steps))
            pathlib.Path(case.profile + ".hlo").write_text(compiled.as_text())
        yield {"rate": best, **{name: float(x) for name, x in seen.items()}}


def kernel_times(folder: pathlib.Path, steps: int) -> str:
    """Return the kernels of a profile, the dearest first: microseconds a step, calls a step, name."""
    import jax

    times: dict[str, list[float]] = {}
    for file in folder.rglob("*.xplane.pb"):
        planes = [p for p in jax.profiler.ProfileData.from_file(str(file)).planes if "GPU" in p.name]
        for event in (e for p in planes for line in p.lines if "Stream" in line.name for e in line.events):
            times.setdefault(event.name, []).append(event.duration_ns / 1e3)
    rows = sorted(((sum(t), len(t), name) for name, t in times.items()), reverse=True)
    rows.append((sum(r[0] for r in rows), sum(r[1] for r in rows), "all"))
    return "".join(f"{time / steps:10.1f} {count / steps:8.2f}  {name}\n" for time, count, name in rows)


def main() -> None:
    case = Case(**json.loads(sys.argv[1]))
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several processes are on the device
    if not case.kernels:
        os.environ["MJX_LIKE_KERNELS"] = "off"
    import jax

    jax.config.update("jax_enable_x64", case.float64)
    if case.what.startswith("check"):
        print("done", json.dumps(check(case)), flush=True)
        return
    for row in rounds(case):
        print("ready", json.dumps(row), flush=True)
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    main()
