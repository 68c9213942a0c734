"""The reference page of the language is the one that the table makes."""

import pathlib
import re

from mjx_like.mjcf.schema import ELEMENTS
from tools.mjcf_page import page

PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/mjcf.md"


def test_the_page_is_current():
    remedy = "run: python tools/mjcf_page.py > docs/reference/mjcf.md"
    assert PAGE.read_text() == page(), remedy


def test_every_element_and_attribute_is_on_it():
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    assert set(sections) == {kind for kind in ELEMENTS if not kind.startswith("default_")}
    for kind, text in sections.items():
        rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        assert rows == list(ELEMENTS[kind].attributes), kind


def test_links_lead_to_sections():
    text = PAGE.read_text()
    headings = set(re.findall(r"^## (\S+)$", text, re.MULTILINE))
    assert set(re.findall(r"\(#(\w+)\)", text)) <= headings


def test_some_rows_say_what_the_documents_say():
    text = PAGE.read_text()
    for line in (
        "| `type` | `free`, `ball`, `slide`, `hinge` | 1 | `hinge` |  |",
        "| `friction` | number | 1-3 | `1 0.005 0.0001` |  |",
        "| `kp` | number | 1 | `1` |  |",
        "| `size` | number | 4 | - | required |",
    ):
        assert line in text, line
