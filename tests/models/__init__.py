"""Model files of this repository: those that users see, and small ones for one feature, stack or rounding each."""

import pathlib

HERE = pathlib.Path(__file__).parent
MAIN = sorted((HERE.parents[1] / "models").glob("*.xml"))
FEATURES = sorted(HERE.glob("features/*.xml"))
STACKS = sorted(HERE.glob("stacks/*.xml"))
ROUNDING = sorted(HERE.glob("rounding/*.xml"))
SMALL = [*MAIN, *FEATURES]  # each held against MuJoCo and against differences in the default run
ALL = [*MAIN, *FEATURES, *STACKS, *ROUNDING]
