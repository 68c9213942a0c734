"""The choice of contact in a model file: custom fields, which MuJoCo reads and leaves alone."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mjx_like.errors import ModelError, closest, shown
from mjx_like.mjcf.canonical import node
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType
from mjx_like.types.hard import CONTACTS

TEXT = "contact"
# Numeric field -> option of `m.opt`.
NUMERICS = {
    "contact_gap": "gap",
    "contact_slip": "slip",
    "contact_grad_gap": "grad_gap",
    "contact_recovery": "recovery",
    "contact_iterations": "contact_iterations",
    "contact_refresh": "refresh",
    "contact_restitution": "restitution",
    "contact_rebound_speed": "rebound_speed",
}
_LEAST = {"contact_iterations": 1, "contact_refresh": 0}  # of whole numbers
_SHARES = {"contact_restitution"}  # between 0 and 1
_PREFIX = TEXT + "_"

Mistake = Callable[[str, str], Exception]


def contact_of_elements(elements: list[Element]) -> dict[str, Any]:
    """Return the options of contact that custom elements give, by their names in `m.opt`; none without the text.

    Raises:
      ModelError: a text `contact` that is neither soft nor hard; beside it, a field whose name begins with `contact_`
        and is none of NUMERICS, or whose value the option cannot have. With file, line and element.
    """
    by_name = {(e.tag, e.get("name", "")): e for e in elements}
    texts = {name: e.get("data", "") for (tag, name), e in by_name.items() if tag == "text"}
    numerics = {name: _numbers(e) for (tag, name), e in by_name.items() if tag == "numeric"}

    def mistake(name: str, message: str) -> Exception:
        return by_name["text" if name in texts else "numeric", name].error(message)

    return _options(texts, numerics, mistake)


def contact_of_fields(fields: Mapping[str, Any], names: Mapping[ObjType, tuple[str, ...]]) -> dict[str, Any]:
    """Return what `contact_of_elements` does, of the arrays of a compiled model.  Raises ModelError likewise."""
    starts = zip(fields["numeric_adr"], fields["numeric_size"], strict=True)
    numbers = [np.asarray(fields["numeric_data"])[start : start + size] for start, size in starts]
    numerics = dict(zip(names[ObjType.NUMERIC], numbers, strict=True))
    texts = texts_of_fields(fields, names)
    return _options(texts, numerics, lambda name, message: ModelError(f"custom field '{name}': {message}"))


def texts_of_fields(fields: Mapping[str, Any], names: Mapping[ObjType, tuple[str, ...]]) -> dict[str, str]:
    """Return the custom texts of a compiled model by name."""
    data = bytes(np.asarray(fields["text_data"], np.uint8))
    starts = zip(fields["text_adr"], fields["text_size"], strict=True)
    texts = [data[start : start + size - 1].decode(errors="replace") for start, size in starts]
    return dict(zip(names[ObjType.TEXT], texts, strict=True))


def with_contact_elements(elements: list[Element], contact: Mapping[str, Any]) -> list[Element]:
    """Return custom elements that say these options of contact.

    contact: options by their names in `m.opt`, those that are not said missing; empty for soft contact, of which only a
      text that says otherwise is changed.
    """
    said: dict[tuple[str, str], Any] = {("text", TEXT): contact.get("contact", "soft")}
    if contact:
        said |= {("numeric", name): contact.get(option) for name, option in NUMERICS.items()}
    new = {
        key: node(key[0], {"name": key[1], "data": _data(value)}) for key, value in said.items() if value is not None
    }
    found = []
    for element in elements:
        key = (element.tag, element.get("name", ""))
        found += [new.pop(key)] if key in new else [] if key in said else [element]
    return found + (list(new.values()) if contact else [])


def _options(texts: Mapping[str, str], numerics: Mapping[str, np.ndarray], mistake: Mistake) -> dict[str, Any]:
    if TEXT not in texts:
        return {}
    kind = texts[TEXT]
    if kind not in CONTACTS:
        hint = closest(kind, CONTACTS) or "; give a text of yours that means another thing another name"
        raise mistake(TEXT, f"the text 'contact' chooses contact: {shown(kind)} must be 'soft' or 'hard'{hint}")
    for name in (n for n in (*texts, *numerics) if n.startswith(_PREFIX) and (n in texts or n not in NUMERICS)):
        kinds = "a number" if name in NUMERICS else f"no option of contact{closest(name, NUMERICS)}"
        raise mistake(name, f"beside the text 'contact' this is {kinds}; numeric fields: {', '.join(NUMERICS)}")
    return {"contact": kind} | dict(_values(numerics, mistake))


def _values(numerics: Mapping[str, np.ndarray], mistake: Mistake) -> Iterator[tuple[str, Any]]:
    for name, option in NUMERICS.items():
        if name not in numerics:
            continue
        given, least = np.ravel(numerics[name]), _LEAST.get(name)
        value = float(given[0]) if given.size == 1 else np.nan
        if name in _SHARES:
            fits, allowed = 0 <= value <= 1, "one number from 0 to 1"
        elif least is None:
            fits, allowed = value > 0, "one number above 0"
        else:
            fits, allowed = value >= least and value == int(value), f"one whole number of at least {least}"
        if not (np.isfinite(value) and fits):
            raise mistake(name, f"data is {' '.join(f'{x:g}' for x in given[:8])}, must be {allowed}")
        yield option, value if least is None else int(value)


def _numbers(element: Element) -> np.ndarray:
    """Return the numbers of a numeric element, filled up with zeros to its size."""
    given = np.ravel(np.asarray(element.get("data", ()), float))
    return np.pad(given, (0, max(0, int(element.get("size", len(given))) - len(given))))


def _data(value: Any) -> Any:
    return value if isinstance(value, str) else np.array([value], float)
