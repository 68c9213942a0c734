"""Pages of docs/: their examples run, the reference names every public function, and the navigation every page."""

import pathlib
import re

import matplotlib
import pytest

import mjx_like

ROOT = pathlib.Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


PROGRAMS = ["../README.md"]
LONG = [f"{page}.md" for page in "concepts environments hard_contact identification interop start variational".split()]


@pytest.mark.parametrize("page", [*PROGRAMS, *(pytest.param(page, marks=pytest.mark.slow) for page in LONG)])
def test_examples_run_in_their_order(page, tmp_path, monkeypatch):
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert examples
    matplotlib.use("Agg")
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    assert sorted(re.findall(r"^::: mjx_like\.(\w+)$", page, re.MULTILINE)) == sorted(mjx_like.__all__)


def test_every_page_is_in_the_navigation():
    shown = re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2], re.MULTILINE)
    assert sorted(shown) == PAGES
