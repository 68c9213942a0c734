"""Writes docs/reference/fields.md from the declarations of Model and Data: `python tools/fields_page.py`."""

import pathlib

from mjx_like.types.data import Contact, Data
from mjx_like.types.hard import HardContact
from mjx_like.types.model import Model
from mjx_like.types.option import OptionFloats, Statistic
from mjx_like.types.pytree import Role, leaves
from mjx_like.types.smoothing import Smoothing

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "reference" / "fields.md"
HEAD = """# Fields of Model and Data

Generated from the declarations in `mjx_like/types` by `python tools/fields_page.py`; do not edit. Sizes, ids, types and
flags of a Model (`m.nq`, `m.geom_type`) have mjModel's names and shapes and are not listed.

- **shape**: of one world; names are sizes of the Model. `nconmax` and `njmax` are the capacities of its buffers.
- **unit**: and the frame. Commas stand between components, `or` between a translation and a rotation, or between
  formats; `1` has no dimension. Angles are radians but where it says `deg`.
- **type**: of integers and flags; all else is a float of the type that the Model was loaded with.

| role | meaning |
|---|---|
"""
MEANING = {
    Role.PARAMETER: "what the model files say",
    Role.DERIVED: "follows from the parameters: the compiler sets it, and `set_const` most of it anew",
    Role.VISUAL: "how it is drawn; rays pass through what is wholly transparent",
    Role.USER: "kept for the user, and not read",
    Role.KEYFRAME: "a state to begin from",
    Role.STATE: "what a step advances",
    Role.WARMSTART: "where the solver begins",
    Role.INPUT: "set by the user, and kept by a step",
    Role.SOLUTION: "the acceleration of the last step, which a reset clears",
    Role.USERDATA: "the user's own, for hooks to read; a step keeps it",
    Role.MEMORY: "state of delays and of springs that yield",
    Role.COUNTER: "only grows; `check` explains it",
    Role.RESULT: "computed from all that",
}
STARRED = """
A star marks a field whose zeros decide, when the model is compiled, that a term does not exist. `active=` keeps it.
"""
SECTIONS = (
    ("Model", "`m.<field>`", Model),
    ("Options", "`m.opt.<field>`", OptionFloats),
    ("Statistics", "`m.stat.<field>`", Statistic),
    ("Smoothing", "`m.smoothing.<field>`, of a model from `with_smoothing`", Smoothing),
    ("Hard contact", "`m.hard.<field>`, of a model from `with_hard_contact`", HardContact),
    ("Data", "`d.<field>`", Data),
    ("Contacts", "`d.contact.<field>`", Contact),
)


def shape(dims: tuple[int | str, ...]) -> str:
    """Return a shape as Python writes it."""
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def table(kind: type) -> str:
    """Return the rows of a record."""
    typed = any(f.metadata["dtype"] is not float for f in leaves(kind))
    lines = [f"| field | shape | {'type | ' if typed else ''}unit | role |", "|---|---|---|---|" + "---|" * typed]
    for field in leaves(kind):
        x = field.metadata
        name = f"`{field.name}`" + (" *" if x["term"] is not None else "")
        dtype = [] if not typed else ["" if x["dtype"] is float else x["dtype"].__name__]
        lines.append("| " + " | ".join([name, shape(x["shape"]), *dtype, x["unit"], x["role"].value]) + " |")
    return "\n".join(lines)


def page() -> str:
    """Return the text of the page."""
    roles = "\n".join(f"| {role.value} | {MEANING[role]} |" for role in Role)
    parts = [f"{HEAD}{roles}\n{STARRED}"]
    parts += [f"## {title}\n\n{where}\n\n{table(kind)}\n" for title, where, kind in SECTIONS]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
