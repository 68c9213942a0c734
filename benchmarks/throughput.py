"""Speed of mjx_like beside MJX and MuJoCo C on real models, in one run: `python benchmarks/throughput.py`.

Models are those of gymnasium and dm_control, as they are, with their own solver settings and mjx_like's default
capacities. Each engine runs in a process of its own, pinned to one core (MJX can hang on two), one after the other.
"""

import argparse
import importlib.util
import pathlib

from mjx_like.bench.engines import Settings, compare, table


def folder(package: str) -> pathlib.Path:
    return pathlib.Path(importlib.util.find_spec(package).origin).parent


GYM, SUITE = folder("gymnasium") / "envs/mujoco/assets", folder("dm_control") / "suite"
MODELS = ((GYM / "ant.xml", 1024), (GYM / "half_cheetah.xml", 1024), (SUITE / "humanoid.xml", 64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platform", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="", help="part of the path of the models to run")
    args = parser.parse_args()
    for model, batch in MODELS:
        if args.only in str(model):
            settings = Settings(str(model), batch=batch, steps=args.steps, platform=args.platform)
            print(table(settings, compare(settings, ("mjx", "mujoco"))), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
