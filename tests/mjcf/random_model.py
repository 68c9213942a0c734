"""Random models that exercise default classes: every attribute of the table that a class or an element may give."""

import numpy as np

from mjx_like.mjcf.schema import ELEMENTS, Kind

# Attributes whose value must name something, or whose numbers must fit one another.
FIXED = {"name", "class", "childclass", "plugin", "instance", "file", "content_type", "gridlayout", "maxhullvert"}
TREE = ("joint", "geom", "site", "camera", "light")
SECTION = {"fixed": "tendon", "spatial": "tendon", "pair": "contact"}


def text_of(rng, row) -> str:
    """Random text for an attribute."""
    if row.kind is Kind.KEYWORD:
        return str(rng.choice(list(row.keywords)))
    if row.kind is Kind.KEYWORDS:
        words = [word for word in row.keywords if word not in row.alone]
        return " ".join(word for word in words if rng.random() < 0.5) or words[0]
    if row.kind is Kind.STRING:
        return str(rng.choice(["a", "b", "c"]))
    most = row.most if row.most is not None else 3
    count = rng.integers(max(row.least, 1), most + 1)
    if row.kind is Kind.INT:
        return " ".join(str(number) for number in rng.integers(0, 5, count))
    return " ".join(f"{number:.3g}" for number in rng.uniform(0.1, 2.0, count))


def attributes_of(rng, kind: str, share: float) -> str:
    """Random attributes of an element type that break no rule of the table."""
    row = ELEMENTS[kind]
    given = {
        name: text_of(rng, attribute)
        for name, attribute in row.attributes.items()
        if name not in FIXED and (attribute.required or rng.random() < share)
    }
    for rule in row.rules:
        if rule.relation == "exclusive":
            keep = rule.bundles[rng.integers(len(rule.bundles))]
            for bundle in rule.bundles:
                if bundle is not keep:
                    for name in bundle:
                        given.pop(name, None)
    if "input" in given:
        del given["input"]
    return " ".join(f'{name}="{value}"' for name, value in given.items())


def random_actuator(rng, tag: str, prefix: str = "") -> str:
    """Random actuator element, or one for a default class."""
    row = ELEMENTS[f"{prefix}{tag}"].attributes
    names = [name for name in row if name not in FIXED and row[name].refers is None and rng.random() < 0.3]
    for first, second in (("kv", "dampratio"), ("ctrlrange", "inheritrange"), ("actrange", "inheritrange")):
        if first in names and second in names:
            names.remove(second)
    if "posrange" in names and "inheritrange" in names:
        names.remove("inheritrange")
    given = {name: text_of(rng, row[name]) for name in names if name != "input"}
    given.pop("cranklength", None)
    if tag == "dcmotor":
        given |= {"resistance": "2", "motorconst": "1 2"}
        given.pop("thermal", None)
    written = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f"<{tag} {written}"


def random_actuators(seed: int) -> str:
    """Model with nested default classes of random actuators and one actuator of every tag."""
    rng = np.random.default_rng(seed)
    tags = ["general", *(tag for tag in ELEMENTS["actuator"].children if tag not in ("general", "plugin"))]

    def classes(depth: int) -> str:
        some = rng.choice(tags, rng.integers(0, 3), replace=False)
        inside = "".join(random_actuator(rng, tag, "default_") + "/>" for tag in some)
        return inside + (f'<default class="c{depth}">{classes(depth + 1)}</default>' if depth < 3 else "")

    defaults = f"<default>{classes(0)}</default>"
    actuators = "".join(
        random_actuator(rng, tag) + (f' class="c{rng.integers(0, 3)}"' if rng.random() < 0.7 else "") + "/>"
        for tag in tags
    )
    return f"<mujoco>{defaults}<actuator>{actuators}</actuator></mujoco>"


def random_elements(seed: int) -> str:
    """Model with nested default classes and random elements of every kind that reads one."""
    rng = np.random.default_rng(seed)
    kinds = (*TREE, "pair", "tendon", "equality", "mesh", "material")

    def classes(depth: int) -> str:
        inside = "".join(
            f"<{tag} {attributes_of(rng, f'default_{tag}', 0.3)}/>\n" for tag in kinds if rng.random() < 0.6
        )
        return inside + (f'<default class="c{depth}">{classes(depth + 1)}</default>' if depth < 3 else "")

    def element(tag: str, kind: str | None = None) -> str:
        chosen = f'class="c{rng.integers(0, 3)}"' if rng.random() < 0.4 else ""
        return f"<{tag} {chosen} {attributes_of(rng, kind or tag, 0.3)}/>\n"

    tree = "".join(element(tag) for tag in TREE)
    framed = f'<frame childclass="c1">{element("geom")}{element("site")}<body>\n{element("geom")}</body></frame>'
    body = f'<body childclass="c0">\n{tree}{framed}{tree}</body>'
    tendons = element("fixed") + element("spatial")
    defaults = f"<default>{classes(0)}</default>"
    return (
        f"<mujoco>{defaults}<worldbody>\n{body}</worldbody><contact>{element('pair')}</contact>"
        f"<tendon>{tendons}</tendon></mujoco>"
    )
