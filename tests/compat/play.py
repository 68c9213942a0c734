"""Runs environments of MuJoCo Playground or Brax on one of two engines: python -m tests.compat.play ENGINE OUT NAME...

ENGINE is mjx or mjx_like: a process of its own, for the choice is made where `mujoco.mjx` is first imported. NAME is an
environment of Playground's dm_control_suite, or brax:NAME; with an @ at its end the solver may converge. OUT gets what
each of `STEPS` control steps returns, as .npz.
"""

import os
import sys

STEPS = 10
CONVERGED = {"opt.iterations": 100, "opt.ls_iterations": 50, "opt.tolerance": 1e-14, "opt.ls_tolerance": 1e-6}
FIELDS = ("qpos", "qvel", "act", "ctrl", "xpos", "xquat", "sensordata", "qacc")


def main(engine: str, out: str, *names: str) -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"
    import jax

    jax.config.update("jax_enable_x64", True)
    if engine == "mjx_like":
        import mjx_like.compat

        mjx_like.compat.install()
    import numpy as np

    found = {}
    for name in names:
        for key, value in _run(_environment(name), np.random.default_rng(0)).items():
            found[f"{name}/{key}"] = value
    np.savez(out, **found)


def _environment(name: str):
    if name.startswith("brax:"):
        from brax import envs

        env, where = (
            envs.create(name.strip("@").removeprefix("brax:"), auto_reset=False, backend="mjx").unwrapped,
            "sys",
        )
    else:
        from mujoco_playground._src import dm_control_suite

        env, where = dm_control_suite.load(name.strip("@"), config_overrides={"impl": "jax"}), "_mjx_model"
    if name.endswith("@"):
        setattr(env, where, getattr(env, where).tree_replace(CONVERGED))
    return env


def _run(env, rng) -> dict:
    import jax
    import numpy as np

    reset, step = jax.jit(env.reset), jax.jit(env.step)
    state = reset(jax.random.PRNGKey(0))
    record = {"obs": [], "reward": []} | {name: [] for name in FIELDS}
    for _ in range(STEPS):
        state = step(state, rng.uniform(-1, 1, env.action_size))
        data = state.pipeline_state if hasattr(state, "pipeline_state") else state.data
        record["obs"].append(jax.tree.map(np.asarray, state.obs))
        record["reward"].append(np.asarray(state.reward))
        for name in FIELDS:
            record[name].append(np.asarray(getattr(data, name)))
    return {name: np.stack(values) for name, values in record.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
