"""Programs have ceilings: of what is traced, and of what XLA makes of it for a CPU, for a given release of jax.

Whoever makes a program longer sees it here; whoever makes one shorter lowers its ceiling. docs/performance.md says what
the lines cost. The measured count is below each ceiling of a text by 1 to 2 %, of a compiled program by 3 to 5 %.
"""

import json

import jax
import pytest

from benchmarks.compile import COUNTS, MODELS
from tests.support.processes import succeeds

CEILINGS = {
    ("humanoid", "step"): 7_200,
    ("hopper", "step"): 7_350,
    ("ant", "step"): 5_370,
    ("pair_box_box", "step"): 6_960,
    ("pair_cylinder_box", "step"): 11_800,
    ("arm", "step"): 20_000,
    ("every_sensor", "step"): 25_700,
    ("every_geom", "step"): 30_700,
    ("hopper", "gradient"): 13_900,
    ("pair_cylinder_box", "gradient"): 28_900,
    ("arm", "gradient"): 49_500,
}
COMPILED = {  # equations, lines of HLO, fusions, kB accessed
    ("ant", "step"): (3_050, 13_600, 258, 450),
    ("half_cheetah", "batch"): (3_120, 15_200, 352, 2_050),
    ("humanoid", "step"): (4_150, 18_400, 332, 2_160),
    ("hopper", "gradient"): (7_750, 33_400, 586, 490),
}
LONG = {
    ("pair_cylinder_box", "gradient"),
    ("hopper", "step"),
    *(x for x in CEILINGS if x[0] in ("arm", "every_geom", "every_sensor", "pair_box_box")),
}
MEASURED = "0.10."  # other releases of jax write other text


@pytest.mark.skipif(not jax.__version__.startswith(MEASURED), reason=f"measured with jax {MEASURED}x")
@pytest.mark.parametrize(
    "model, function",
    [pytest.param(*case, marks=pytest.mark.slow if case in LONG else (), id="-".join(case)) for case in CEILINGS],
)
def test_text_is_below_its_ceiling(model, function):
    assert float32_lines(MODELS[model], function) <= CEILINGS[model, function]


@pytest.mark.skipif(not jax.__version__.startswith(MEASURED), reason=f"measured with jax {MEASURED}x")
@pytest.mark.parametrize(
    "model, function",
    [
        pytest.param(*case, marks=pytest.mark.slow if k > 1 else (), id="-".join(case))
        for k, case in enumerate(COMPILED)
    ],
)
def test_compiled_program_is_below_its_ceilings(model, function):
    code = f"from benchmarks.compile import *; print(json.dumps(measured({model!r}, {function!r}, 'mjx_like')))"
    counts = dict(zip(COUNTS, json.loads(succeeds(code)), strict=False))  # seconds and memory come after them
    found = [counts[name] for name in ("equations", "hlo", "fusions", "kB")]
    print(counts)
    assert all(x <= most for x, most in zip(found, COMPILED[model, function], strict=True))


@pytest.mark.slow
def test_stages_of_rk4_are_compiled_once(tmp_path):
    counts = {}
    for integrator in ("Euler", "RK4"):
        path = tmp_path / f"{integrator}.xml"
        path.write_text(MODELS["hopper"].read_text().replace("implicitfast", integrator))
        counts[integrator] = float32_lines(path, "step")
    assert counts["RK4"] < 1.02 * counts["Euler"]


def float32_lines(path, function):
    """Return the lines that a process of its own counts: in this one tables of integers have 64 bits."""
    code = f"from benchmarks.compile import *; print(lines(lowered(*loaded({str(path)!r}, {function!r}))))"
    return int(succeeds(code))


def test_models_of_the_benchmark_exist():
    assert {model for model, _ in {*CEILINGS, *COMPILED}} <= set(MODELS)
