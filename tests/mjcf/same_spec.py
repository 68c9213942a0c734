"""Whether two Specs say the same: every setting and every resolved record, not the elements that lead there."""

from mjx_like.mjcf.canonical import same
from mjx_like.mjcf.spec import Spec

SETTINGS = ("modelname", "compiler", "option", "flag", "size", "statistic", "visual")
NOT_COMPARED = ("shortcut", "class", "childclass")


def resolved(spec: Spec) -> list:
    """Path and record of every element of the tree and of the sections, in order."""
    found = []

    def walk(parent, childclass, path):
        for number, child in enumerate(parent.children):
            record = spec.resolve(child, childclass)
            inner = child.get("childclass", childclass) if child.tag in ("body", "frame") else childclass
            found.append((f"{path}/{child.tag}[{number}]", record))
            walk(child, inner, f"{path}/{child.tag}[{number}]")

    walk(spec.worldbody, None, "")
    for name, elements in spec.sections.items():
        for number, element in enumerate(elements):
            tag = "actuator" if name == "actuator" and element.tag != "plugin" else element.tag
            found.append((f"{name}/{tag}[{number}]", spec.resolve(element)))
            walk(element, None, f"{name}/{tag}[{number}]")
    return found


def record_differences(path: str, first: dict, second: dict) -> list[str]:
    names = (first.keys() | second.keys()) - set(NOT_COMPARED)
    return [
        f"{path}.{name}: {first.get(name)} against {second.get(name)}"
        for name in sorted(names)
        if not alike(first.get(name), second.get(name))
    ]


def alike(first, second) -> bool:
    first, second = (None if isinstance(value, dict) and not value else value for value in (first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(alike(first[name], second[name]) for name in first)
    return type(first) is type(second) and same(first, second)


def differences(first: Spec, second: Spec) -> list[str]:
    """What differs between two Specs, in words."""
    found = [
        f"{name}: {getattr(first, name)} against {getattr(second, name)}"
        for name in SETTINGS
        if not alike(getattr(first, name), getattr(second, name))
    ]
    if first.defaults.keys() != second.defaults.keys():
        found.append("classes differ")
    for name in first.defaults.keys() & second.defaults.keys():
        for kind, record in first.defaults[name].records.items():
            found += record_differences(f"class {name}.{kind}", record, second.defaults[name].records[kind])
    mine, theirs = resolved(first), resolved(second)
    if [path for path, _ in mine] != [path for path, _ in theirs]:
        return [*found, "the elements differ"]
    for (path, record), (_, other) in zip(mine, theirs, strict=True):
        found += record_differences(path, record, other)
    return found
