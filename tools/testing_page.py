"""Writes the table of coverage in docs/testing.md: `python tools/testing_page.py`, needs the extra `test`."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
START, END = "## Coverage of the default run\n", "Whatever a small model shows"
FAMILIES = {
    "actuator": "actuator delay muscle position transmission",
    "contact, by pair": "pair",
    "contact, other": "condim contact portal speculative surface rangefinder",
    "constraint": "diagexact equality friction limit noslip solref solver invdiscrete",
    "integrator": "integrator",
    "kinematics and passive forces": "fluid joint kinematics passive springyield",
    "sensor": "sensor",
    "tendon": "tendon wrap",
}


def table() -> str:
    """Return the table: small models by family, and how many of each are in the default run of each comparison."""
    sys.path.insert(0, str(ROOT))
    from tests.forward.test_oracle import ALIKE
    from tests.gradient.test_features import QUICK
    from tests.models import FEATURES, MAIN, SMALL

    family_of = {prefix: name for name, prefixes in FAMILIES.items() for prefix in prefixes.split()}
    counts = {}
    for path in SMALL:
        name = "models/, for users" if path in MAIN else family_of[path.stem.split("_")[0].rstrip("0123456789")]
        counts.setdefault(name, collections.Counter()).update(
            models=1, compared=path.stem not in ALIKE, differentiated=path.stem in QUICK
        )
    counts = dict(sorted(counts.items())) | {"all": sum(counts.values(), collections.Counter())}
    rows = [f"| {name} | {n['models']} | {n['compared']} | {n['differentiated']} |" for name, n in counts.items()]
    assert len(SMALL) == len(MAIN) + len(FEATURES), "a small model that belongs to neither"
    return "\n".join(["| small models | | forward, step, inverse | gradient |", "|---|---|---|---|", *rows]) + "\n\n"


def page() -> str:
    """Return the page with its table made anew."""
    return re.sub(f"{START}.*?{END}", lambda _: START + table() + END, PAGE.read_text(), flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page())
