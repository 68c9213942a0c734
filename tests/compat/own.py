"""Runs a test file of MJX's own wheel on this engine: python -m tests.compat.own NAME; NAME as in NAME_test.py.

Prints, as JSON, how many tests ran and, of those that did not pass, the name and the last line of what was raised.
Inner modules of MJX that this engine has not are empty here: what needs them fails, the rest of the file runs.
"""

import importlib.util
import json
import os
import pathlib
import sys
import types
import unittest


def main(name: str) -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"
    wheel = pathlib.Path(importlib.util.find_spec("mujoco").origin).parent / "mjx"
    import mjx_like.compat

    mjx_like.compat.install()
    _data_of(wheel)
    for module in ("mujoco.mjx.warp", "mujoco.mjx.warp.types", "mujoco.mjx.warp.warp"):
        sys.modules[module] = types.ModuleType(module)
    sys.modules["mujoco.mjx.warp"].WARP_INSTALLED = False
    sys.modules["mujoco.mjx.warp.warp"].warp = None
    import mujoco.mjx
    import mujoco.mjx._src as inner

    mujoco.mjx.warp = sys.modules["mujoco.mjx.warp"]
    sys.modules["mujoco.mjx.warp"].types = sys.modules["mujoco.mjx.warp.types"]
    for module in ("collision_driver", "constraint", "solver"):
        sys.modules[f"mujoco.mjx._src.{module}"] = types.ModuleType(module)
        setattr(inner, module, sys.modules[f"mujoco.mjx._src.{module}"])
    inner.solver.solve = mujoco.mjx.solve
    inner.test_util = _load(wheel, "test_util")
    suite = unittest.defaultTestLoader.loadTestsFromModule(_load(wheel, f"{name}_test"))
    result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
    bad = result.failures + result.errors
    failed = {test._testMethodName: text.strip().splitlines()[-1] for test, text in bad}
    print(json.dumps({"ran": result.testsRun, "skipped": len(result.skipped), "failed": failed}))


def _load(wheel: pathlib.Path, name: str):
    spec = importlib.util.spec_from_file_location(f"mujoco.mjx._src.{name}", wheel / "_src" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _data_of(wheel: pathlib.Path) -> None:
    """Let the tests find the model files of the wheel, which they look for beside `mujoco.mjx`."""
    from etils import epath

    elsewhere = epath.resource_path
    epath.resource_path = lambda package: epath.Path(wheel) if str(package) == "mujoco.mjx" else elsewhere(package)


if __name__ == "__main__":
    main(*sys.argv[1:])
