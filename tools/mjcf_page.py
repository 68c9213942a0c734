"""The reference page of the modelling language, made from the table.

`python tools/mjcf_page.py > docs/reference/mjcf.md`
"""

import sys

import numpy as np

from mjx_like.mjcf.actuator.shortcut import DEFAULTS
from mjx_like.mjcf.schema import ELEMENTS, Attribute, ElementType, Kind, Rule

INTRODUCTION = """# MJCF: elements and attributes

Made from the table that reads and writes models: `python tools/mjcf_page.py > docs/reference/mjcf.md`; a test holds
this page to the table, the table to the grammar that MuJoCo prints, and every default to what MuJoCo compiles.

- **count**: how many numbers are given; `1-3` takes one to three, `any` is not bounded. A vector given in part
  replaces the leading numbers of its default.
- **default**: of an element that says nothing and has no class; `-` where the attribute is then absent.
- **presence**: `required`; `element` where a default class may not have the attribute. `names` declares a name,
  `of x` refers to an element of kind x.
- Children: `?` at most once, `*` any number, `R` any number and within itself.
- `composite` is the grammar of MuJoCo 3.1.6; all else is that of 4.0.0.

Where MuJoCo is more lenient, a line says what is wrong instead: options, places, masses and stiffnesses that are not
finite; more than 10,000 bodies, 6,000 degrees of freedom or 2,000,000 pairs of geoms; files of more than 512 MiB;
sizes that no memory holds; elements that MuJoCo passes over in silence (a body outside worldbody); XML entities.
Elements nest up to 499 deep. Of a file that is included only the first root element counts in MuJoCo; here a second one
is refused. Files are opened only if the model names them and they are regular files; nothing is read from a network.
"""


def element_names() -> list[str]:
    """Types in the order in which a reader meets them, those of default classes left out."""
    found, pending = [], ["mujoco"]
    while pending:
        kind = pending.pop(0)
        if kind in found or kind.startswith("default_"):
            continue
        found.append(kind)
        pending[:0] = [child.type for child in ELEMENTS[kind].children.values()]
    return found


def count(row: Attribute) -> str:
    """How many numbers or characters an attribute takes."""
    if row.kind is Kind.KEYWORDS:
        return "any"
    if row.kind is Kind.KEYWORD or (row.kind is Kind.STRING and not row.chars):
        return "1"
    if row.most is None:
        return "any"
    unit = " characters" if row.chars else ""
    return (f"{row.least}" if row.least == row.most else f"{row.least}-{row.most}") + unit


def default(kind: str, name: str, row: Attribute) -> str:
    """Default of an attribute, a shortcut's own parameters too."""
    value = DEFAULTS.get(kind, {}).get(name) if row.default is None else row.default
    if value is None:
        return "-"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str | tuple):
        return f"`{value if isinstance(value, str) else ' '.join(value)}`" if value else "empty"
    return "`" + " ".join(f"{number:g}" for number in np.ravel(value)) + "`"


def kind_of(row: Attribute) -> str:
    """What an attribute holds, its keywords or the kind of name."""
    if row.is_bool:
        return "`false`, `true`"
    if row.keywords:
        listed = ", ".join(f"`{word}`" for word in row.keywords)
        return f"some of {listed}" if row.kind is Kind.KEYWORDS else listed
    if row.declares:
        return f"names {row.declares}"
    if row.refers:
        return f"of {row.refers}"
    return "text" if row.kind is Kind.STRING else row.kind.value


def presence(row: Attribute, classed: bool) -> str:
    """Whether an attribute must or may stand, and its bounds."""
    found = ["required"] if row.required else []
    if classed and not row.in_default:
        found.append("element")
    if row.lowest is not None:
        found.append(f"at least {row.lowest:g}")
    if row.highest is not None:
        found.append(f"at most {row.highest:g}")
    if row.positive:
        found.append("positive")
    return ", ".join(found)


def rule_line(rule: Rule) -> str:
    """A rule over several attributes as a sentence."""
    bundles = [" with ".join(f"`{name}`" for name in bundle) for bundle in rule.bundles]
    if rule.relation == "together":
        return "Together or not at all: " + ", ".join(f"`{name}`" for name in rule.bundles[0]) + "."
    return f"{'At most one' if rule.relation == 'exclusive' else 'At least one'} of: {'; '.join(bundles)}."


def section(kind: str, row: ElementType) -> list[str]:
    """The lines of one element."""
    lines = [f"## {kind}", ""]
    if row.children:
        children = []
        for tag, child in row.children.items():
            target = child.type.removeprefix("default_")
            children.append(f"[{tag}](#{target}){child.arity}")
        lines += ["Children: " + ", ".join(children) + ".", ""]
    if row.record:
        lines += [f"Reads class record `{row.record}`.", ""]
    if row.attributes:
        lines += ["| attribute | holds | count | default | presence |", "|---|---|---|---|---|"]
        for name, attribute in row.attributes.items():
            cells = (
                f"`{name}`",
                kind_of(attribute),
                count(attribute),
                default(kind, name, attribute),
                presence(attribute, row.record is not None),
            )
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    lines += [line for rule in row.rules for line in (rule_line(rule), "")]
    return lines


def page() -> str:
    """The whole page."""
    kinds = element_names()
    lines = [INTRODUCTION, "Elements: " + ", ".join(f"[{kind}](#{kind})" for kind in kinds) + ".", ""]
    for kind in kinds:
        lines += section(kind, ELEMENTS[kind])
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
