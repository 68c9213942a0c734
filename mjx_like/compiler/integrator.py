"""The variational integrator in a model file: a custom text, which MuJoCo reads and leaves alone."""

from collections.abc import Mapping
from typing import Any

from mjx_like.compiler.contact import texts_of_fields
from mjx_like.errors import ModelError, shown
from mjx_like.mjcf.canonical import node
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import IntegratorType, ObjType

TEXT = "integrator"
WORD = IntegratorType.VARIATIONAL.keyword


def integrator_of_elements(elements: list[Element]) -> dict[str, int]:
    """Return the option `integrator` that custom elements give; none without the text.

    Raises:
      ModelError: a text `integrator` that says another word, with file, line and element.
    """
    found = [e for e in elements if e.tag == "text" and e.get("name", "") == TEXT]
    if found and found[-1].get("data", "") != WORD:
        raise found[-1].error(_mistake(found[-1].get("data", "")))
    return {"integrator": int(IntegratorType.VARIATIONAL)} if found else {}


def integrator_of_fields(fields: Mapping[str, Any], names: Mapping[ObjType, tuple[str, ...]]) -> dict[str, int]:
    """Return what `integrator_of_elements` does, of the arrays of a compiled model.  Raises ModelError likewise."""
    texts = texts_of_fields(fields, names)
    if texts.get(TEXT, WORD) != WORD:
        raise ModelError(f"custom field '{TEXT}': {_mistake(texts[TEXT])}")
    return {"integrator": int(IntegratorType.VARIATIONAL)} if TEXT in texts else {}


def with_integrator_element(elements: list[Element], integrator: int) -> list[Element]:
    """Return custom elements that say whether the integrator is the variational one."""
    others = [e for e in elements if (e.tag, e.get("name", "")) != ("text", TEXT)]
    said = integrator == IntegratorType.VARIATIONAL
    return [*others, node("text", {"name": TEXT, "data": WORD})] if said else others


def _mistake(data: str) -> str:
    """Return what to do about a text that says another word."""
    words = (kind.keyword for kind in IntegratorType)
    remedy = "give it to the attribute 'integrator' of <option>" if data in words else "give your text another name"
    return f"the text '{TEXT}' chooses the integrator: {shown(data)} must be '{WORD}'; {remedy}"
