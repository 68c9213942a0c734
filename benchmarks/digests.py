"""Digests of what a move of code must not change: `python -m benchmarks.digests > before.txt`, then diff.

One row for the lowered text of the step and of the gradient of a rollout of each of ten models, and one for the arrays
and the Topology of every model of the repository. Run it from the root of the repository, in both checkouts with the
same jax: other releases write other text.
"""

import argparse
import hashlib
import pathlib

from benchmarks.compile import MODELS, ROOT, loaded, lowered

PROGRAMS = ("arm", "ant", "cartpole", "double_pendulum", "half_cheetah", "hopper", "humanoid", "quadruped", "walker")
PROGRAMS += ("every_sensor",)
FUNCTIONS = ("step", "gradient")


def digest_of_text(path: pathlib.Path, function: str) -> str:
    """Return the digest of the StableHLO text of a function of a model."""
    return hashlib.sha256(lowered(*loaded(path, function)).as_text().encode()).hexdigest()[:16]


def digest_of_model(path: pathlib.Path) -> str:
    """Return the digest of the arrays and the Topology of a compiled model."""
    import jax
    import numpy as np

    import mjx_like

    m = mjx_like.Model.from_xml_path(str(path))
    state = hashlib.sha256(m.topology.digest)
    for leaf in jax.tree.leaves(m):
        array = np.asarray(leaf)
        state.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return state.hexdigest()[:16]


def main() -> None:
    """Print one row for each program and each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(PROGRAMS), help="whose programs, comma-separated")
    args = parser.parse_args()
    for name in args.models.split(","):
        for function in FUNCTIONS:
            print(f"{name:24}{function:12}{digest_of_text(MODELS[name], function)}", flush=True)
    for path in sorted([*ROOT.glob("models/*.xml"), *ROOT.glob("tests/models/**/*.xml")]):
        print(f"{path.stem:48} {digest_of_model(path)}", flush=True)


if __name__ == "__main__":
    main()
